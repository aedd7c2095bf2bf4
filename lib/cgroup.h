/* SPDX-License-Identifier: MIT */
#ifndef MTL_CGROUP_H
#define MTL_CGROUP_H

/*
 * Control groups, v2 and v1, as they are mounted below a root: header-only like machine.h, so that
 * both programs find them in one way and the library itself stays pure.
 *
 * They are directories, and cgroup.procs in each lists processes, unordered and with
 * repeats, those below not among them. A process of another pid namespace is a 0. In a threaded
 * group of v2 the file cannot be read; the domain above it lists the processes of all of them.
 *
 * Groups come and go while they are walked: one that has gone has no processes.
 */

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "pid_set.h"
#include "regular_file.h"

#define CGROUP_USUAL_MOUNT "/sys/fs/cgroup"
#define CGROUP_MOUNTS "/proc/mounts"

enum { CGROUP_HIERARCHIES = 3 };

/* Which hierarchies are asked first; option NULL: any. */
struct cgroup_hierarchy {
	const char *type, *option;
};

/*
 * A group has one name, whatever the slashes: "/a/b" for "a/b", "//a/./b/". -EINVAL: "" or one with
 * "..". -ENAMETOOLONG.
 */
static inline int cgroup_name(const char *text, char *ret_name, size_t size)
{
	size_t length = 0;

	if (!*text || size < sizeof("/"))
		return *text ? -ENAMETOOLONG : -EINVAL;
	for (const char *part = text; *part; part += strspn(part, "/")) {
		size_t n = strcspn(part, "/");

		if (n == 2 && strncmp(part, "..", 2) == 0)
			return -EINVAL;
		if (n > 0 && !(n == 1 && *part == '.')) {
			if (length + 1 + n >= size)
				return -ENAMETOOLONG;
			ret_name[length++] = '/';
			memcpy(ret_name + length, part, n);
			length += n;
		}
		part += n;
	}
	if (length == 0)
		ret_name[length++] = '/';
	ret_name[length] = '\0';
	return 0;
}

static inline bool cgroup_is_group(const char *path)
{
	char file[PATH_MAX];
	struct stat status;

	return snprintf(file, sizeof(file), "%s/cgroup.procs", path) < (int)sizeof(file) &&
	       stat(file, &status) == 0;
}

/* "DIR/a" and "a" are both the group a of what is mounted at DIR. */
static inline int cgroup_find_below(
        const char *root, const char *mount, const char *name, char ret_path[PATH_MAX])
{
	size_t length = strlen(mount), end;
	int n;

	if (strncmp(name, mount, length) == 0 && (name[length] == '/' || !name[length]))
		name += length;
	name += strspn(name, "/");
	for (end = strlen(name); end > 0 && name[end - 1] == '/';)
		end--;
	n = snprintf(ret_path, PATH_MAX, "%s%s%s%.*s", root ?: "", mount, end ? "/" : "", (int)end,
	        name);
	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	return cgroup_is_group(ret_path) ? 0 : -ENOENT;
}

static inline int cgroup_find_among(const char *root, const char *mounts, size_t hierarchy,
        const char *name, char ret_path[PATH_MAX])
{
	static const struct cgroup_hierarchy hierarchies[CGROUP_HIERARCHIES] = {
	        {"cgroup2", NULL}, {"cgroup", "name=systemd"}, {"cgroup", NULL}};
	FILE *file = setmntent(mounts, "re");
	struct mntent mount;
	char buffer[4096];
	int r = -ENOENT;

	if (!file)
		return -ENOENT;
	while (r == -ENOENT && getmntent_r(file, &mount, buffer, sizeof(buffer)))
		if (strcmp(mount.mnt_type, hierarchies[hierarchy].type) == 0 &&
		        (!hierarchies[hierarchy].option ||
		                hasmntopt(&mount, hierarchies[hierarchy].option)))
			r = cgroup_find_below(root, mount.mnt_dir, name, ret_path);
	endmntent(file);
	return r;
}

/*
 * The directory of a control group called by its path under a mount ("/sys/fs/cgroup/a.slice"), by
 * the path /proc/PID/cgroup has ("/a.slice"), or without the slash ("a.slice/b.service"). Where
 * several hierarchies have it: v2, then systemd's, then in the order of mounting. root NULL: /.
 * -ENOENT: there is none. -ENAMETOOLONG.
 */
static inline int cgroup_find(const char *root, const char *name, char ret_path[PATH_MAX])
{
	char mounts[PATH_MAX];
	int r = -ENOENT;

	if (snprintf(mounts, sizeof(mounts), "%s" CGROUP_MOUNTS, root ?: "") >= (int)sizeof(mounts))
		return -ENAMETOOLONG;
	for (size_t i = 0; r == -ENOENT && i < CGROUP_HIERARCHIES; i++)
		r = cgroup_find_among(root, mounts, i, name, ret_path);
	return r == -ENOENT ? cgroup_find_below(root, CGROUP_USUAL_MOUNT, name, ret_path) : r;
}

/* Those of one directory. */
static inline int cgroup_add_processes(const char *path, struct pid_set *set, size_t *hidden)
{
	_cleanup_fclose_ FILE *file = NULL;
	char name[PATH_MAX];
	int pid, r = 0;

	if (snprintf(name, sizeof(name), "%s/cgroup.procs", path) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	file = regular_file_open(name);
	if (!file)
		return -errno;
	while (r == 0 && fscanf(file, "%d", &pid) == 1) {
		if (pid > 0)
			r = pid_set_add(set, pid);
		else
			++*hidden;
	}
	return r == 0 && ferror(file) ? -errno : r;
}

static inline bool cgroup_has_gone(int r)
{
	return r == -ENOENT || r == -ENODEV;
}

static inline int cgroup_walk(FTS *tree, struct pid_set *set, size_t *hidden)
{
	int r = 0;

	for (FTSENT *entry; r == 0 && (entry = fts_read(tree));) {
		bool below = entry->fts_level > FTS_ROOTLEVEL;

		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			r = -entry->fts_errno;
		else if (entry->fts_info == FTS_D)
			r = cgroup_add_processes(entry->fts_path, set, hidden);
		if (cgroup_has_gone(r) || (below && r == -EOPNOTSUPP))
			r = 0;
	}
	return r;
}

/*
 * All processes in it and below it; ret_hidden: how many of them are not of this pid namespace.
 * -EOPNOTSUPP: it is threaded, so that processes are its domain's; -ENOMEM, or what reading said.
 */
static inline int cgroup_processes(const char *path, struct pid_set *ret_set, size_t *ret_hidden)
{
	_cleanup_(pid_set_done) struct pid_set set = {0};
	char *const roots[] = {(char *)path, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	size_t hidden = 0;
	int r;

	if (!tree)
		return -errno;
	r = cgroup_walk(tree, &set, &hidden);
	fts_close(tree);
	if (r < 0)
		return r;
	pid_set_sort(&set);
	*ret_set = set;
	*ret_hidden = hidden;
	set = (struct pid_set){0};
	return 0;
}

#endif

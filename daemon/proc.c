// SPDX-License-Identifier: MIT
/*
 * Parsers of /proc and /sys. Each has a sample of what it parses above it.
 */
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "machine.h"

static int open_of(const char *root, pid_t pid, const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/proc/%d/%s", root, pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

FILE *proc_file(const char *root, pid_t pid, const char *name)
{
	int fd = open_of(root, pid, name);
	FILE *file;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	file = fdopen(fd, "re");
	if (!file)
		close(fd);
	return file;
}

static bool is_dead(char state)
{
	return state == 'Z' || state == 'X';
}

/* What a line of status has of a name: in it a line end is written \\n, a backslash twice, and
 * nothing else (proc_task_name() of the kernel). */
static void unescape_name(const char *line, char *ret_name, size_t size)
{
	size_t n = 0;

	for (; *line && *line != '\n' && n + 1 < size; line++) {
		bool escaped = line[0] == '\\' && (line[1] == '\\' || line[1] == 'n');

		line += escaped;
		ret_name[n++] = escaped && *line == 'n' ? '\n' : *line;
	}
	ret_name[n] = '\0';
}

/*
 * Name:	bzip2                (see above)
 * State:	R (running)
 * TracerPid:	0
 * Threads:	1                    (those that are zombies too)
 * Uid:	0	1000	0	0
 * VmSize:	    8452 kB          (absent for kernel threads and zombies)
 */
int proc_status(const char *root, pid_t pid, struct proc_status *ret_status)
{
	_cleanup_fclose_ FILE *file = proc_file(root, pid, "status");
	struct proc_status status = {.kernel_thread = true, .uid = (uid_t)-1};
	char line[256], state = 0;
	unsigned threads = 1;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		unsigned uid, tracer;

		if (sscanf(line, "Uid: %*u %u", &uid) == 1)
			status.uid = uid;
		else if (sscanf(line, "TracerPid: %u", &tracer) == 1)
			status.tracer = tracer;
		else if (!strncmp(line, "Name:\t", 6))
			unescape_name(line + 6, status.comm, sizeof(status.comm));
		else if (!strncmp(line, "VmSize:", 7))
			status.kernel_thread = false;
		else if (sscanf(line, "Threads: %u", &threads) != 1)
			sscanf(line, "State: %c", &state);
	}
	if (ferror(file) || !state || status.uid == (uid_t)-1)
		return -ESRCH;
	if (is_dead(state)) {
		status.zombie = threads <= 1;
		status.kernel_thread = false;
	}
	*ret_status = status;
	return 0;
}

int proc_threads(const char *root, pid_t pid, pid_t **ret_tids, unsigned *ret_n)
{
	char path[PATH_MAX];
	_cleanup_closedir_ DIR *directory = NULL;
	_cleanup_free_ pid_t *tids = NULL;
	unsigned n = 0, allocated = 0;
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/proc/%d/task", root, pid);
	directory = opendir(path);
	if (!directory)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((entry = readdir(directory))) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		if (n == allocated) {
			allocated = allocated ? allocated * 2 : 16;
			pid_t *larger = realloc(tids, allocated * sizeof(*tids));

			if (!larger)
				return -ENOMEM;
			tids = larger;
		}
		tids[n++] = tid;
	}
	if (n == 0)
		return -ESRCH;
	*ret_tids = TAKE_PTR(tids);
	*ret_n = n;
	return 0;
}

/* 1234 (a) b) S 1 ... : state is the first word behind the last parenthesis, the start the
 * twentieth */
static int read_stat(const char *root, pid_t pid, char *ret_state, uint64_t *ret_ticks)
{
	_cleanup_fclose_ FILE *file = proc_file(root, pid, "stat");
	char text[1024];
	const char *rest;
	size_t length;

	if (!file)
		return -errno;
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 1,
	                     " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
	                     "%*d %*d %lu",
	                     ret_state, ret_ticks) != 2)
		return -ESRCH;
	return 0;
}

int proc_start_ticks(const char *root, pid_t pid, uint64_t *ret_ticks)
{
	char state;

	return read_stat(root, pid, &state, ret_ticks);
}

int proc_living_thread(const char *root, pid_t pid, pid_t *ret_tid)
{
	_cleanup_free_ pid_t *tids = NULL;
	uint64_t ticks;
	unsigned n;
	char state;
	int r = read_stat(root, pid, &state, &ticks);

	if (r == 0 && !is_dead(state)) {
		*ret_tid = pid;
		return 0;
	}
	r = proc_threads(root, pid, &tids, &n);
	for (unsigned i = 0; r == 0 && i < n; i++)
		if (read_stat(root, tids[i], &state, &ticks) == 0 && !is_dead(state)) {
			*ret_tid = tids[i];
			return 0;
		}
	return -ESRCH;
}

/* 4425 1066 831 9 0 364 0        (pages: size, resident, shared, ...) */
int proc_resident(const char *root, pid_t pid, double *ret_bytes)
{
	_cleanup_fclose_ FILE *file = proc_file(root, pid, "statm");
	unsigned long pages;

	if (!file)
		return -errno;
	if (fscanf(file, "%*u %lu", &pages) != 1)
		return -ESRCH;
	*ret_bytes = (double)pages * sysconf(_SC_PAGESIZE);
	return 0;
}

/* 7f1c3e200000-7f1c3e222000 r--p 00000000 fe:00 1835040      /usr/lib/x86_64-linux-gnu/libc.so.6 */
int proc_mappings(const char *root, pid_t pid,
        int (*each)(void *userdata, const struct proc_mapping *mapping), void *userdata)
{
	_cleanup_fclose_ FILE *file = proc_file(root, pid, "maps");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	int r = 0;

	if (!file)
		return -errno;
	while (r == 0 && getline(&line, &size, file) > 0) {
		struct proc_mapping mapping = {0};

		if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %63[^\n]", &mapping.start, &mapping.end,
		            mapping.permissions, mapping.name) >= 3)
			r = each(userdata, &mapping);
	}
	return r == 0 && ferror(file) ? -ESRCH : r;
}

int proc_open_pagemap(const char *root, pid_t pid)
{
	return open_of(root, pid, "pagemap");
}

double proc_cache_bytes(const char *root, unsigned level, const char **ret_source)
{
	struct cache_geometry geometry = {0};
	const struct cache_level *found = machine_caches(root, &geometry) == 0
	                                          ? cache_geometry_level(&geometry, level)
	                                          : NULL;

	if (ret_source)
		*ret_source = cache_source_name(found ? geometry.source : CACHE_FROM_NOTHING);
	return found ? found->size_bytes : 0;
}

int proc_paranoid(const char *root)
{
	char path[PATH_MAX], text[32];
	int level = INT32_MAX;

	snprintf(path, sizeof(path), "%s/proc/sys/kernel/perf_event_paranoid", root);
	if (machine_line(path, text, sizeof(text)))
		sscanf(text, "%d", &level);
	return level;
}

/* SPDX-License-Identifier: MIT */
/*
 * The machine of fake_resctrl.c as a FUSE file system. A directory holds whichever known words lead
 * from it to something. Nothing is cached; what is read is made up when it is read.
 *
 * It is served by the test program executed anew, so that valgrind, which is watching the test,
 * leaves it alone.
 */

#define FUSE_USE_VERSION 31
#include <fuse3/fuse.h>

#include "fake_resctrl_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- what files say */

static void show_info(const struct spot *spot, char *text)
{
	const struct fake_resource *resource = &fake->resources[spot->number];
	const struct {
		const char *name, *format;
		unsigned value;
	} lines[] = {{"cbm_mask", "%x\n", resource->mask},
	        {"min_cbm_bits", "%u\n", resource->min_bits},
	        {"shareable_bits", "%x\n", resource->shareable},
	        {"num_closids", "%u\n", resource->num_closids},
	        {"sparse_masks", "%u\n", resource->sparse}};

	if (!strcmp(spot->last_word, "bit_usage"))
		fake_bit_usage_show(spot->number, text);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (!strcmp(spot->last_word, lines[i].name))
			sprintf(text, lines[i].format, lines[i].value);
}

static void show_task_groups(const struct spot *spot, char *text)
{
	struct fake_task *task = fake_task(spot->number);

	sprintf(text, "res:%s\nmon:%s\n", task->group ? fake->groups[task->group].name : "/",
	        task->monitor >= 0 ? fake->groups[task->monitor].name : "");
}

static void show_tasks(const struct spot *spot, char *text)
{
	*text = '\0';
	for (int i = 0; i < FAKE_TASKS; i++) {
		const struct fake_task *task = &fake->tasks[i];

		if (task->tid && (task->group == spot->group || task->monitor == spot->group))
			sprintf(text + strlen(text), "%d\n", task->tid);
	}
}

static void show_cpu(const struct spot *spot, char *text)
{
	int cpu = spot->number / 10, level = 2 + spot->number % 10, domain = cpu / 2;

	if (!strcmp(spot->last_word, "level"))
		sprintf(text, "%d\n", level);
	else if (!strcmp(spot->last_word, "id"))
		sprintf(text, "%d\n", fake->resources[0].ids[domain]);
	else
		sprintf(text, "%d-%d\n", 2 * domain, 2 * domain + 1);
}

static void show_counter(const struct spot *spot, char *text)
{
	int number = 1000 * spot->group + 100 * spot->number + (int)strlen(spot->last_word);

	if (fake->growth && strcmp(spot->last_word, "mbm_total_bytes") == 0)
		number += 1000000 + fake->growth * ++fake->readings;
	if (*fake->counter)
		sprintf(text, "%s\n", fake->counter);
	else
		sprintf(text, "%d\n", number);
}

static void show(const struct spot *spot, char *text)
{
	*text = '\0';
	switch (spot->what) {
	case SCHEMATA:
	case SIZE:
		return fake_schemata_show(spot->group, spot->what == SIZE, text);
	case MODE:
		sprintf(text, "%s\n",
		        fake->groups[spot->group].exclusive ? "exclusive" : "shareable");
		return;
	case TASKS:
		return show_tasks(spot, text);
	case STATUS:
		strcpy(text, *fake->status ? fake->status : "ok\n");
		return;
	case INFO:
		return show_info(spot, text);
	case COUNTER:
		return show_counter(spot, text);
	case FILESYSTEMS:
		sprintf(text, "nodev\ttmpfs\n%s\text4\n", fake->absent ? "" : "nodev\tresctrl\n");
		return;
	case TASK_GROUPS:
		return show_task_groups(spot, text);
	case TASK_STATUS:
		sprintf(text, "Name:\tx\nTgid:\t%d\n", fake_task(spot->number)->pid);
		return;
	case CPU_CACHE:
		return show_cpu(spot, text);
	default:
		return;
	}
}

/* --- changes */

/* Counts a change; true: its author has been killed and it does not happen. */
static bool cut_off(void)
{
	if (++fake->changes != fake->crash_at)
		return false;
	kill(fuse_get_context()->pid, SIGKILL);
	return true;
}

/* Something of resctrl changes: it has to be on disk how to undo it. */
static void be_careful(void)
{
	bool any_file = false, dirty = false;

	for (int i = 0; i < FAKE_FILES; i++) {
		any_file |= fake->files[i].there && !fake->files[i].directory;
		dirty |= fake->files[i].there && fake->files[i].dirty;
	}
	fake->rash += dirty || !any_file;
}

static int write_run(int number, const char *data, size_t size, off_t offset)
{
	struct fake_file *file = &fake->files[number];

	if ((size_t)offset + size > sizeof(file->data))
		return -ENOSPC;
	memcpy(file->data + offset, data, size);
	if ((size_t)offset + size > file->size)
		file->size = (unsigned)offset + (unsigned)size;
	file->dirty = true;
	return 0;
}

static int do_write(
        const char *path, const char *data, size_t size, off_t offset, struct fuse_file_info *info)
{
	struct spot spot = fake_locate(path);
	int r = -EACCES;

	(void)info;
	if (cut_off())
		return -EIO;
	if (spot.what == RUN_FILE)
		r = write_run(spot.number, data, size, offset);
	else
		be_careful();
	if (spot.what == SCHEMATA)
		r = fake_schemata_write(spot.group, data, (unsigned)size);
	else if (spot.what == TASKS)
		r = fake_tasks_write(spot.group, data, (unsigned)size);
	else if (spot.what == MODE)
		r = fake_mode_write(spot.group, data, (unsigned)size);
	return r < 0 ? r : (int)size;
}

static int add_run(const char *path, bool directory)
{
	for (int i = 0; i < FAKE_FILES; i++)
		if (!fake->files[i].there) {
			fake->files[i] = (struct fake_file){
			        .there = true, .directory = directory, .dirty = !directory};
			snprintf(fake->files[i].path, sizeof(fake->files[i].path), "%s", path);
			return 0;
		}
	return -ENOSPC;
}

static struct spot locate_parent(const char *path)
{
	char parent[512];

	snprintf(parent, sizeof(parent), "%s", path);
	*strrchr(parent, '/') = '\0';
	return fake_locate(parent);
}

static int do_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
	(void)mode;
	if (locate_parent(path).what != RUN_DIRECTORY)
		return -EACCES;
	if (cut_off())
		return -EIO;
	info->direct_io = 1;
	return add_run(path, false);
}

static int do_mkdir(const char *path, mode_t mode)
{
	struct spot parent = locate_parent(path);

	(void)mode;
	if (cut_off())
		return -EIO;
	if (parent.what == RUN_DIRECTORY)
		return add_run(path, true);
	if (!parent.groups_go_here)
		return -EPERM;
	be_careful();
	return fake_mkdir(parent.parent, strrchr(path, '/') + 1);
}

static int do_rmdir(const char *path)
{
	struct spot spot = fake_locate(path);

	if (cut_off())
		return -EIO;
	if (spot.what != DIRECTORY || spot.group == 0)
		return -EPERM;
	return fake_rmdir(spot.group);
}

static int do_unlink(const char *path)
{
	struct spot spot = fake_locate(path);

	if (cut_off())
		return -EIO;
	if (spot.what != RUN_FILE)
		return -EPERM;
	fake->files[spot.number].there = false;
	return 0;
}

static int do_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
	struct spot spot = fake_locate(path);

	(void)info;
	if (spot.what == RUN_FILE && !cut_off())
		fake->files[spot.number].size = (unsigned)size;
	return 0;
}

static int do_fsync(const char *path, int only_data, struct fuse_file_info *info)
{
	struct spot spot = fake_locate(path);

	(void)only_data;
	(void)info;
	if (spot.what == RUN_FILE)
		fake->files[spot.number].dirty = false;
	return 0;
}

/* --- looking */

static int do_getattr(const char *path, struct stat *status, struct fuse_file_info *info)
{
	struct spot spot = fake_locate(path);
	bool directory = spot.what == DIRECTORY || spot.what == RUN_DIRECTORY;

	(void)info;
	if (spot.what == ABSENT)
		return -ENOENT;
	memset(status, 0, sizeof(*status));
	status->st_mode = directory ? S_IFDIR | 0755 : S_IFREG | 0644;
	status->st_nlink = 1;
	status->st_size = spot.what == RUN_FILE ? fake->files[spot.number].size : 0;
	return 0;
}

static int do_open(const char *path, struct fuse_file_info *info)
{
	if (fake_locate(path).what == ABSENT)
		return -ENOENT;
	if (fake->closed && (info->flags & O_ACCMODE) != O_RDONLY)
		return -EACCES;
	info->direct_io = 1;
	return 0;
}

static int do_read(
        const char *path, char *data, size_t size, off_t offset, struct fuse_file_info *info)
{
	static char text[8192];
	struct spot spot = fake_locate(path);
	size_t length;

	(void)info;
	if (spot.what == RUN_FILE) {
		length = fake->files[spot.number].size;
		memcpy(text, fake->files[spot.number].data, length);
	} else {
		show(&spot, text);
		length = strlen(text);
	}
	if ((size_t)offset >= length)
		return 0;
	size = size < length - (size_t)offset ? size : length - (size_t)offset;
	memcpy(data, text + offset, size);
	return (int)size;
}

struct listing {
	const char *path;
	void *buffer;
	fuse_fill_dir_t fill;
};

static void try(const struct listing *listing, const char *word)
{
	char path[512];

	snprintf(
	        path, sizeof(path), "%s/%s", strcmp(listing->path, "/") ? listing->path : "", word);
	if (fake_locate(path).what != ABSENT)
		listing->fill(listing->buffer, word, NULL, 0, 0);
}

static void try_number(const struct listing *listing, const char *format, int number)
{
	char word[32];

	snprintf(word, sizeof(word), format, number);
	try(listing, word);
}

static int do_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
        struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	static const char *const words[] = {"sys", "fs", "resctrl", "devices", "system", "cpu",
	        "proc", "run", "info", "schemata", "size", "mode", "tasks", "mon_data",
	        "mon_groups", "cache", "index0", "index1", "L3_MON", "task"};
	struct listing listing = {path, buffer, fill};

	(void)offset;
	(void)info;
	(void)flags;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		try(&listing, words[i]);
	for (int i = 1; i < FAKE_GROUPS; i++)
		if (fake->groups[i].there)
			try(&listing, fake->groups[i].name);
	for (int i = 0; i < FAKE_TASKS; i++)
		if (fake->tasks[i].tid)
			try_number(&listing, "%d", fake->tasks[i].tid);
	for (int d = 0; d < fake->resources[0].n_domains; d++)
		try_number(&listing, "mon_L3_%02d", fake->resources[0].ids[d]);
	for (int cpu = 0; cpu < 2 * fake->resources[0].n_domains; cpu++)
		try_number(&listing, "cpu%d", cpu);
	return 0;
}

static void *do_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)connection;
	config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
	config->direct_io = 1;
	config->hard_remove = 1;
	return NULL;
}

static const struct fuse_operations operations = {
        .init = do_init,
        .getattr = do_getattr,
        .readdir = do_readdir,
        .open = do_open,
        .read = do_read,
        .write = do_write,
        .truncate = do_truncate,
        .create = do_create,
        .unlink = do_unlink,
        .mkdir = do_mkdir,
        .rmdir = do_rmdir,
        .fsync = do_fsync,
        .fsyncdir = do_fsync,
};

/* --- the server */

#define SERVE "--serve-fake-resctrl"

char fake_mount[64];
static pid_t server;

static void write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
}

/* Where mounting is nobody else's business: it ends with this process, whatever happens to it. */
static bool own_mounts(void)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0)
		return false;
	if (uid) {
		write_map("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %u 1", uid);
		write_map("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "0 %u 1", gid);
		write_map("/proc/self/gid_map", map);
	}
	return mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0;
}

static struct fake_machine *map_machine(int fd)
{
	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return fake == MAP_FAILED ? NULL : fake;
}

/* One byte goes to standard output once it is mounted; standard input is the machine. */
void fake_resctrl_serve(int argc, char **argv)
{
	struct fuse_args arguments = FUSE_ARGS_INIT(1, argv);
	struct fuse *fuse;

	if (argc != 3 || strcmp(argv[1], SERVE) != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fuse = map_machine(STDIN_FILENO)
	               ? fuse_new(&arguments, &operations, sizeof(operations), NULL)
	               : NULL;
	if (!fuse || fuse_mount(fuse, argv[2]) < 0 || write(STDOUT_FILENO, "", 1) != 1)
		_exit(1);
	_exit(fuse_loop(fuse));
}

/* Of /proc/self/exe the name, which valgrind keeps right for readlink() only. */
static void execute_server(int machine, int ready)
{
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0 && dup2(machine, STDIN_FILENO) >= 0 && dup2(ready, STDOUT_FILENO) >= 0) {
		self[n] = '\0';
		execl(self, self, SERVE, fake_mount, NULL);
	}
	_exit(1);
}

static bool start_server(int machine)
{
	int ready[2];
	char byte;
	bool started;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return false;
	server = fork();
	if (server == 0)
		execute_server(machine, ready[1]);
	close(ready[1]);
	started = server > 0 && read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	return started;
}

bool fake_resctrl_start(const char **ret_reason)
{
	int machine = memfd_create("machine", MFD_CLOEXEC);
	bool started = false;

	*ret_reason = "no /dev/fuse";
	if (machine < 0 || ftruncate(machine, sizeof(*fake)) < 0 || !map_machine(machine) ||
	        access("/dev/fuse", R_OK | W_OK) < 0)
		return false;
	*ret_reason = "no mount namespace of one's own";
	if (!own_mounts())
		return false;
	snprintf(fake_mount, sizeof(fake_mount), "/tmp/mtl-fake-resctrl-XXXXXX");
	*ret_reason = "FUSE cannot be mounted";
	started = mkdtemp(fake_mount) && start_server(machine);
	close(machine);
	return started;
}

void fake_resctrl_stop(void)
{
	if (server > 0) {
		umount2(fake_mount, MNT_DETACH);
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	if (*fake_mount)
		rmdir(fake_mount);
	munmap(fake, sizeof(*fake));
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_FAKE_RESCTRL_H
#define MTL_TEST_FAKE_RESCTRL_H

/*
 * A machine with resctrl that is not there: a FUSE file system with /sys/fs/resctrl, /proc of some
 * tasks, the caches of /sys/devices/system/cpu and an ordinary /run, served by a process of its own
 * from memory that the test sees too.
 *
 * It makes the checks that Linux makes (fs/resctrl, 6.12), in its order, with its words in
 * info/last_cmd_status. Every change (write, mkdir, rmdir, create, unlink, truncate) is counted,
 * and before the one with number crash_at its author is killed, whose work so far remains. Changes
 * of resctrl while a file below /run has not been synced are counted as rash.
 */

#include <stdbool.h>
#include <stdint.h>

#define FAKE_RESOURCES 5
#define FAKE_DOMAINS 4
#define FAKE_GROUPS 24
#define FAKE_TASKS 24
#define FAKE_FILES 4

enum fake_kind { FAKE_CACHE, FAKE_CODE, FAKE_DATA, FAKE_BANDWIDTH };

struct fake_resource {
	char name[8];
	enum fake_kind kind;
	int level;
	uint32_t mask, shareable;
	unsigned min_bits, num_closids;
	bool sparse, tells_sparse;
	int n_domains, ids[FAKE_DOMAINS];
	unsigned bytes_per_bit;
};

struct fake_group {
	bool there;
	char name[72];
	int parent; /* of a monitoring group, else -1 */
	bool exclusive;
	uint32_t values[FAKE_RESOURCES][FAKE_DOMAINS];
};

struct fake_task {
	int tid, pid; /* tid 0: none, or ended */
	int uid;
	int group, monitor; /* monitor: -1 none */
};

struct fake_file {
	bool there, directory, dirty;
	char path[64];
	char data[8192];
	unsigned size;
};

struct fake_machine {
	/* what kind of machine */
	bool absent, unmounted, monitoring;
	struct fake_resource resources[FAKE_RESOURCES];
	int n_resources;
	uint32_t paired; /* bits that hardware gives out only together */

	/* what happens to whom uses it */
	int uid;                /* of the program under test, for tasks of others */
	bool closed;            /* to that program: EACCES */
	int rmid_error;         /* of the next mkdir: EBUSY (limbo), ENOSPC */
	int ends_at, ending;    /* at the ends_at-th write to a tasks file, task ending ends */
	int starts_at, forking; /* likewise, task forking starts a thread */
	int crash_at;           /* 0: never */
	char counter[16];       /* what counters say; nothing: numbers */
	int growth;             /* of counts of bytes, each time that one of them is read */

	/* what it is like now */
	struct fake_group groups[FAKE_GROUPS]; /* the first is the default one */
	struct fake_task tasks[FAKE_TASKS];
	struct fake_file files[FAKE_FILES];
	char status[512];
	int changes, task_writes, rash, next_tid, readings;
};

/* In memory shared with the server. */
extern struct fake_machine *fake;
extern char fake_mount[64];

/* main() begins with this: does not return where the program has been started as the server. */
void fake_resctrl_serve(int argc, char **argv);

/* Mounts it, in a mount namespace of this process's own. false: no FUSE here, with the reason. */
bool fake_resctrl_start(const char **ret_reason);
void fake_resctrl_stop(void);

/*
 * A machine of one L3 resource (n bits, ids 0 and 1) with tasks 100, 101, 102 of process 100 and
 * 200 of process 200. Once its resources are as they shall be, the default group gets all of them.
 */
void fake_machine_new(unsigned bits, unsigned min_bits, bool sparse);
struct fake_resource *fake_resource_add(const char *name, enum fake_kind kind, int level);
void fake_machine_ready(void);
int fake_group_add(const char *name, int parent);
void fake_task_add(int tid, int pid, int uid, int group, int monitor);
struct fake_task *fake_task(int tid);

/* The kernel's half: 0 or negative errno; status changes as there. */
int fake_schemata_write(int group, const char *text, unsigned size);
int fake_tasks_write(int group, const char *text, unsigned size);
int fake_mode_write(int group, const char *text, unsigned size);
int fake_mkdir(int parent, const char *name);
int fake_rmdir(int group);
int fake_group_find(const char *name, int parent);
void fake_schemata_show(int group, bool sizes, char *ret_text);
void fake_bit_usage_show(int resource, char *ret_text);

#endif

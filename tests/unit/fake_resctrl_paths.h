/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_FAKE_RESCTRL_PATHS_H
#define MTL_TEST_FAKE_RESCTRL_PATHS_H

#include "fake_resctrl.h"

enum what {
	ABSENT,
	DIRECTORY,
	RUN_DIRECTORY,
	RUN_FILE,
	SCHEMATA,
	SIZE,
	MODE,
	TASKS,
	STATUS,
	INFO,
	COUNTER,
	FILESYSTEMS,
	TASK_GROUPS,
	TASK_STATUS,
	CPU_CACHE,
};

struct spot {
	enum what what;
	int group;             /* whose directory, or file */
	bool groups_go_here;   /* directory below which mkdir makes groups */
	int parent;            /* of these */
	int number;            /* resource, task, cpu, run file */
	const char *last_word; /* of the path */
};

/* The last word is valid until the next call. */
struct spot fake_locate(const char *path);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_RESCTRL_JOURNAL_H
#define MTL_CLI_RESCTRL_JOURNAL_H

/* What there is to undo of a partition, on disk before it is done. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cleanup.h"
#include "resctrl_session.h"

/* A task and the group it was in: "", "A", "A/mon_groups/m". */
struct resctrl_former {
	int tid, pid;
	char *group;
};

struct resctrl_journal {
	char **groups; /* ours */
	size_t n_groups;
	struct resctrl_former *formers; /* a later one of the same task counts */
	size_t n_formers;
	size_t written_groups, written_formers; /* that are on disk */
	int fd;
	off_t end;
};

/* 0, or -ENOENT when there is none. An incomplete last line is not there. */
int resctrl_journal_read(struct resctrl_session *session, struct resctrl_journal *ret_journal);

bool resctrl_journal_there(struct resctrl_session *session);

/* Further lines, in memory; -ENOMEM with a sentence. */
int resctrl_journal_group(
        struct resctrl_session *session, struct resctrl_journal *journal, const char *group);
int resctrl_journal_task(struct resctrl_session *session, struct resctrl_journal *journal, int tid,
        int pid, const char *group);

/* What has been added goes to disk, file and directory synced; the first time it makes the file. */
int resctrl_journal_sync(struct resctrl_session *session, struct resctrl_journal *journal);

/* Nothing to undo any more. */
int resctrl_journal_remove(struct resctrl_session *session);

/* The last entry of the task, else of its process, else NULL. */
const char *resctrl_journal_former(const struct resctrl_journal *journal, int tid, int pid);

void resctrl_journal_done(struct resctrl_journal *journal);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_RESCTRL_TASKS_H
#define MTL_CLI_RESCTRL_TASKS_H

/* Threads and the groups they are in. Whatever changes that is under the lock. */

#include "resctrl_journal.h"

/*
 * Those threads of the plan's processes that are not in their group: _note() writes into the
 * journal where they are, _move() does that and moves them, again and again until there are none.
 */
int resctrl_tasks_note(struct resctrl_session *session, struct resctrl_journal *journal,
        const struct resctrl_plan *plan);
int resctrl_tasks_move(struct resctrl_session *session, struct resctrl_journal *journal,
        const struct resctrl_plan *plan);

/* "", "A" or "A/mon_groups/m". -ESRCH without a sentence: the thread has ended. */
int resctrl_group_of(
        struct resctrl_session *session, int pid, int tid, char ret_group[RESCTRL_PATH]);

/* The process of a thread; 0: that cannot be found, for it has ended. */
int resctrl_process_of(struct resctrl_session *session, int tid);

/* It is that group, or a monitoring group of it. */
bool resctrl_is_within(const char *path, const char *group);

/* One thread into a group; what the kernel says to it. */
int resctrl_move_task(struct resctrl_session *session, const char *group, int tid);

/* Threads that are in this group of ours go to where the journal knows them or their process from.
 */
int resctrl_tasks_return(
        struct resctrl_session *session, const struct resctrl_journal *journal, const char *group);

/* Threads back in their control group whose return to its monitoring group was cut off. */
void resctrl_tasks_rejoin(struct resctrl_session *session, const struct resctrl_journal *journal);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Tasks on their way back to the groups they were in.
 *
 * Who is in a group of ours now is moved, so a number that has become another task's since is left
 * alone; who was born there goes where its process was from. A monitoring group takes only tasks of
 * its control group, so its own go there first. Should it all stop in between, they are found there
 * the next time.
 */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "resctrl_tasks.h"

#define PASSES 100 /* over tasks that keep starting others */

/* The control group of "A/mon_groups/m": "A". true: it is a monitoring group. */
static bool control_group(const char *group, char *ret_control)
{
	char *monitor;

	snprintf(ret_control, RESCTRL_PATH, "%s", group);
	monitor = strstr(ret_control, "mon_groups/");
	if (monitor)
		monitor[monitor > ret_control ? -1 : 0] = '\0';
	return monitor != NULL;
}

/* Into a monitoring group by way of its control group. false: it stays where it is. */
static bool return_thread(struct resctrl_session *session, int tid, const char *former)
{
	char control[RESCTRL_PATH];
	bool monitored = control_group(former, control);
	int r = resctrl_move_task(session, control, tid);

	if (r == 0 && session->report)
		session->report->moved++;
	if (r == 0 && monitored)
		r = resctrl_move_task(session, former, tid);
	if (r < 0 && r != -ESRCH)
		resctrl_note(session, "task %d cannot return to group \"%s\": %s", tid, former,
		        strerror(-r));
	return r == 0;
}

void resctrl_tasks_rejoin(struct resctrl_session *session, const struct resctrl_journal *journal)
{
	for (size_t i = 0; i < journal->n_formers; i++) {
		const struct resctrl_former *former = &journal->formers[i];
		char control[RESCTRL_PATH], group[RESCTRL_PATH];

		if (control_group(former->group, control) &&
		        former->group ==
		                resctrl_journal_former(journal, former->tid, former->pid) &&
		        resctrl_group_of(session, former->pid, former->tid, group) == 0 &&
		        !strcmp(group, control))
			resctrl_move_task(session, former->group, former->tid);
	}
}

int resctrl_tasks_return(
        struct resctrl_session *session, const struct resctrl_journal *journal, const char *group)
{
	char path[RESCTRL_PATH];
	bool again = true;

	for (int i = 0; again && i < PASSES; i++) {
		_cleanup_free_ char *text = NULL;
		int r = resctrl_read(session->fd, resctrl_file(group, "tasks", path), &text);

		if (r < 0)
			return r == -ENOENT ? 0
			                    : resctrl_fail(session, r, "cannot read %s: %s", path,
			                              strerror(-r));
		again = false;
		for (char *end, *at = text; isdigit((unsigned char)*at);
		        at = end + (*end == '\n')) {
			int tid = (int)strtol(at, &end, 10);
			int pid = resctrl_process_of(session, tid) ?: tid;
			const char *former = resctrl_journal_former(journal, tid, pid);

			/* Whoever was in the default group gets there when ours is removed. */
			if (former && *former)
				again |= return_thread(session, tid, former);
		}
	}
	return 0;
}

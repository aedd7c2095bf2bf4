/* SPDX-License-Identifier: MIT */
/*
 * The way back, from wherever a partition has come to.
 *
 * For each group of the journal that is there: its threads to where they were, then rmdir, with
 * which the kernel puts those that are left into the default group. The journal goes last. Each
 * step may be done again, so this may itself be cut off anywhere and repeated.
 */

#include "resctrl_revert.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "resctrl_journal.h"
#include "resctrl_tasks.h"

static int remove_group(struct resctrl_session *session, const char *group)
{
	if (unlinkat(session->fd, group, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return resctrl_refused(session, -errno, "remove the group %s", group);
	return 0;
}

static int undo_journal(struct resctrl_session *session, const struct resctrl_journal *journal)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < journal->n_groups; i++) {
		r = resctrl_tasks_return(session, journal, journal->groups[i]);
		r = r < 0 ? r : remove_group(session, journal->groups[i]);
	}
	if (r == 0)
		resctrl_tasks_rejoin(session, journal);
	return r;
}

static int collect(struct resctrl_session *session, const char *name, void *data)
{
	if (strncmp(name, RESCTRL_PREFIX, strlen(RESCTRL_PREFIX)) != 0)
		return 0;
	return resctrl_journal_group(session, data, name);
}

/* Groups with our prefix that no journal tells of. */
static int undo_forgotten(struct resctrl_session *session)
{
	_cleanup_(resctrl_journal_done) struct resctrl_journal found = {.fd = -1};
	int r = resctrl_each_group(session, collect, &found);

	for (size_t i = 0; r == 0 && i < found.n_groups; i++) {
		r = remove_group(session, found.groups[i]);
		if (r == 0)
			resctrl_note(session,
			        "removed %s, which no journal tells of: its tasks are in the "
			        "default "
			        "group",
			        found.groups[i]);
	}
	return r;
}

int resctrl_undo(struct resctrl_session *session)
{
	_cleanup_(resctrl_journal_done) struct resctrl_journal journal = {.fd = -1};
	int r = resctrl_journal_read(session, &journal);

	if (r == -ENOENT)
		return 0;
	r = r < 0 ? r : undo_journal(session, &journal);
	return r < 0 ? r : resctrl_journal_remove(session);
}

int resctrl_revert(const struct resctrl_place *place, struct resctrl_report *ret_report,
        char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_session_done) struct resctrl_session session;
	struct resctrl_report report = {0};
	int r = resctrl_session_begin(&session, place, true, ret_error, error_size);

	session.report = &report;
	if (r == 0)
		r = resctrl_journal_there(&session) ? resctrl_undo(&session)
		                                    : undo_forgotten(&session);
	if (r == 0)
		*ret_report = report;
	return r;
}

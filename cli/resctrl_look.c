/* SPDX-License-Identifier: MIT */
/* What is in force, looked at without a change and without the lock. */

#include "resctrl.h"

#include <errno.h>
#include <string.h>

#include "resctrl_journal.h"

int resctrl_schemata(const struct resctrl_place *place, const char *group, char **ret_schemata,
        char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_session_done) struct resctrl_session session;
	char path[RESCTRL_PATH];
	int r = resctrl_session_begin(&session, place, false, ret_error, error_size);

	if (r < 0)
		return r;
	r = resctrl_read(session.fd, resctrl_file(group, "schemata", path), ret_schemata);
	if (r == -ENOENT)
		return resctrl_fail(&session, r, "the resctrl group %s is gone", group);
	return r < 0 ? resctrl_fail(&session, r, "cannot read %s: %s", path, strerror(-r)) : 0;
}

int resctrl_applied(const struct resctrl_place *place, char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_session_done) struct resctrl_session session;
	int r = resctrl_session_begin(&session, place, false, ret_error, error_size);

	return r < 0 ? r : resctrl_journal_there(&session);
}

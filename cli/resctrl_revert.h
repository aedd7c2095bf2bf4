/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_RESCTRL_REVERT_H
#define MTL_CLI_RESCTRL_REVERT_H

#include "resctrl_session.h"

/* What the journal tells of undone, if there is one, and it removed; by whoever holds the lock. */
int resctrl_undo(struct resctrl_session *session);

#endif

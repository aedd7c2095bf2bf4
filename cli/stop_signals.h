/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STOP_SIGNALS_H
#define MTL_CLI_STOP_SIGNALS_H

#include <signal.h>

/*
 * From here on SIGINT, SIGTERM and SIGHUP (unless that is ignored, as under nohup) make the
 * returned descriptor readable and do nothing else. ret_old_mask: the signal mask before, also on
 * failure. Negative errno.
 */
int stop_signals_catch(sigset_t *ret_old_mask);

#endif

/* SPDX-License-Identifier: MIT */
/* Signals that ask for the end, as something that poll() waits for. */

#include "stop_signals.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>

int stop_signals_catch(sigset_t *ret_old_mask)
{
	struct sigaction hangup;
	sigset_t mask;
	int fd;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, ret_old_mask);
	fd = signalfd(-1, &mask, SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_RELOAD_H
#define MTLD_RELOAD_H

#include <systemd/sd-event.h>
#include "config.h"
#include "server.h"

/* Where the configuration comes from and who has to know when it changes; all borrowed. */
struct reload {
	const char *path; /* as config_load() takes it */
	const char *rung; /* of the command line, which the file does not change; NULL: none */
	struct config *config;
	struct server *server;
};

/*
 * Read the configuration once more. Right as a whole, it is in force, but for keys that count at
 * the next start, which are named to the operator when they changed. Otherwise nothing changes, and
 * the operator is told file, line and reason: negative errno.
 */
int reload_now(const struct reload *reload);

/* Do so at SIGHUP, which the caller has blocked, and tell systemd of it. reload must live as long
 * as the event loop runs. Negative errno. */
int reload_at_hangup(sd_event *event, struct reload *reload);

#endif

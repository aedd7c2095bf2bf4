/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_AWAIT_CURVE_H
#define MTL_CLI_AWAIT_CURVE_H

#include <stdbool.h>
#include <json-c/json.h>
#include "client.h"
#include "options.h"

#define AWAIT_SECONDS 10.0 /* usual patience */

struct question {
	const struct options *options;
	struct client *client;
	int pid;
	int wake_fd;     /* readable when the user wants to stop; -1: signals do that */
	bool tracked;    /* by us */
	bool progressed; /* a progress line is on the terminal */
	bool shown;      /* a curve */
};

/* After how long without a question mtld is to forget a process: longer than it takes to ask again.
 */
int await_idle_seconds(const struct options *options);

/* The first curve within so many seconds. Returns an exit code, having said what was wrong. */
int await_curve(struct question *question, double seconds, struct json_object **ret_curve);

/* Tracks the process if nobody does, without waiting. Likewise. */
int await_track(struct question *question);

#endif

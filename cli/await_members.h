/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_AWAIT_MEMBERS_H
#define MTL_CLI_AWAIT_MEMBERS_H

/* The curves of the processes of a group, as far as there are any. */

#include <json-c/json.h>
#include "client.h"
#include "options.h"

enum member_state {
	MEMBER_NEW,
	MEMBER_WAITING, /* too few observations */
	MEMBER_CURVE,
	MEMBER_IDLE, /* too few observations because it hardly runs */
	MEMBER_GONE,
	MEMBER_FORBIDDEN,
	MEMBER_KERNEL, /* a kernel thread */
	MEMBER_TOO_MANY,
	MEMBER_FAILED, /* anything else */
	MEMBER_STATES,
};

struct member {
	int pid;
	enum member_state state;
	struct json_object *curve; /* MEMBER_CURVE */
	double busy;               /* CPU seconds per second of wall-clock time, where it waited */
	/* from /proc; NAN: it does not say */
	double cpu_seconds, resident_bytes;
};

/*
 * Tracks those that nobody does, in their order, as long as mtld takes more; then asks for the
 * curves until each has one, hardly runs, or cannot be asked, for so many seconds at most. Returns
 * an exit code, having said what was wrong with all of them: no connection, no sampling here.
 */
int members_track(struct client *client, const struct options *options, struct member *members,
        size_t n, size_t *ret_tracked);
int members_await(struct client *client, const struct options *options, double seconds,
        struct member *members, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PRIVATE_DAEMON_H
#define MTL_CLI_PRIVATE_DAEMON_H

#include <limits.h>
#include <stdbool.h>
#include "client.h"
#include "options.h"
#include "process.h"

/* A mtld of our own, on a socket nobody else can reach. */
struct private_daemon {
	struct process process;
	char directory[80];
	char socket[108];
	int messages; /* what it writes to standard error; -1: it goes to ours */
};

/*
 * Starts it and connects. Returns MTL_DONE or another exit code, having said why. -ECANCELED when
 * wake_fd becomes readable first. private_daemon_done() is due in any case.
 */
int private_daemon_start(const struct options *options, int wake_fd, struct private_daemon *daemon,
        struct client **ret_client);

/* Ends it and removes its directory. Safe on one that was never started. */
void private_daemon_done(struct private_daemon *daemon);

/*
 * Says on stderr what a negative errno of the connection means, after what the daemon itself has
 * written there. Returns MTL_FAILED, or MTL_IMPOSSIBLE when the daemon ended for that reason.
 */
int private_daemon_explain(struct private_daemon *daemon, int error);

/* Room for the arguments of both, and more. */
#define DAEMON_ARGUMENTS_MAX 10

/* Appends the options that mtld has too, and the NULL behind the last, to argv with n arguments. */
void daemon_arguments(const struct options *options, const char **argv, int n);

/* The mtld beside this program, else the installed one; -ENOENT when there is neither. */
int daemon_program(char ret_path[static PATH_MAX]);

#endif

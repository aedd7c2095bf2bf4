/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PROCESS_H
#define MTL_CLI_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include "cleanup.h"

/* A child of ours; pid 0: none. It dies with us. */
struct process {
	pid_t pid;
	int fd;     /* pidfd, readable once the child has ended */
	int status; /* as from waitpid(), once reaped */
};

/* 0, or negative errno. In the child returns 1 with SIGTERM at the end of the parent arranged. */
int process_fork(struct process *ret_process);

/* SIGTERM, and SIGKILL when it is still there after so many seconds; reaps. */
void process_end(struct process *process, double patience);

/* true when it has ended within so many seconds; reaps. */
bool process_wait(struct process *process, double seconds);

/* "ended with status 3", "was ended by signal 9 (Killed)" */
void process_fate(const struct process *process, char *ret_text, size_t size);

/* A command that has been forked but waits to be started, so that it can be watched from its first
 * instruction on. */
struct held_command {
	struct process process;
	int hold; /* writing one byte starts it, closing gives it up */
};

/*
 * Forks. The command gets signal_mask; with quiet its standard output goes to standard error.
 * Negative errno.
 */
int held_command_new(char *const *argv, const sigset_t *signal_mask, bool quiet,
        struct held_command *ret_command);

/* Starts it. Negative errno: what exec said (-ENOENT: no such program). */
int held_command_start(struct held_command *command);

/* Ends it when it still runs. */
void held_command_done(struct held_command *command);

#endif

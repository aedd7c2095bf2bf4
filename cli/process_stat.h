/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PROCESS_STAT_H
#define MTL_CLI_PROCESS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Of /proc/PID/stat. */
struct process_stat {
	pid_t pid, parent;
	char comm[64];
	double cpu_seconds;      /* of all its threads */
	double children_seconds; /* of children that have ended and were waited for, and theirs */
	double resident_bytes;
};

/* Also of a zombie. root NULL: /. -ESRCH: there is none; -EBADMSG. */
int process_stat_read(const char *root, pid_t pid, struct process_stat *ret_stat);

/* What became of what a process started. */
struct children {
	double own_seconds;
	double seconds; /* CPU time of all below it, as far as it can be known */
	size_t alive;
	pid_t busiest; /* of those alive; 0: none is */
	char busiest_comm[64];
};

/* -ESRCH: the process is not there, or /proc cannot be read; -ENOMEM. */
int children_look(const char *root, pid_t pid, struct children *ret_children);

/*
 * Says on stderr, where children do most of the work and so a curve of the process says little,
 * what they took, that they are not observed, and what to do: `again`, of a command that was run
 * here and would have to be run again, otherwise.
 */
void children_complain(const struct children *children, bool again);

#endif

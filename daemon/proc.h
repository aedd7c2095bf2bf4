/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PROC_H
#define MTLD_PROC_H

/*
 * What /proc and /sys say about a process and the machine, under a root directory ("" for the real
 * one). A process may end at any moment: every function then returns -ESRCH, never half an answer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct proc_status {
	char comm[16];
	uid_t uid;        /* effective */
	pid_t tracer;     /* 0: none */
	bool kernel_thread;
	bool zombie; /* all of it; a main thread that has ended leaves the others running */
};

/* /proc/PID/NAME for reading; NULL with errno, ESRCH when it has ended. The caller closes it. */
FILE *proc_file(const char *root, pid_t pid, const char *name);

int proc_status(const char *root, pid_t pid, struct proc_status *ret_status);

/* A thread of it that has memory: the main one, as a rule. */
int proc_living_thread(const char *root, pid_t pid, pid_t *ret_tid);

/* When it began, in clock ticks since boot: with the number it names a process for good. */
int proc_start_ticks(const char *root, pid_t pid, uint64_t *ret_ticks);

/* Thread ids; the caller frees. */
int proc_threads(const char *root, pid_t pid, pid_t **ret_tids, unsigned *ret_n);

/* Resident bytes as /proc/PID/statm counts them (may lag by some pages a thread). */
int proc_resident(const char *root, pid_t pid, double *ret_bytes);

/* One line of /proc/PID/maps. */
struct proc_mapping {
	uint64_t start, end;
	char permissions[5];
	char name[64]; /* beginning of the path, or "[heap]", or "" */
};

/* Calls `each` for every mapping until it returns non-zero, which is then returned. */
int proc_mappings(const char *root, pid_t pid,
	int (*each)(void *userdata, const struct proc_mapping *mapping), void *userdata);

int proc_open_pagemap(const char *root, pid_t pid);

/* Size of the data cache of that level in bytes; 0: unknown. Level 0: the last level there is.
 * ret_source (may be NULL): who says so, "probe" (a saved answer of `mtl probe`), "sysfs", "cpuid"
 * (only without a root), "none". */
double proc_cache_bytes(const char *root, unsigned level, const char **ret_source);

/* kernel.perf_event_paranoid; INT32_MAX: unknown. */
int proc_paranoid(const char *root);

/* Debian's levels from 3 on ask for CAP_SYS_ADMIN. */
static inline bool proc_paranoid_wants_admin(int level)
{
	return level >= 3 && level != INT32_MAX;
}

#endif

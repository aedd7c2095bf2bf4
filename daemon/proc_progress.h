/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PROC_PROGRESS_H
#define MTLD_PROC_PROGRESS_H

/*
 * How a process gets on, as /proc tells it: what it has done, and how long it waited for a CPU.
 */

#include <stdint.h>
#include <sys/types.h>
#include "self_check.h"

/* All but CHECK_ACCESSES, which is NAN; what cannot be read likewise. -ESRCH. */
int proc_progress(const char *root, pid_t pid, struct check_reading *ret_reading);

/* CPU time in ns as the kernel's clock of the process has it; 0: it has ended. */
uint64_t proc_cpu_ns(pid_t pid);

/* Seconds its threads were on a CPU, and in a run queue without one; of the first 64 threads, in
 * proportion. Negative errno: the kernel does not tell. */
int proc_waiting(const char *root, pid_t pid, double *ret_ran, double *ret_waited);

/* Share of the last 10 s in which something runnable had no CPU, of the process's control group,
 * else of the machine; NAN: the kernel has no PSI. */
double proc_pressure(const char *root, pid_t pid);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PERF_SYSCALL_H
#define MTLD_PERF_SYSCALL_H

/* perf_event_open(2), for which the C library has no function; alone in its file so that a test can
 * put another kernel in its place. A descriptor (close-on-exec), or a negative errno. */

#include <linux/perf_event.h>
#include <sys/types.h>

int perf_syscall(const struct perf_event_attr *attr, pid_t pid, int cpu, int group);

#endif

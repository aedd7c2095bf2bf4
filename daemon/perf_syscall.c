// SPDX-License-Identifier: MIT
/* The system call and nothing else: see perf_syscall.h. */
#include "perf_syscall.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int perf_syscall(const struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

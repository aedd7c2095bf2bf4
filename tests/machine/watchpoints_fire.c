/* SPDX-License-Identifier: MIT */
/*
 * watchpoints_fire: whether a hardware watchpoint fires on this machine. A perf breakpoint is set
 * on a word of our own, the word is written, the count is read. Some hypervisors accept the
 * breakpoint and never deliver it, so that nothing but trying tells.
 *
 * Exit status 0 when it fired; else 1, and on standard output why not, as the end of a sentence.
 */

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WRITES 100

static volatile uint64_t word;

static int open_watchpoint(void)
{
	struct perf_event_attr attr = {
	        .type = PERF_TYPE_BREAKPOINT,
	        .size = sizeof(attr),
	        .bp_type = HW_BREAKPOINT_W,
	        .bp_addr = (uintptr_t)&word,
	        .bp_len = HW_BREAKPOINT_LEN_8,
	        .exclude_kernel = 1,
	        .exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int main(void)
{
	int fd = open_watchpoint();
	uint64_t count = 0;

	if (fd < 0) {
		printf("cannot be set here (%s)\n", strerror(errno));
		return 1;
	}
	for (int i = 0; i < WRITES; i++)
		word++;
	if (read(fd, &count, sizeof(count)) == sizeof(count) && count > 0)
		return 0;
	printf("never fire on this machine\n");
	return 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * hold_registers: takes all four debug registers of every processor, says "held" and keeps them
 * until it is ended.
 */

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t words[4];

static int take(int cpu, unsigned i)
{
	struct perf_event_attr attr = {
	        .type = PERF_TYPE_BREAKPOINT,
	        .size = sizeof(attr),
	        .bp_type = HW_BREAKPOINT_W,
	        .bp_addr = (uintptr_t)&words[i],
	        .bp_len = HW_BREAKPOINT_LEN_8,
	        .pinned = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int main(void)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int cpu = 0; cpu < cpus; cpu++) {
		for (unsigned i = 0; i < 4; i++) {
			if (take(cpu, i) < 0) {
				perror("hold_registers");
				return 1;
			}
		}
	}
	puts("held");
	fflush(stdout);
	for (;;)
		pause();
}

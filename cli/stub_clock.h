/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_CLOCK_H
#define MTL_CLI_STUB_CLOCK_H

#include <stdint.h>

/* CPU time of this thread, read as quickly as wall-clock time. */
struct stub_clock {
	int64_t origin; /* wall-clock time at which it is 0 */
	int64_t stolen; /* wall-clock time since then that was not ours */
	int64_t last;   /* wall-clock time of the last reading */
	int64_t latest; /* that it has shown */
	int64_t quick;  /* what a reading of the CPU clock takes at best */
	int64_t offset; /* of wall-clock time to CPU time, at the start */
};

/* Nanoseconds; never fewer than before. */
void stub_clock_start(struct stub_clock *ret_clock);
int64_t stub_clock_now(struct stub_clock *clock);
/* Since the start, by the wall. */
int64_t stub_clock_wall(const struct stub_clock *clock);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_MONOTONIC_H
#define MTL_CLI_MONOTONIC_H

#include <time.h>

/* Seconds since some moment, of a clock that is never set. */
static inline double monotonic_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif

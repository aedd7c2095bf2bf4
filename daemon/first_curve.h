/* SPDX-License-Identifier: MIT */
#ifndef MTLD_FIRST_CURVE_H
#define MTLD_FIRST_CURVE_H

/*
 * When a process will have its first curve: a prediction on plain structs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What came of late: sums that lose 1/e in ten seconds. All 0 at first. */
struct arrivals {
	double observations, cpu_seconds, wall_seconds;
	double each; /* seconds of wall-clock time an observation when the latest came; 0: none has */
	double latest, noted; /* when that was, and the call before; 0: never */
	uint64_t total;
	double cpu;
};

/* Once a second or oftener: observations and CPU seconds, both since tracked, by the time of a clock.
 * Where observations are fewer than before, or it ran less than half, it begins anew (CPU time steps
 * back a little at times). */
void arrivals_note(
        struct arrivals *arrivals, uint64_t observations, double cpu_seconds, double now);

struct first_curve_facts {
	uint64_t observations, needed;
	double cpu_seconds;   /* since tracked */
	double pace;          /* moments a CPU second as planned; 0: not known yet */
	double watch_seconds; /* CPU time that a watch takes, on average */
	bool still;           /* it has not run for a second */
	struct arrivals arrivals;
	double now; /* on their clock */
};

/*
 * Seconds of wall-clock time, if things go on as of late, and on what that rests ("at 4.1
 * observations a second of late"). 0: there are enough. NAN: nothing to go by, or nothing is coming,
 * and why.
 */
double first_curve_seconds(const struct first_curve_facts *facts, char *ret_basis, size_t size);

#endif

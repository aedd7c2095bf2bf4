/* SPDX-License-Identifier: MIT */
#ifndef MTLD_SLICES_H
#define MTLD_SLICES_H

/*
 * Whose turn it is: CPU time of a process in slices of random length, drawn in advance, that belong
 * to residual times and to reuse times by turns. Pure decisions on plain structs.
 *
 * A watch for a reuse time begins when the program misses: at a moment the program chose. Were the
 * moments of residual times that fall into it skipped, the program would choose those as well. So
 * either kind begins in slices of its own only, and a watch under way at the end of its slice is
 * censored there: at a moment that was drawn before it began, blind to what it watches.
 */

#include <stdbool.h>
#include <stdint.h>

struct slices {
	uint64_t random;
	double mean[2]; /* seconds of CPU time: residual, reuse */
	bool reuse;     /* whose slice it is */
	double end;     /* process clock, seconds */
};

/* Begins with a slice of residual times at `now`. Means are positive. */
void slices_begin(
        struct slices *slices, uint64_t seed, double now, double residual_mean, double reuse_mean);

/* The slice at `now`, which never goes back by more than a slice. */
void slices_advance(struct slices *slices, double now);

/* How long a watch that begins at `now`, within the slice, may last when `drawn` is its deadline.
 */
double slices_deadline(const struct slices *slices, double now, double drawn);

#endif

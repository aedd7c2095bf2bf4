/* SPDX-License-Identifier: MIT */
#ifndef MTLD_SPINNER_H
#define MTLD_SPINNER_H

/* A child process that touches one line all the time and knows what time is taken from it. */

#include <stdint.h>
#include <sys/types.h>

#define SPINNER_WORDS 8
#define SPINNER_GAPS 4096

/* Shared with the child; each member that the child writes has a page of its own. */
struct spin {
	volatile uint64_t hot[SPINNER_WORDS];
	char pad1[4096 - SPINNER_WORDS * 8];
	volatile uint64_t cold[512];
	volatile uint64_t gaps, ready;
	uint64_t gap_ticks;
	pid_t parent;
	volatile uint64_t gap[SPINNER_GAPS]; /* ticks, a ring */
};

struct spinner {
	struct spin *shared; /* NULL: none */
	pid_t pid;           /* 0: none */
	unsigned cpu;        /* where it is pinned */
	double ticks_per_ns;
};

/* Of a spinner that is all zero; what has begun is to be stopped also when it failed. */
int spinner_start(struct spinner *spinner);
void spinner_stop(struct spinner *spinner);

/* How often something was taken from it so far. */
uint64_t spinner_gaps(const struct spinner *spinner);

/* What was taken from it since it had been taken from so often, in ns: all of it; the median at
 * once. */
double spinner_taken(const struct spinner *spinner, uint64_t from);
double spinner_median_gap(const struct spinner *spinner, uint64_t from);

#endif

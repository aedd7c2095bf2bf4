/* SPDX-License-Identifier: MIT */
#ifndef MTLD_DUTY_H
#define MTLD_DUTY_H

/*
 * When the process clocks, and sampling with them, run: decisions on a plain struct.
 */

#include <stdbool.h>
#include <stdint.h>

struct duty {
	double share; /* of the time in which they run; 1: always */
	bool resting;
	uint64_t until;  /* end of this phase, CLOCK_MONOTONIC; 0: none */
	uint64_t random; /* state */
};

void duty_begin(struct duty *duty, uint64_t seed);

/* About once a second. switching: the most that switches take of any target while the clocks run,
 * as a part of max_overhead. */
void duty_decide(struct duty *duty, double switching);

/* Some ten times a second; watch_seconds: how long the longest watches last. True: it changed
 * between running and resting. */
bool duty_step(struct duty *duty, uint64_t now, double watch_seconds);

/* Something has come that has to be seen at once: the running phase begins anew. True: it was
 * resting. */
bool duty_wake(struct duty *duty);

#endif

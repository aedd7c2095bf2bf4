/* SPDX-License-Identifier: MIT */
#ifndef MTLD_CANDIDATE_H
#define MTLD_CANDIDATE_H

/*
 * A line to be watched, which words of it, and for how long at most: drawn before anything of the
 * watch is known. `random` is a state of erand48(3).
 */

#include <stdbool.h>
#include <stdint.h>
#include "event.h"

/* Complete with its deadline, before any moment is known. */
struct candidate {
	uint64_t address[MTL_SLOTS]; /* words of one line */
	unsigned slots;
	bool whole_line;
	double weight; /* 1 / probability of the draw, lines; of a miss: misses it stands for */
	uint64_t deadline_ns; /* CPU time from arming; of a visit: from its miss */
};

/*
 * Shape of the deadlines D: density D^-(1 + lean) from `shortest` to `longest`, with a few
 * (PLANNER_TAIL) beyond it, density D^-2 up to `limit`.
 */
struct planner_deadlines {
	double shortest, longest, limit; /* seconds of CPU time */
	double lean; /* 0: log-uniform; 1: each factor of two in length takes as much time in all */
};

#define PLANNER_TAIL 0.015

/* Their mean, seconds. */
double candidate_deadline_mean(const struct planner_deadlines *deadlines);

/* One, seconds. */
double candidate_deadline(const struct planner_deadlines *deadlines, unsigned short random[3]);

/* `slots` different words of the line at that address, in random order; or all of it in one. */
void candidate_cover(struct candidate *candidate, uint64_t line, unsigned slots, bool whole_line,
        unsigned short random[3]);

#endif

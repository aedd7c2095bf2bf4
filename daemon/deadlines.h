/* SPDX-License-Identifier: MIT */
#ifndef MTLD_DEADLINES_H
#define MTLD_DEADLINES_H

/*
 * How long the watches of one process may last: decisions on plain structs.
 */

#include <stdbool.h>
#include "mtl.h"
#include "planner.h"

struct deadlines {
	struct planner_deadlines now;
	double cap;        /* of the longest window, seconds */
	double resolution; /* seconds */
	double trusted;    /* longest trusted window of the curve looked at last, seconds */
	double watches;    /* a CPU second that the budget pays for */
	double timed;      /* what a second of watching costs, in watches however short */
	double most;       /* no watch may be longer, seconds */
	bool short_of_time; /* for as many long ones as short ones */
	unsigned wait, rest; /* calls of deadlines_due() until it says yes, and after that */
};

void deadlines_begin(struct deadlines *deadlines, double cap, double resolution);

/* The mean length of a watch that sees nothing, seconds. */
double deadlines_mean(const struct deadlines *deadlines);

/* The budget pays for so many watches a CPU second (0: not known): how far deadlines lean on short
 * ones. Call when that changes. */
void deadlines_afford(struct deadlines *deadlines, double watches);

/* What a second of watching costs, and a watch however short; seconds. No watch is so long that it costs
 * more than max_overhead of a few seconds. */
void deadlines_price(struct deadlines *deadlines, double timed, double fixed, double max_overhead);

/* The program has become another one: what was learnt of the old one may be too short. */
void deadlines_reconsider(struct deadlines *deadlines);

/* Called once a second: is it time to look at them? Always while they move, seldom when they stay. */
bool deadlines_due(struct deadlines *deadlines);

/* The windows deadlines_adapt() wants the footprint at (the longest one that is trusted and no longer
 * than the longest deadline, and a quarter of it first), and the size whose fill time it wants. */
void deadlines_questions(const struct deadlines *deadlines, double cache_bytes, double ret_windows[2],
	double *ret_size);

/* `curve` answers these questions, births left out: they go on growing with any window. */
void deadlines_adapt(struct deadlines *deadlines, const struct mtl_curve *curve);

#endif

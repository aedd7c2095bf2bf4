// SPDX-License-Identifier: MIT
/*
 * The longest window worth watching is a few fill times of twice the last-level cache. A program that
 * never fills that much saturates instead, and the longest window follows the time by which it has:
 * longer while the footprint still grows from a quarter of it to all of it, shorter when it does not and
 * there is no time for so long ones: where the budget leaves a process unwatched most of the time, long
 * watches cost nothing, tell of short windows as well, and see at once when it needs more memory than
 * before.
 * It is only ever changed from smoothed estimates, and a few deadlines (PLANNER_TAIL) always reach
 * beyond it, so that slower memory is noticed and can push it up again. What an estimate does not trust
 * it says nothing of: both windows lie within the longest trusted one, and nothing grows before that
 * comes near the longest deadline.
 *
 * How the lengths are spread: a watch tells of all windows shorter than itself, so with S(T) watches of
 * T or longer, and c(T) the variance of what is wanted of T with one of them, the error is the sum of
 * c(T) / S(T) over log T, and watching takes the integral of S(T). The least error for the time has
 * S(T) = sqrt(c(T) / T). For a scan, whose windows see touches in proportion to T, c is 1 / T: that is
 * density D^-2, of which each factor of two takes as much time. For one whose touches are spread evenly
 * over log T it is D^-1.5, and more for what is said relative to short windows. So time is better spent on
 * many short watches than a few long ones; but a watch that the budget does not pay for is not made,
 * however short, and the budget that is left buys length for nothing. The lean of the density D^-(1 +
 * lean) is what makes the watches fill OCCUPIED of the process's time, from log-uniform (0: few watches
 * are paid for, or the longest is short) to 1. docs/THEORY.md, section 21, has what was compared. Where
 * the time of watching itself costs (string_cost.c; a process that switches while one is on has its debug
 * registers loaded anew each time, which takes 20 to 40 us in a virtual machine) length is not for nothing:
 * the lean is then at least the part that their time has in what watches cost, 1 where it is nearly all; and
 * no watch is longer than what costs DEAREST seconds' budget, so that what it takes is not felt at once.
 */
#include "deadlines.h"

#include <math.h>

#include "candidate.h"

#define FIRST_LONGEST 0.05 /* seconds */
#define SPAN 64.0          /* longest / shortest deadline */
#define TAIL_SPAN 16.0     /* limit / longest */
#define RESOLUTIONS 40     /* the longest window is at least so many of them */
#define REST_MAX 7
#define CACHE_UNKNOWN (32 << 20)
#define GROWS 0.04
#define STANDS 0.015
/* The part of its time that a process is to be watched, if the budget pays for so much. */
#define OCCUPIED 0.85
#define DEAREST 2.0 /* seconds */
#define LEAN_STEPS 20
#define CROWDED 0.01 /* lean: there is not the time for as many long watches as short ones */
/* So much of the longest has to be trusted before it grows: where watches lean on short ones there are
 * many of them, where they do not it would take too long. */
#define TRUST 0.7
#define TRUST_LEAST 0.25

static void set_longest(struct deadlines *deadlines, double longest)
{
	double resolution = deadlines->resolution, most = fmin(deadlines->cap, deadlines->most);

	longest = fmin(most, fmax(longest, RESOLUTIONS * resolution));
	deadlines->now = (struct planner_deadlines){
		.longest = longest,
		.shortest = fmax(longest / SPAN, fmin(resolution, longest / 2)),
		.limit = fmin(most, longest * TAIL_SPAN),
	};
	deadlines_afford(deadlines, deadlines->watches);
}

void deadlines_begin(struct deadlines *deadlines, double cap, double resolution)
{
	*deadlines = (struct deadlines){.cap = cap, .most = INFINITY, .resolution = resolution};
	set_longest(deadlines, FIRST_LONGEST);
	deadlines->trusted = deadlines->now.longest;
}

void deadlines_reconsider(struct deadlines *deadlines)
{
	deadlines->wait = deadlines->rest = 0;
	set_longest(deadlines, fmax(deadlines->now.longest, FIRST_LONGEST));
	deadlines->trusted = deadlines->now.longest;
}

double deadlines_mean(const struct deadlines *deadlines)
{
	return candidate_deadline_mean(&deadlines->now);
}

/* For the watches that the budget pays for. */
static bool takes_too_long(const struct deadlines *deadlines)
{
	return deadlines_mean(deadlines) * deadlines->watches > OCCUPIED;
}

/* For what their length costs. */
static bool costs_too_much(const struct deadlines *deadlines)
{
	double timed = deadlines->timed * deadlines_mean(deadlines);

	return timed / (1 + timed) > deadlines->now.lean;
}

void deadlines_price(struct deadlines *deadlines, double timed, double fixed, double max_overhead)
{
	deadlines->timed = timed / fmax(fixed, 1e-6);
	deadlines->most = timed > 0 ? DEAREST * max_overhead / timed : INFINITY;
	set_longest(deadlines, deadlines->now.longest);
}

void deadlines_afford(struct deadlines *deadlines, double watches)
{
	double *lean = &deadlines->now.lean, low = 0, high = 1;

	deadlines->watches = watches;
	*lean = CROWDED;
	deadlines->short_of_time = takes_too_long(deadlines);
	for (unsigned i = 0; i < LEAN_STEPS; i++) {
		*lean = (low + high) / 2;
		*(takes_too_long(deadlines) || costs_too_much(deadlines) ? &low : &high) = *lean;
	}
}

bool deadlines_due(struct deadlines *deadlines)
{
	if (deadlines->wait == 0)
		return true;
	deadlines->wait--;
	return false;
}

void deadlines_questions(const struct deadlines *deadlines, double cache_bytes, double ret_windows[2],
	double *ret_size)
{
	ret_windows[1] = fmin(deadlines->now.longest, deadlines->trusted);
	ret_windows[0] = ret_windows[1] / 4;
	*ret_size = 2 * (cache_bytes > 0 ? cache_bytes : CACHE_UNKNOWN);
}

static double better_longest(const struct deadlines *deadlines, const struct mtl_curve *curve)
{
	double longest = deadlines->now.longest, fill = curve->points[0].fill_time_seconds;
	double growth = curve->footprint[1].bytes / fmax(curve->footprint[0].bytes, 1) - 1;
	double trust = fmax(TRUST_LEAST, TRUST * deadlines->now.lean);

	if (isfinite(fill) && fill > 0)
		return longest + 0.3 * (3 * fill - longest);
	if (growth > GROWS)
		return deadlines->trusted < trust * longest ? longest : longest * 1.5;
	return growth < STANDS && deadlines->short_of_time ? longest * 0.8 : longest;
}

void deadlines_adapt(struct deadlines *deadlines, const struct mtl_curve *curve)
{
	double before = deadlines->now.longest;

	deadlines->trusted = curve->footprint_window_seconds;
	set_longest(deadlines, better_longest(deadlines, curve));
	deadlines->rest = deadlines->now.longest == before ? fmin(REST_MAX, 2 * deadlines->rest + 1) : 0;
	deadlines->wait = deadlines->rest;
}

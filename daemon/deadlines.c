// SPDX-License-Identifier: MIT
/*
 * The longest window worth watching is a few fill times of twice the last-level cache. A program that
 * never fills that much saturates instead, and the longest window follows the time by which it has:
 * longer while the footprint still grows from a quarter of it to all of it, shorter when it does not.
 * It is only ever changed from smoothed estimates, and a few deadlines (PLANNER_TAIL) always reach
 * beyond it, so that slower memory is noticed and can push it up again.
 */
#include "deadlines.h"

#include <math.h>

#define FIRST_LONGEST 0.05 /* seconds */
#define SPAN 64.0          /* longest / shortest deadline */
#define TAIL_SPAN 16.0     /* limit / longest */
#define RESOLUTIONS 40     /* the longest window is at least so many of them */
#define REST_MAX 7
#define CACHE_UNKNOWN (32 << 20)
#define GROWS 0.04
#define STANDS 0.015

static void set_longest(struct deadlines *deadlines, double longest)
{
	double resolution = deadlines->resolution;

	longest = fmin(deadlines->cap, fmax(longest, RESOLUTIONS * resolution));
	deadlines->now = (struct planner_deadlines){
		.longest = longest,
		.shortest = fmax(longest / SPAN, fmin(resolution, longest / 2)),
		.limit = fmin(deadlines->cap, longest * TAIL_SPAN),
	};
}

void deadlines_begin(struct deadlines *deadlines, double cap, double resolution)
{
	*deadlines = (struct deadlines){.cap = cap, .resolution = resolution};
	set_longest(deadlines, FIRST_LONGEST);
}

void deadlines_reconsider(struct deadlines *deadlines)
{
	deadlines->wait = deadlines->rest = 0;
	set_longest(deadlines, fmax(deadlines->now.longest, FIRST_LONGEST));
}

static double log_uniform_mean(double low, double high)
{
	return high > low ? (high - low) / log(high / low) : high;
}

double deadlines_mean(const struct deadlines *deadlines)
{
	const struct planner_deadlines *now = &deadlines->now;

	return (1 - PLANNER_TAIL) * log_uniform_mean(now->shortest, now->longest) +
		PLANNER_TAIL * log_uniform_mean(now->longest, now->limit);
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
	ret_windows[0] = deadlines->now.longest / 4;
	ret_windows[1] = deadlines->now.longest;
	*ret_size = 2 * (cache_bytes > 0 ? cache_bytes : CACHE_UNKNOWN);
}

static double better_longest(const struct deadlines *deadlines, const struct mtl_curve *curve)
{
	double longest = deadlines->now.longest, fill = curve->points[0].fill_time_seconds;
	double growth = curve->footprint[1].bytes / fmax(curve->footprint[0].bytes, 1) - 1;

	if (isfinite(fill) && fill > 0)
		return longest + 0.3 * (3 * fill - longest);
	if (growth > GROWS)
		return longest * 1.5;
	return growth < STANDS ? longest * 0.8 : longest;
}

void deadlines_adapt(struct deadlines *deadlines, const struct mtl_curve *curve)
{
	double before = deadlines->now.longest;

	set_longest(deadlines, better_longest(deadlines, curve));
	deadlines->rest = deadlines->now.longest == before ? fmin(REST_MAX, 2 * deadlines->rest + 1) : 0;
	deadlines->wait = deadlines->rest;
}

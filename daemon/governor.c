// SPDX-License-Identifier: MIT
/*
 * Staying under the promised overhead.
 *
 *     cost of a period = arms x arm + hits x trap + empty moments x moment
 *                        (those that fell to reuse times, and armers woken by misses, with them)
 *                      + switches while open x switch_open + time cost
 *     time cost        = (switches while armed - arms - hits) x switch_on
 *                      + time armed x what strings lose meanwhile (string_cost.c)
 *     overhead         = (cost + address samples x sample + switches x clock) / CPU time of the target
 *     arms a second    = (MARGIN x max_overhead - what samples and the clock took) / (cost per arm)
 *     moments a second = pace / (1 - pace x how long a watch lasts)
 *
 * for a watch occupies its process until its deadline, and the moment after that comes as late as any.
 * (The armer's own switches are in what an arm and a trap cost.) Moments that found no candidate are
 * not made up for: a pace raised by them would overshoot as soon as there are candidates again. The least pace only keeps the governor learning; it is low enough
 * for the budget even where one watch costs milliseconds.
 *
 * The pace changes about once a second and by smoothed averages only, so it does not follow what
 * single watches see (that would make the moments depend on the program). A target that switches
 * very often pays for open events at every switch; there they are closed between watches, which
 * costs a little more per watch instead.
 */
#include "governor.h"

#include <math.h>

#define MARGIN 0.75
#define PACE_MIN 0.05
#define PACE_MAX 1000.0
#define FREE_LEAST 0.15 /* the part of its time in which it is not watched, at least */
#define SMOOTHING 0.3
#define CLOCKED_LEAST 0.02 /* seconds */
#define ARMED_LEAST 1000000 /* ns */
#define LEAST_PART 0.25 /* of the budget is for watching, however many samples there are */
/* Four disabled breakpoint events cost this much at a switch out and in (measured: 0.5-1.1 us). */
#define SWITCH_OPEN 1e-6
/* Events stay open while they cost less than this part of the budget. */
#define OPEN_PART 0.15

struct governor_prices governor_prices(const struct calibration *calibration)
{
	return (struct governor_prices){
		.arm = calibration->arm_seconds,
		.trap = calibration->trap_seconds,
		.moment = calibration->moment_seconds,
		.switch_on = calibration->switch_seconds,
		.switch_open = SWITCH_OPEN,
		.sample = calibration->sample_seconds,
		.clock = calibration->clock_seconds + calibration->count_seconds,
		.open = calibration->open_seconds,
	};
}

static double bounded(double pace, double share)
{
	return fmin(PACE_MAX, fmax(PACE_MIN * share, pace));
}

static bool better_closed(double switches, const struct governor_prices *prices, double max_overhead)
{
	return switches * prices->switch_open > OPEN_PART * max_overhead;
}

double governor_moments(double pace, double watch_seconds)
{
	return fmin(PACE_MAX, pace / fmax(FREE_LEAST, 1 - pace * watch_seconds));
}

double governor_short_watch(const struct governor_prices *prices)
{
	return prices->arm + MTL_SLOTS * prices->trap + prices->moment;
}

double governor_timed(const struct governor_prices *prices, double switches)
{
	return prices->watched + switches * prices->switch_on;
}

void governor_begin(struct governor *governor, const struct governor_prices *prices,
	double max_overhead, double switches, double watch_seconds)
{
	bool close = better_closed(switches, prices, max_overhead);
	double timed = governor_timed(prices, switches);
	double cost = governor_short_watch(prices) + watch_seconds * timed + (close ? prices->open : 0);

	*governor = (struct governor){
		.overhead = NAN,
		.pace = bounded(MARGIN * max_overhead / fmax(cost, 1e-6), 1),
		.watches = MARGIN * max_overhead / fmax(cost, 1e-6),
		.close_between = close,
		.timed = timed,
		.switching = switches * prices->clock,
	};
}

static double time_cost(const struct governor_prices *prices, const struct sampler_counts *delta)
{
	double switches = fmax(0, (double)delta->armed_switches - delta->arms - delta->hits);

	return delta->armed_ns / 1e9 * prices->watched + switches * prices->switch_on;
}

/* All but the time cost. */
static double fixed_cost(const struct governor *governor, const struct governor_prices *prices,
	const struct sampler_counts *delta)
{
	double open_switches = governor->close_between ? 0 : delta->switches;

	return delta->arms * (prices->arm + (governor->close_between ? prices->open : 0)) +
		delta->hits * prices->trap +
		(delta->busy + delta->starved + delta->woken) * prices->moment +
		open_switches * prices->switch_open;
}

/* Switches are counted while the clock runs; where it rested all the time nothing is learnt of them. */
static void look_at_switches(struct governor *governor, const struct governor_prices *prices,
	const struct sampler_counts *delta, double cpu_seconds, double max_overhead)
{
	double clocked = cpu_seconds - delta->rested_ns / 1e9;

	if (clocked <= CLOCKED_LEAST)
		return;
	governor->switching = delta->switches / clocked * prices->clock;
	governor->close_between = better_closed(delta->switches / clocked, prices,
		max_overhead * (governor->close_between ? 0.5 : 1));
}

static double smooth(double old, double value)
{
	return isnan(old) || old <= 0 ? value : old + SMOOTHING * (value - old);
}

void governor_update(struct governor *governor, const struct governor_prices *prices,
	const struct sampler_counts *delta, double cpu_seconds, double max_overhead, double share)
{
	double fixed = fixed_cost(governor, prices, delta), timed = time_cost(prices, delta);
	double cost = fixed + timed, arms = delta->arms;
	double beside = delta->samples * prices->sample + delta->switches * prices->clock;
	double budget = MARGIN * max_overhead * share;

	if (cpu_seconds < 0.05)
		return;
	governor->sample_rate = delta->samples / cpu_seconds;
	budget = fmax(budget - beside / cpu_seconds, LEAST_PART * budget);
	governor->overhead = smooth(governor->overhead, (cost + beside) / cpu_seconds);
	look_at_switches(governor, prices, delta, cpu_seconds, max_overhead);
	if (arms < 1) { /* nothing learnt, but moments alone must not cost more than allowed */
		governor->pace =
			bounded(fmin(governor->pace, budget / fmax(prices->moment, 1e-9)), share);
		return;
	}
	governor->cost = smooth(governor->cost, cost / arms);
	governor->fixed = smooth(governor->fixed, fixed / arms);
	if (delta->armed_ns > ARMED_LEAST)
		governor->timed = smooth(governor->timed, timed / (delta->armed_ns / 1e9));
	governor->watches = budget / governor->cost;
	governor->pace = bounded(governor->watches, share);
}

/* By what both the latest second and those before it say: what was of a moment, as the first survey of
 * a big process, is over by the time it is seen. */
double governor_share(double share, double latest, double before, double max_daemon_cpu)
{
	double wanted = 0.9 * max_daemon_cpu;
	double low = fmin(latest, before), high = fmax(latest, before);

	if (isnan(before) || max_daemon_cpu <= 0)
		return share;
	if (low > wanted)
		share *= fmax(0.3, wanted / low);
	else if (high < wanted)
		share *= fmin(1.25, wanted / fmax(high, 1e-6));
	return fmin(1, fmax(0.005, share));
}

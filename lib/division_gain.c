/* SPDX-License-Identifier: MIT */
/*
 * Whether to believe in a division: its gain over an equal share and over no division. Of states
 * that are as good the simplest is advised: undivided, then equal shares.
 *
 * All that is known of misses is their intervals, so a gain lies between a least and a most. Misses
 * never rise with size: a group that has no less than there can lose nothing. Where the least is
 * below 0 and the most above, nobody can tell, and there is no advice; where the gain is sure, or
 * sure not to be, it is told.
 *
 * Slowdowns: whoever has no less than there is no slower than the worst there. So the worst of the
 * division exceeds the worst of the other state at most by what the most that those with less can
 * be slowed exceeds the least that the worst there can be; and it is below that by no less than by
 * what the most of all of them is.
 */

#include "division.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "partition.h"
#include "words.h"

#define ROUNDING 1e-9

double mtl_division_rounding(const struct division *division)
{
	return ROUNDING *
	       (division->objective == MTL_FAIR ? division->whole.worst : division->whole.total);
}

static bool uncertain(const struct division *division, const struct division_gain *gain)
{
	return gain->least < -mtl_division_rounding(division) &&
	       gain->most > mtl_division_rounding(division);
}

/* The least by which a total falls where groups have `to` instead of `from`. */
static double least_fall(
        const struct division *division, const double *from, const double *to, double *ret_fall)
{
	double fall = 0, least = 0;

	for (size_t i = 0; i < division->list->n; i++) {
		double from_low, to_high, weight = division->weights[i];
		double before =
		        mtl_demand_misses(division->list->demands[i], from[i], &from_low, NULL);
		double after = mtl_demand_misses(division->list->demands[i], to[i], NULL, &to_high);

		fall += weight * (before - after);
		if (to[i] > from[i])
			least += weight * fmax(from_low - to_high, 0);
		else if (to[i] < from[i])
			least += weight * (from_low - to_high);
	}
	*ret_fall = fall;
	return least;
}

/* The same of the worst slowdown. */
static double least_relief(const struct division *division, const double *from, const double *to)
{
	double before = 1, after = 1, after_all = 1, slowed;

	for (size_t i = 0; i < division->list->n; i++) {
		const struct mtl_demand *demand = division->list->demands[i];
		double all_low, all_high, from_low, to_high;

		mtl_demand_misses(demand, division->cache.bytes, &all_low, &all_high);
		mtl_demand_misses(demand, from[i], &from_low, NULL);
		mtl_demand_misses(demand, to[i], NULL, &to_high);
		before = fmax(
		        before, mtl_slowdown(demand->work, from_low, fmin(all_high, from_low)));
		slowed = mtl_slowdown(demand->work, to_high, all_low);
		after_all = fmax(after_all, slowed);
		if (to[i] < from[i])
			after = fmax(after, slowed);
	}
	return fmax(fmin(before - after, 0), before - after_all);
}

struct division_gain mtl_division_gain(const struct division *division,
        const struct division_state *from, const struct division_state *to)
{
	struct division_gain gain;
	double back;

	if (division->objective == MTL_FAIR)
		return (struct division_gain){from->worst - to->worst,
		        least_relief(division, from->bytes, to->bytes),
		        -least_relief(division, to->bytes, from->bytes)};
	gain.least = least_fall(division, from->bytes, to->bytes, &gain.gain);
	gain.most = -least_fall(division, to->bytes, from->bytes, &back);
	return gain;
}

double mtl_division_value(const struct division *division, const struct division_state *state)
{
	return division->objective == MTL_FAIR ? state->worst : state->total;
}

size_t mtl_division_robbed(const struct division *division, const struct division_state *state)
{
	size_t i = 0;

	while (i < division->list->n &&
	        state->misses[i] <= division->equal.misses[i] * (1 + ROUNDING))
		i++;
	return i;
}

/* `fair` is about misses too, where the worst slowdown is the same. */
static bool is_better_than_equal(const struct division *division)
{
	double fewer = division->equal.total - division->chosen.total;

	return division->over_equal.gain > mtl_division_rounding(division) ||
	       (division->objective == MTL_FAIR && division->over_equal.gain >= 0 &&
	               fewer > ROUNDING * division->equal.total);
}

/* By so much. */
static bool beats_undivided(const struct division *division, double gain)
{
	bool no_rival = division->objective == MTL_GUARANTEE &&
	                mtl_division_robbed(division, &division->whole) < division->list->n;

	return gain > mtl_division_rounding(division) || no_rival;
}

enum division_advice mtl_division_advice(const struct division *division)
{
	double equal_gain = mtl_division_value(division, &division->whole) -
	                    mtl_division_value(division, &division->equal);

	if (is_better_than_equal(division) && beats_undivided(division, division->over_whole.gain))
		return ADVICE_DIVISION;
	return beats_undivided(division, equal_gain) ? ADVICE_EQUAL_SHARES : ADVICE_UNDIVIDED;
}

bool mtl_division_is_worth_it(const struct division *division)
{
	enum division_advice advice = mtl_division_advice(division);

	return advice == ADVICE_DIVISION ||
	       (advice == ADVICE_EQUAL_SHARES &&
	               division->over_equal.gain >= -mtl_division_rounding(division));
}

static void gain_text(const struct division *division, const struct division_gain *gain,
        char *ret_text, size_t size)
{
	char likely[NUMBER_TEXT], least[NUMBER_TEXT], most[NUMBER_TEXT];

	if (division->objective == MTL_FAIR)
		snprintf(ret_text, size,
		        "%s%s less of the worst slowdown, or anything from -%s to %s",
		        gain->gain < 0 ? "-" : "", mtl_ratio_format(fabs(gain->gain), likely),
		        mtl_ratio_format(fabs(gain->least), least),
		        mtl_ratio_format(gain->most, most));
	else
		snprintf(ret_text, size, "%s %s fewer, or anything from %s to %s",
		        mtl_count_format(gain->gain, likely), mtl_demands_unit(division->list),
		        mtl_count_format(gain->least, least), mtl_count_format(gain->most, most));
}

/* "11, 5" */
static void ways_text(const struct division *division, char *ret_text, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < division->list->n && at < size; i++)
		at += (size_t)snprintf(
		        ret_text + at, size - at, "%s%u", i ? ", " : "", division->ways[i]);
}

static int too_uncertain(const struct division *division, char *ret_error, size_t error_size)
{
	char equal[200], whole[200], ways[200];

	gain_text(division, &division->over_equal, equal, sizeof(equal));
	gain_text(division, &division->over_whole, whole, sizeof(whole));
	ways_text(division, ways, sizeof(ways));
	snprintf(ret_error, error_size,
	        "the curves are too uncertain to tell whether the best division (%s ways) is "
	        "better: than an equal share, %s; than the cache undivided, %s; observe for longer",
	        ways, equal, whole);
	return -ENODATA;
}

void mtl_division_compare(struct division *division)
{
	division->over_equal = mtl_division_gain(division, &division->equal, &division->chosen);
	division->over_whole = mtl_division_gain(division, &division->whole, &division->chosen);
}

int mtl_division_certain(const struct division *division, char *ret_error, size_t error_size)
{
	return uncertain(division, &division->over_equal) ||
	                       uncertain(division, &division->over_whole)
	               ? too_uncertain(division, ret_error, error_size)
	               : 0;
}

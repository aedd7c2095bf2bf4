/* SPDX-License-Identifier: MIT */
/*
 * Deadlines: their mean, how far they lean on short ones for the budget there is, how the longest
 * follows what an estimate says, and what comes of it for a curve (timed.h).
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "candidate.h"
#include "deadlines.h"
#include "simulate.h"
#include "timed.h"

#define RESOLUTION 50e-6
#define CAP 2.0
#define CACHE (32 << 20)

static double mean_drawn(const struct planner_deadlines *law, unsigned n, double *ret_deviation)
{
	unsigned short random[3] = {1, 2, 3};
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < n; i++) {
		double deadline = candidate_deadline(law, random);

		sum += deadline;
		squares += deadline * deadline;
	}
	*ret_deviation = sqrt(fmax(squares / n - sum / n * sum / n, 0) / n);
	return sum / n;
}

static void the_mean_is_that_of_what_is_drawn(void **state)
{
	static const struct planner_deadlines laws[] = {
	        {1e-3, 64e-3, 1, 0},
	        {1e-3, 64e-3, 1, 0.3},
	        {1e-3, 64e-3, 1, 0.999999},
	        {1e-3, 64e-3, 1, 1},
	        {1e-3, 64e-3, 64e-3, 0.5}, /* no tail */
	        {1e-3, 1e-3, 1e-3, 0.5},   /* all alike */
	        {1e-4, 2, 2, 1},
	};
	(void)state;

	for (unsigned i = 0; i < sizeof(laws) / sizeof(*laws); i++) {
		double deviation, drawn = mean_drawn(&laws[i], 100000, &deviation);
		double mean = candidate_deadline_mean(&laws[i]);

		if (!(fabs(drawn - mean) <= 4 * deviation + 1e-9 * mean))
			fail_msg("law %u: %g drawn, %g said", i, drawn, mean);
	}
}

/* By hand: 63 / ln 64 of the shortest, and ln 64 x 64 / 63 of it. */
static void means_of_the_two_ends(void **state)
{
	struct planner_deadlines law = {1, 64, 64, 0};
	(void)state;

	assert_true(fabs(candidate_deadline_mean(&law) - 63 / log(64)) < 1e-9);
	law.lean = 1;
	assert_true(fabs(candidate_deadline_mean(&law) - 64 / 63.0 * log(64)) < 1e-9);
}

static struct deadlines begun(double watches)
{
	struct deadlines deadlines;

	deadlines_begin(&deadlines, CAP, RESOLUTION);
	deadlines_afford(&deadlines, watches);
	return deadlines;
}

/* 50 ms at most are 16 ms in the mean when log-uniform, 5.5 ms at a lean of 1. */
static void watches_fill_the_time_that_the_budget_leaves(void **state)
{
	struct deadlines few = begun(10), some = begun(100), many = begun(1000), unknown = begun(0);
	(void)state;

	assert_true(few.now.lean < 1e-5 && unknown.now.lean < 1e-5);
	assert_true(fabs(deadlines_mean(&some) * 100 - 0.85) < 1e-3);
	assert_true(some.now.lean > 0.2 && some.now.lean < 0.8);
	assert_true(many.now.lean > 1 - 1e-5);
}

/* Where the time of a watch is nearly all that it costs, short ones buy more. */
static void length_that_costs_leans_on_short_ones(void **state)
{
	struct deadlines free = begun(10), some = begun(10), dear = begun(10);
	double part;
	(void)state;

	deadlines_price(&some, 60e-3, 1e-3, 1);
	deadlines_afford(&some, 10);
	deadlines_price(&dear, 1, 1e-6, 1000);
	deadlines_afford(&dear, 10);
	assert_true(free.now.lean < 1e-5 && dear.now.lean > 0.999);
	part = 60 * deadlines_mean(&some) / (1 + 60 * deadlines_mean(&some));
	assert_true(fabs(some.now.lean - part) < 1e-3 && part > 0.2 && part < 0.8);
}

/* Of a second's budget of 10 ms and a time that costs half of it, no watch lasts longer than a few
 * times 20 ms; and when it costs nothing any more they may be as long as ever. */
static void no_watch_costs_more_than_some_seconds_budget(void **state)
{
	struct deadlines deadlines = begun(10);
	double limit = deadlines.now.limit;
	(void)state;

	deadlines_price(&deadlines, 0.5, 3e-4, 0.01);
	assert_true(deadlines.now.limit >= 0.02 && deadlines.now.limit <= 0.1);
	assert_true(deadlines.now.longest <= deadlines.now.limit);
	deadlines_price(&deadlines, 0, 3e-4, 0.01);
	deadlines_reconsider(&deadlines);
	assert_true(deadlines.now.limit == limit);
}

/* What an estimate says of the windows asked for, and how far it is to be trusted. */
static void adapt(struct deadlines *deadlines, double growth, double trusted, double fill)
{
	struct mtl_curve_point point = {.fill_time_seconds = fill};
	struct mtl_footprint_point footprint[2] = {{.bytes = 1e6}, {.bytes = 1e6 * (1 + growth)}};
	const struct mtl_curve curve = {.points = &point,
	        .n_points = 1,
	        .footprint = footprint,
	        .n_footprint = 2,
	        .footprint_window_seconds = trusted};

	deadlines_adapt(deadlines, &curve);
}

static void questions_are_about_trusted_windows(void **state)
{
	struct deadlines deadlines = begun(1000);
	double windows[2], size, longest = deadlines.now.longest;
	(void)state;

	deadlines_questions(&deadlines, CACHE, windows, &size);
	assert_true(windows[1] == longest && windows[0] == longest / 4 && size == 2 * CACHE);
	adapt(&deadlines, 0.02, longest / 8, INFINITY);
	deadlines_questions(&deadlines, CACHE, windows, &size);
	assert_true(windows[1] == longest / 8 && windows[0] == longest / 32);
	deadlines_reconsider(&deadlines);
	deadlines_questions(&deadlines, CACHE, windows, &size);
	assert_true(windows[1] == longest);
}

/* Many short watches: it has to be seen near the longest. Few long ones: no time for that. */
static void what_grows_is_watched_longer(void **state)
{
	struct deadlines many = begun(1000), few = begun(10);
	double longest = many.now.longest;
	(void)state;

	adapt(&many, 0.5, longest / 2, INFINITY);
	assert_true(many.now.longest == longest);
	adapt(&many, 0.5, longest * 0.8, INFINITY);
	assert_true(many.now.longest == 1.5 * longest);
	adapt(&few, 0.5, longest / 4, INFINITY);
	assert_true(few.now.longest == 1.5 * longest);
}

static void what_stands_is_watched_shorter(void **state)
{
	struct deadlines deadlines = begun(1000);
	double longest = deadlines.now.longest;
	(void)state;

	adapt(&deadlines, 0.02, longest, INFINITY);
	assert_true(deadlines.now.longest == longest);
	adapt(&deadlines, 0, longest, INFINITY);
	assert_true(fabs(deadlines.now.longest / longest - 0.8) < 1e-9);
	assert_true(deadlines.now.lean > 0.99); /* and as short as before for its length */
}

/* Once there is the time for as many long watches as short ones, shorter ones gain nothing. */
static void but_not_where_there_is_time(void **state)
{
	struct deadlines deadlines = begun(1000), crowded = begun(1e6);
	double longest = deadlines.now.longest;
	(void)state;

	for (unsigned i = 0; i < 100; i++) {
		adapt(&deadlines, 0, longest, INFINITY);
		adapt(&crowded, 0, longest, INFINITY);
	}
	assert_true(deadlines.now.lean < 0.01);
	assert_true(1000 * deadlines_mean(&deadlines) < 0.86);
	assert_true(1000 * deadlines_mean(&deadlines) > 0.8 * 0.84);
	assert_true(fabs(crowded.now.longest - 40 * RESOLUTION) < 1e-12);
	assert_true(crowded.now.shortest == RESOLUTION);
}

static void three_fill_times(void **state)
{
	struct deadlines deadlines = begun(100);
	(void)state;

	for (unsigned i = 0; i < 100; i++)
		adapt(&deadlines, 0.5, deadlines.now.longest, 0.1);
	assert_true(fabs(deadlines.now.longest - 0.3) < 1e-3);
	assert_true(deadlines.now.limit == CAP);
}

static double mean_error(const struct timed_terms *terms, unsigned runs)
{
	const struct program *zipf = program_named("zipf");
	const double seconds = 20;
	double sum = 0;

	for (unsigned run = 0; run < runs; run++) {
		struct timed timed;

		assert_int_equal(timed_run(zipf, terms, run + 1, &seconds, 1, &timed), 0);
		sum += timed.error / runs;
	}
	return sum;
}

/* Zipf after 20 s: 0.08, and 0.11 with deadlines log-uniform whatever the budget pays for. */
static void short_watches_are_worth_it(void **state)
{
	const struct timed_terms ours = {.watches = 150, .lean = NAN}, uniform = {.watches = 150};
	const unsigned runs = sim_runs(16);
	(void)state;

	double error = mean_error(&ours, runs), before = mean_error(&uniform, runs);

	if (RUNNING_ON_VALGRIND)
		return;
	if (error > 0.1 || error > before)
		fail_msg("%.3f, log-uniform %.3f", error, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_mean_is_that_of_what_is_drawn),
	        cmocka_unit_test(means_of_the_two_ends),
	        cmocka_unit_test(watches_fill_the_time_that_the_budget_leaves),
	        cmocka_unit_test(length_that_costs_leans_on_short_ones),
	        cmocka_unit_test(no_watch_costs_more_than_some_seconds_budget),
	        cmocka_unit_test(questions_are_about_trusted_windows),
	        cmocka_unit_test(what_grows_is_watched_longer),
	        cmocka_unit_test(what_stands_is_watched_shorter),
	        cmocka_unit_test(but_not_where_there_is_time),
	        cmocka_unit_test(three_fill_times),
	        cmocka_unit_test(short_watches_are_worth_it),
	};

	return cmocka_run_group_tests(tests, programs_setup, programs_teardown);
}

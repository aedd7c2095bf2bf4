/* SPDX-License-Identifier: MIT */
/*
 * Reuse times sampled at misses: the curve they make is the exact one, of programs played with a
 * PMU's flaws (played.h); and what goes wrong without the miss filter.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "cleanup.h"
#include "footprint.h"
#include "played.h"
#include "simulate.h"

DEFINE_CLEANUP(struct played, played_free)
DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

#define WORDS 8
#define ACCESSES 160000
#define OBSERVATIONS 2000
#define SIZES 12

/* --- the footprint of gaps */

static void gaps_add_up(void **state)
{
	const struct mtl_grid grid = {4, {0.5, 1, 2, 4}};
	const double coverage[] = {0, 0, 0.5, 0.75};
	const struct mtl_visits visits = {.small = 100, .rate = 40, .quiet = 1};
	struct mtl_footprint f, majorant;
	(void)state;

	mtl_footprint_from_gaps(&grid, coverage, &visits, 3, &f);
	assert_int_equal(f.n, 5);
	assert_true(f.lines[0] == 0 && f.lines[1] == 50 && f.lines[2] == 100);
	assert_true(f.lines[3] == 100 + 40 * 0.75 && f.lines[4] == f.lines[3] + 40 * 2 * 0.375);
	assert_true(f.birth_rate == 3);
	mtl_majorant_from_footprint(&f, &majorant);
	for (size_t i = 0; i < f.n; i++)
		assert_true(mtl_footprint_at(&majorant, f.window[i]) == f.lines[i]);
}

/* The fill time need not be a window of the grid, nor coverage be a distribution function. */
static void between_windows(void **state)
{
	const struct mtl_grid grid = {2, {1, 3}};
	const double rising[] = {0.5, 0.25};
	const struct mtl_visits visits = {.small = 100, .rate = 10, .quiet = 2};
	struct mtl_footprint f;
	(void)state;

	mtl_footprint_from_gaps(&grid, rising, &visits, 0, &f);
	assert_true(f.lines[1] == 50 && f.lines[2] == 100 + 10 * 0.5);
}

/* --- programs */

static void scan(uint64_t *words, size_t i, uint64_t *random)
{
	(void)random;
	words[i] = i % (2000 * WORDS);
}

/* Every fourth access goes to one of 4000 lines, the others to 20 in turn. */
static void hot_and_cold(uint64_t *words, size_t i, uint64_t *random)
{
	words[i] =
	        i % 4 ? i % (20 * WORDS) : WORDS * (100 + (uint64_t)(4000 * sim_uniform(random)));
}

/* Lines by popularity, four words of each in turn. */
static void skewed(uint64_t *words, size_t i, uint64_t *random)
{
	words[i] = i % 4 ? words[i - 1] + 1 : WORDS * (uint64_t)pow(5000, sim_uniform(random));
}

typedef void program(uint64_t *words, size_t i, uint64_t *random);

static struct played *play(program *program)
{
	_cleanup_free_ uint64_t *words = calloc(ACCESSES, sizeof(*words));
	uint64_t random = 77;
	struct played *played;

	assert_non_null(words);
	for (size_t i = 0; i < ACCESSES; i++)
		program(words, i, &random);
	assert_int_equal(played_new(words, ACCESSES, &played), 0);
	return played;
}

static struct played_pmu pmu_of(double delay, double lines)
{
	return (struct played_pmu){
	        .period = 101,
	        .skid = 3,
	        .zero = 0.05,
	        .dropped = 0.05,
	        .delay = delay,
	        .lines = lines,
	        .slots = MTL_SLOTS_MAX,
	        .shortest = 2 * delay,
	        .longest = 1.5 * ACCESSES,
	};
}

/* Mean error over sizes from 4 x the footprint of the delay up to all lines. */
static double error_of(const struct played *played, const struct played_pmu *pmu, double small)
{
	static struct mtl_observation observations[OBSERVATIONS];
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	double sizes[SIZES], least = 4 * played_footprint(played, pmu->delay), rate, error = 0;
	struct mtl_estimate_options options = sim_options();
	struct played_counts counts;
	unsigned n = sim_runs(OBSERVATIONS);

	played_at_samples(played, pmu, 5, observations, n, NULL, NULL, &rate, &counts);
	assert_int_equal(counts.watched, n);
	assert_int_equal(counts.produced,
	        counts.zero + counts.dropped + counts.busy + counts.turned + counts.watched);
	assert_true(counts.turned > counts.produced / 10);
	for (unsigned i = 0; i < SIZES; i++)
		sizes[i] = MTL_LINE_BYTES *
		           floor(least * pow(played_lines(played) / least, (double)i / SIZES));
	options.sizes = sizes;
	options.n_sizes = SIZES;
	options.now = observations[n - 1].moment + observations[n - 1].deadline;
	options.resolution_seconds = pmu->delay;
	options.miss_cache_bytes = MTL_LINE_BYTES * small;
	options.misses_per_second = rate;
	assert_int_equal(
	        mtl_curve_from_observations(observations, n, NULL, 0, &options, &curve), 0);
	for (unsigned i = 0; i < SIZES; i++) {
		double truth = played_miss_ratio(played, sizes[i] / MTL_LINE_BYTES);
		const struct mtl_curve_point *point = &curve->points[i];

		assert_true(point->low <= point->misses_per_second &&
		            point->misses_per_second <= point->high);
		error += fabs(point->misses_per_second - truth) / SIZES;
	}
	return error;
}

static void expect_exact(program *program, double delay)
{
	_cleanup_(played_freep) struct played *played = play(program);
	double small = played_footprint(played, delay);
	const struct played_pmu pmu = pmu_of(delay, small);
	double error = error_of(played, &pmu, small);

	if (error > 0.02 * sim_slack())
		fail_msg("the mean error is %.4f", error);
}

static void programs_are_exact(void **state)
{
	(void)state;

	expect_exact(scan, 300);
	expect_exact(hot_and_cold, 300);
	expect_exact(skewed, 300);
}

/* A scan of 8 words a line misses 1 access of 8. Sampled at any access and armed late, seven of
 * eight samples see the line gone for a whole round, as if it had missed then. */
static void late_arming_without_the_filter_is_biased(void **state)
{
	_cleanup_(played_freep) struct played *played = play(scan);
	double small = played_footprint(played, 300);
	const struct played_pmu unfiltered = pmu_of(300, 0);
	(void)state;

	assert_true(fabs(played_miss_ratio(played, 1000) - 0.125) < 0.01);
	assert_true(error_of(played, &unfiltered, small) > 0.8);
}

static void refusals(void **state)
{
	static struct mtl_observation observations[MTL_OBSERVATIONS_NEEDED];
	uint64_t random = 3;
	struct mtl_curve *curve;
	(void)state;

	sim_observe_all(&random, sim_scan, 4, 1000, observations, MTL_OBSERVATIONS_NEEDED);
	const double pairs[][3] = {
	        {100, 0, 1}, {0, 100, 1}, {-1, 5, 1}, {5, NAN, 1}, {INFINITY, 5, 1}, {5, 5, 0}};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct mtl_estimate_options options = sim_options();

		options.miss_cache_bytes = pairs[i][0];
		options.misses_per_second = pairs[i][1];
		options.resolution_seconds *= pairs[i][2];
		assert_int_equal(mtl_curve_from_observations(observations, MTL_OBSERVATIONS_NEEDED,
		                         NULL, 0, &options, &curve),
		        -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(gaps_add_up),
	        cmocka_unit_test(between_windows),
	        cmocka_unit_test(programs_are_exact),
	        cmocka_unit_test(late_arming_without_the_filter_is_biased),
	        cmocka_unit_test(refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

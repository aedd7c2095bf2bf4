/* SPDX-License-Identifier: MIT */
/*
 * Horvitz-Thompson: the mean of weight x indicator is the number of lines, within 4 standard errors
 * from independent batches of draws.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "planner_fixture.h"
#include "simulate.h"

typedef bool subset(uint64_t page);

static bool all_of_it(uint64_t page)
{
	return is_resident(page);
}

static bool odd_pages(uint64_t page)
{
	return is_resident(page) && page % 2;
}

static bool sparse_regions(uint64_t page)
{
	return is_resident(page) && page < LIBRARY_PAGE && page / REGION % 4 == 1;
}

static bool library_pages(uint64_t page)
{
	return is_resident(page) && page >= LIBRARY_PAGE;
}

static bool filled_regions(uint64_t page)
{
	return is_resident(page) && page < LIBRARY_PAGE && page / REGION % 4 == 3;
}

static double lines_of(subset *of)
{
	double n = 0;

	for (unsigned i = 0; i < HEAP_PAGES; i++)
		n += of(HEAP_PAGE + i);
	for (unsigned i = 0; i < LIBRARY_PAGES; i++)
		n += of(LIBRARY_PAGE + i);
	return n * LINES;
}

#define BATCHES 40

/* precision: the bound must not be wider than this part of the truth. */
static void assert_estimates(const double means[BATCHES], double truth, double precision)
{
	double mean = 0, square = 0, error;

	for (unsigned i = 0; i < BATCHES; i++)
		mean += means[i] / BATCHES;
	for (unsigned i = 0; i < BATCHES; i++)
		square += (means[i] - mean) * (means[i] - mean);
	error = 4 * sqrt(square / (BATCHES - 1) / BATCHES);
	if (fabs(mean - truth) > error || error > precision * truth)
		fail_msg("%.0f +- %.0f lines, but there are %.0f", mean, error, truth);
}

static void assert_unbiased(
        struct planner *planner, subset *const *subsets, unsigned n, unsigned draws)
{
	static double means[4][BATCHES];

	draws = RUNNING_ON_VALGRIND ? draws / 8 : draws;
	memset(means, 0, sizeof(means));
	for (unsigned i = 0; i < BATCHES * draws; i++) {
		struct candidate c = draw(planner, 4, false);

		for (unsigned k = 0; k < n; k++)
			if (subsets[k](c.address[0] / PAGE))
				means[k][i / draws] += c.weight / draws;
	}
	for (unsigned k = 0; k < n; k++)
		assert_estimates(means[k], lines_of(subsets[k]), 0.2 * sim_slack());
}

static void weights_are_unbiased(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(7);
	subset *const subsets[] = {all_of_it, odd_pages, sparse_regions, library_pages};

	(void)state;
	assert_unbiased(planner, subsets, 4, 1000);
}

/* So are those of the cheaper draws, as long as nothing changes. */
static void weights_of_quick_draws_are_unbiased(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(8);
	subset *const subsets[] = {all_of_it, odd_pages, sparse_regions, library_pages};

	(void)state;
	planner_set_settled(planner, true);
	assert_unbiased(planner, subsets, 4, 1000);
}

/* The very first ones too, though many draws meet a region without pages. */
static void first_weights_are_unbiased(void **state)
{
	static double means[BATCHES];
	const unsigned planners = RUNNING_ON_VALGRIND ? 3 : 25, draws = 40;

	(void)state;
	memset(means, 0, sizeof(means));
	for (unsigned i = 0; i < BATCHES * planners; i++) {
		_cleanup_(planner_freep) struct planner *planner = surveyed(100 + 7919 * i);

		for (unsigned k = 0; k < draws; k++)
			means[i / planners] += draw(planner, 4, false).weight / draws / planners;
	}
	assert_estimates(means, lines_of(all_of_it), 0.02 * sim_slack());
}

/* How often a draw meets nothing is learnt from the draws: give it time to forget. */
static void learn_of_change(struct planner *planner)
{
	for (unsigned i = 0; i < 4096; i++)
		draw(planner, 4, false);
}

static void unbiased_when_regions_were_emptied(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(9);
	subset *const subsets[] = {all_of_it, odd_pages, sparse_regions, library_pages};

	(void)state;
	for (unsigned i = 0; i < HEAP_REGIONS; i += 8) {
		set_heap(i, 0, 1, false);     /* half of the full ones */
		set_heap(i + 1, 0, 1, false); /* half of the sparse ones */
		set_heap(i + 4, 1, 2, false); /* half of the pages of the other full ones */
	}
	learn_of_change(planner);
	assert_unbiased(planner, subsets, 4, 1000);
}

static void unbiased_when_regions_were_filled(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(10);
	subset *const subsets[] = {all_of_it, odd_pages, sparse_regions, filled_regions};

	(void)state;
	for (unsigned i = 3; i < HEAP_REGIONS; i += 8)
		set_heap(i, 0, 1, true);
	learn_of_change(planner);
	assert_unbiased(planner, subsets, 4, 4000);
}

static void unbiased_when_all_of_it_moved(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(11);
	subset *const subsets[] = {all_of_it, odd_pages, sparse_regions, filled_regions};

	(void)state;
	for (unsigned i = 0; i < HEAP_REGIONS; i += 4) {
		set_heap(i, 0, 1, false);
		set_heap(i + 1, 0, 1, true);
		set_heap(i + 3, 1, 3, true);
	}
	learn_of_change(planner);
	assert_unbiased(planner, subsets, 4, 2000);
}

/* ---- heat ---- */

static void observe(struct planner *planner, const struct candidate *candidate, double moment, bool hit)
{
	struct mtl_observation observation = {
	        .moment = moment,
	        .weight = candidate->weight,
	        .slots = 1,
	        .touched = {hit ? 0.001 : INFINITY},
	};

	planner_saw(planner, candidate->address[0], &observation);
}

static bool hot(uint64_t page)
{
	return is_resident(page) && page / 64 % 160 == 3;
}

/* Misled on purpose: told of the wrong places, and of some that are not mapped, then shown touches. */
static void heated(struct planner *planner)
{
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(planner_heat(planner, (HEAP_PAGE + 37 * i) * PAGE, 1 + i), 0);
		assert_int_equal(planner_heat(planner, 0x123456789000 + i * PAGE, 1), 0);
	}
	for (unsigned i = 0; i < 2000; i++) {
		struct candidate c = draw(planner, 4, false);

		observe(planner, &c, i * 0.01, hot(c.address[0] / PAGE));
	}
}

static void heat_leaves_weights_unbiased(void **state)
{
	subset *const subsets[] = {all_of_it, odd_pages, sparse_regions, hot};

	(void)state;
	for (unsigned settled = 0; settled < 2; settled++) {
		_cleanup_(planner_freep) struct planner *planner = surveyed(12 + settled);

		planner_set_settled(planner, settled);
		heated(planner);
		assert_unbiased(planner, subsets, 4, 1000);
	}
}

/* Every draw depends on what all before it have seen: the sum is unbiased all the same. */
static void unbiased_while_heat_is_learnt(void **state)
{
	static double means[BATCHES];
	const unsigned planners = RUNNING_ON_VALGRIND ? 1 : 8, draws = 400;

	(void)state;
	memset(means, 0, sizeof(means));
	for (unsigned i = 0; i < BATCHES * planners; i++) {
		_cleanup_(planner_freep) struct planner *planner = surveyed(900 + 7919 * i);

		for (unsigned k = 0; k < draws; k++) {
			struct candidate c = draw(planner, 4, false);
			bool hit = hot(c.address[0] / PAGE);

			observe(planner, &c, k * 0.01, hit);
			means[i / planners] += hit * c.weight / draws / planners;
		}
	}
	assert_estimates(means, lines_of(hot), 0.2 * sim_slack());
}

/* What is touched is drawn more often than its share of memory. */
static void heat_finds_what_is_hot(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(15);
	unsigned hits = 0, draws = 2000;

	(void)state;
	heated(planner);
	for (unsigned i = 0; i < draws; i++)
		hits += hot(draw(planner, 4, false).address[0] / PAGE);
	assert_true(hits > 5 * draws * lines_of(hot) / lines_of(all_of_it));
}

static void amounts_are_positive(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(16);
	const double bad[] = {0, -1, NAN, INFINITY};

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(planner_heat(planner, HEAP_PAGE * PAGE, bad[i]), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        on_process(weights_are_unbiased),
	        on_process(weights_of_quick_draws_are_unbiased),
	        on_process(first_weights_are_unbiased),
	        on_process(unbiased_when_regions_were_emptied),
	        on_process(unbiased_when_regions_were_filled),
	        on_process(unbiased_when_all_of_it_moved),
	        on_process(heat_leaves_weights_unbiased),
	        on_process(unbiased_while_heat_is_learnt),
	        on_process(heat_finds_what_is_hot),
	        on_process(amounts_are_positive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

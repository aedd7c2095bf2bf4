/* SPDX-License-Identifier: MIT */
/* Heat alone: its probabilities are probabilities, and its shares follow what was seen. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "heat.h"
#include "simulate.h"

#define FIRST 0x7f00000100ULL
#define REGIONS 40

static struct regions regions;
static struct heat heat;

/* Regions of all sizes, with gaps between; of each a part is resident. */
static int setup(void **state)
{
	uint64_t page = FIRST;

	(void)state;
	regions_clear(&regions);
	for (unsigned i = 0; i < REGIONS; i++) {
		uint64_t pages = i % 3 ? REGION_PAGES : 7 + i;

		if (regions_add(&regions, page, page + pages) < 0)
			return -1;
		page += pages + i % 2 * 300;
	}
	for (unsigned i = 0; i < regions.n; i++)
		regions.items[i].resident = (regions.items[i].pages + 1) * (i % 4) / 4;
	regions_sum(&regions);
	heat_begin(&heat);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	regions_done(&regions);
	return 0;
}

/* The first pages of each region are the resident ones. */
static double present(const struct region *region, struct heat_block block)
{
	uint64_t end = region->page + region->resident, first = block.first;

	end = end < block.end ? end : block.end;
	return end > first ? end - first : 0;
}

static double probability(const struct region *region, uint64_t page)
{
	struct heat_place place = {.page = page, .region = region, .in_region = region->resident};

	for (unsigned scale = 0; scale < HEAT_FINE; scale++)
		place.in_block[scale] = present(region, heat_block(scale, page, region));
	return heat_probability(&heat, &regions, &place);
}

static double sum_of_probabilities(void)
{
	double sum = 0;

	for (unsigned i = 0; i < regions.n; i++)
		for (unsigned k = 0; k < regions.items[i].resident; k++)
			sum += probability(&regions.items[i], regions.items[i].page + k);
	return sum;
}

/* Draws end at a resident page, or at a region without any. */
static void assert_probabilities(void)
{
	double misses = heat.share[HEAT_ANY_REGION] * (regions.n - regions.n_resident) / regions.n;
	double shares = 0;

	for (unsigned way = 0; way < HEAT_WAYS; way++)
		shares += heat.share[way];
	assert_true(fabs(shares - 1) < 1e-9);
	assert_true(fabs(sum_of_probabilities() + misses - 1) < 1e-9);
}

static uint64_t resident_page(uint64_t *random)
{
	uint64_t nth = sim_uniform(random) * regions.resident;
	const struct region *region = regions_nth(&regions, nth);

	return region->page + nth - region->before;
}

static void probabilities_add_up(void **state)
{
	uint64_t random = 1;

	(void)state;
	assert_probabilities();
	for (unsigned i = 0; i < 400; i++) {
		heat_pass(&heat, i * 0.1);
		heat_add(&heat, &regions, i % HEAT_SOURCES, resident_page(&random),
		        1 + 1000 * sim_uniform(&random));
		if (i % 40 == 0) {
			heat_refresh(&heat);
			assert_probabilities();
		}
	}
}

/* Points are picked in proportion to their worth, so that a block's share is its points'. */
static void points_are_picked_by_worth(void **state)
{
	const struct region *region = regions_nth(&regions, 0);

	(void)state;
	heat_add(&heat, &regions, HEAT_TOLD, region->page, 1);
	heat_add(&heat, &regions, HEAT_TOLD, region->page + 1, 3);
	heat_refresh(&heat);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(heat_point(&heat, HEAT_NEAR + HEAT_SCALES, (i + 0.5) / 100),
		        region->page + (i >= 25));
}

/* One of two pages is told of again hours after the other, which was put into the ring last. */
static void an_old_point_does_not_make_new_ones_infinite(void **state)
{
	uint64_t page = regions_nth(&regions, 0)->page;

	(void)state;
	heat_add(&heat, &regions, HEAT_TOLD, page, 1);
	heat_add(&heat, &regions, HEAT_TOLD, page + 1, 1);
	heat_pass(&heat, 1e5);
	heat_add(&heat, &regions, HEAT_TOLD, page, 1);
	heat_refresh(&heat);
	assert_int_equal(heat_point(&heat, HEAT_NEAR + HEAT_SCALES, 0.999), page);
	assert_probabilities();
}

static double share_near(void)
{
	return 1 - heat.share[HEAT_ANY_REGION] - heat.share[HEAT_ANY_PAGE];
}

static double share_fine(void)
{
	double sum = 0;

	for (unsigned scale = 0; scale < HEAT_FINE; scale++)
		sum += heat.share[HEAT_NEAR + scale];
	return sum;
}

static void touch(uint64_t page, double lines)
{
	heat_add(&heat, &regions, HEAT_TOUCHED, page, lines);
	if (heat.news >= 8)
		heat_refresh(&heat);
}

/* Touches close together: draws go near them. Touches all over: they do not. */
static void shares_follow_the_evidence(void **state)
{
	uint64_t random = 2, hot = resident_page(&random);

	(void)state;
	for (unsigned i = 0; i < 2 * HEAT_POINTS; i++)
		touch(hot, 100);
	assert_true(share_near() > 0.7);
	heat_begin(&heat);
	for (unsigned i = 0; i < 200; i++)
		touch(resident_page(&random), 100);
	assert_true(share_fine() < 0.1); /* 512 MiB is all there is */
}

static void no_page_is_invisible(void **state)
{
	uint64_t random = 3, hot = resident_page(&random);
	double least = 1;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		touch(hot, 1);
	for (unsigned i = 0; i < regions.n; i++)
		if (regions.items[i].resident)
			least = fmin(least, probability(&regions.items[i], regions.items[i].page));
	assert_true(least >= 0.19 / regions.resident);
}

/* Evidence fades: the newer of two hot places takes over. */
static void phases_are_followed(void **state)
{
	const struct region *last = regions_nth(&regions, regions.resident - 1);
	const struct region *first = regions_nth(&regions, 0);

	(void)state;
	for (unsigned i = 0; i < 60; i++)
		touch(first->page, 100);
	heat_pass(&heat, 40);
	for (unsigned i = 0; i < 60; i++)
		touch(last->page, 100);
	heat_refresh(&heat);
	assert_true(probability(last, last->page) > 10 * probability(first, first->page));
}

static void what_is_not_mapped_is_no_heat(void **state)
{
	(void)state;
	heat_add(&heat, &regions, HEAT_TOLD, FIRST - 1, 1);
	heat_add(&heat, &regions, HEAT_TOUCHED, UINT64_MAX / 4096, 1);
	heat_refresh(&heat);
	assert_true(share_near() < 1e-9);
	assert_probabilities();
}

#define with_regions(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        with_regions(probabilities_add_up),
	        with_regions(points_are_picked_by_worth),
	        with_regions(an_old_point_does_not_make_new_ones_infinite),
	        with_regions(shares_follow_the_evidence),
	        with_regions(no_page_is_invisible),
	        with_regions(phases_are_followed),
	        with_regions(what_is_not_mapped_is_no_heat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

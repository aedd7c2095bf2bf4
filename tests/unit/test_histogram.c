/* SPDX-License-Identifier: MIT */
/* Log-linear histograms against the values themselves. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "histogram.h"
#include "simulate.h"

#define VALUES 400

/* Every bin starts where the one before ends, and holds the values it says. */
static void bins_follow_each_other(void **state)
{
	(void)state;

	for (unsigned i = 0; i + 1 < HISTOGRAM_BINS; i++) {
		uint64_t low = mtl_histogram_lower(i) + 1;
		uint64_t high = mtl_histogram_lower(i) + mtl_histogram_width(i);

		assert_true(mtl_histogram_lower(i + 1) == high);
		assert_int_equal(mtl_histogram_bin_of(low), i);
		assert_int_equal(mtl_histogram_bin_of(high), i);
		if (high <= 512) /* the seed's octaves: exact up to 512 */
			assert_true(low == high);
		assert_true((double)(high - low + 1) <= fmax(1, (double)low / 256));
	}
	assert_int_equal(mtl_histogram_bin_of(MTL_NEVER - 1), HISTOGRAM_BINS - 1);
}

struct truth {
	double above, excess, shortfall;
};

static struct truth count(const uint64_t *values, size_t n, double x)
{
	struct truth truth = {0};

	for (size_t i = 0; i < n; i++) {
		truth.above += (double)values[i] > x;
		truth.excess += fmax((double)values[i] - x, 0);
		truth.shortfall += fmax(x - (double)values[i], 0);
	}
	return truth;
}

static void compare(struct mtl_histogram *h, const uint64_t *values, size_t n, double x)
{
	struct truth truth = count(values, n, x);
	double rounding = 1e-12 * (truth.excess + truth.shortfall) + 1e-9;

	assert_true(fabs(mtl_histogram_above(h, x) - truth.above) <=
	            mtl_histogram_above_error(h, x) + 1e-9);
	assert_true(fabs(mtl_histogram_excess(h, x) - truth.excess) <=
	            mtl_histogram_excess_error(h, x) + rounding);
	assert_true(fabs(mtl_histogram_shortfall(h, x) - truth.shortfall) <=
	            mtl_histogram_excess_error(h, x) + rounding);
}

static uint64_t draw(uint64_t *random, double octaves)
{
	return (uint64_t)exp2(octaves * sim_uniform(random));
}

static void questions_are_answered_within_bounds(void **state)
{
	uint64_t random = 7, values[VALUES];
	(void)state;

	for (unsigned run = 0; run < sim_runs(300); run++) {
		double octaves = 1 + 40 * sim_uniform(&random);
		size_t n = 1 + (size_t)(VALUES * sim_uniform(&random));
		struct mtl_histogram *h;

		assert_int_equal(mtl_histogram_new(&h), 0);
		for (size_t i = 0; i < n; i++) {
			values[i] = draw(&random, octaves);
			mtl_histogram_add(h, values[i], 1);
		}
		for (unsigned i = 0; i < 50; i++) {
			uint64_t x = draw(&random, octaves + 1);
			unsigned bin = mtl_histogram_bin_of(x);
			double end =
			        (double)mtl_histogram_lower(bin) + (double)mtl_histogram_width(bin);

			compare(h, values, n, (double)x);
			compare(h, values, n, (double)x - 0.5);
			assert_true(mtl_histogram_above_error(h, end) == 0);
			assert_true(mtl_histogram_excess_error(h, end) < 1e-9);
		}
		compare(h, values, n, 0);
		compare(h, values, n, -3);
		mtl_histogram_free(h);
	}
}

static void single_values_have_no_error(void **state)
{
	struct mtl_histogram *h;
	(void)state;

	assert_int_equal(mtl_histogram_new(&h), 0);
	for (uint64_t v = 1; v <= 512; v++)
		mtl_histogram_add(h, v, v % 7);
	for (double x = 0; x <= 600; x += 0.25)
		assert_true(mtl_histogram_above_error(h, x) == 0 &&
		            mtl_histogram_excess_error(h, x) == 0);
	assert_true(mtl_histogram_above(h, 511.5) == 512 % 7);
	mtl_histogram_free(h);
}

static void bins_and_infinite(void **state)
{
	struct mtl_histogram *h;
	struct mtl_bin bins[4];
	(void)state;

	assert_int_equal(mtl_histogram_new(&h), 0);
	assert_true(mtl_histogram_above(h, 3) == 0 && mtl_histogram_shortfall(h, 1e9) == 0);
	mtl_histogram_add(h, MTL_NEVER, 5);
	mtl_histogram_add(h, 3, 2);
	mtl_histogram_add(h, 1025, 1);
	mtl_histogram_add(h, 1028, 1);
	mtl_histogram_add(h, 1000000, 1);
	assert_int_equal(mtl_histogram_infinite(h), 5);
	assert_int_equal(mtl_histogram_finite(h), 5);
	assert_int_equal(mtl_histogram_bins(h, bins, 2), 3);
	assert_int_equal(mtl_histogram_bins(h, bins, 4), 3);
	assert_true(bins[0].low == 3 && bins[0].high == 3 && bins[0].count == 2);
	assert_true(bins[1].low == 1025 && bins[1].high == 1028 && bins[1].mean == 1026.5);
	assert_true(bins[2].low <= 1000000 && bins[2].high >= 1000000 && bins[2].mean == 1e6);
	mtl_histogram_add(h, MTL_NEVER - 1, 1);
	assert_int_equal(mtl_histogram_bins(h, bins, 4), 4);
	assert_true(bins[3].high == MTL_NEVER && bins[3].low < bins[3].high);
	mtl_histogram_clear(h);
	assert_int_equal(mtl_histogram_finite(h) + mtl_histogram_infinite(h), 0);
	assert_true(mtl_histogram_excess(h, 0) == 0);
	mtl_histogram_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(bins_follow_each_other),
	        cmocka_unit_test(questions_are_answered_within_bounds),
	        cmocka_unit_test(single_values_have_no_error),
	        cmocka_unit_test(bins_and_infinite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Linear density against every small bin; groups of values against counting them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "linear_density.h"
#include "simulate.h"

#define WIDTHS 60
#define VALUES 400
#define CLOSE 1e-9

/* Count, mean and sign of the density, from its shares: P(v > k) for k = 0 ... width. */
static void assert_density(double width, double mean)
{
	double before = 1, sum = 0, excess = 0;

	for (double k = 0; k < width; k++) {
		double above = mtl_density_above(width, mean, k);
		assert_true(above <= before + CLOSE && above >= -CLOSE);
		assert_true(mtl_density_above(width, mean, k + 0.75) == above);
		before = above;
		sum += above;
	}
	assert_true(fabs(sum - mean) < CLOSE);
	assert_true(mtl_density_above(width, mean, width) == 0);
	for (double k = width; k-- > 0;) {
		double next = excess;
		excess += mtl_density_above(width, mean, k);
		assert_true(fabs(mtl_density_excess(width, mean, k) - excess) < CLOSE);
		assert_true(fabs(mtl_density_excess(width, mean, k + 0.25) -
		                    (0.75 * excess + 0.25 * next)) < CLOSE);
	}
}

static double density_at(double width, double mean, double value)
{
	return mtl_density_above(width, mean, value - 1) - mtl_density_above(width, mean, value);
}

static void density_has_the_mean(void **state)
{
	(void)state;

	for (double width = 1; width <= WIDTHS; width++)
		for (double part = 0; part <= 1; part += 1 / 64.0)
			assert_density(width, 1 + part * (width - 1));
	/* neither does a mean that rounding put outside, nor a large bin, do harm */
	assert_true(mtl_density_above(4, 1 - 1e-12, 1) == 0);
	assert_true(mtl_density_above(4, 4 + 1e-12, 3) == 1);
	assert_true(mtl_density_above(1, 1 + 1e-12, 0) == 1);
	for (double mean = 100; mean < 0x1p50; mean *= 1.7) {
		double above = mtl_density_above(0x1p50, mean, mean);
		assert_true(above > 0.4 && above < 0.6);
	}
}

static void density_is_linear_where_it_can_be(void **state)
{
	(void)state;

	for (double width = 3; width <= WIDTHS; width++)
		for (double part = 1 / 3.0; part <= 2 / 3.0; part += 1 / 96.0) {
			double mean = part * (width + 1), step;
			step = density_at(width, mean, 2) - density_at(width, mean, 1);
			for (double v = 2; v < width; v++)
				assert_true(fabs(density_at(width, mean, v + 1) -
				                    density_at(width, mean, v) - step) < CLOSE);
		}
}

/* All multisets of four values, whose share above x and excess are counted. */
static void density_is_within_its_error(void **state)
{
	(void)state;

	for (unsigned width = 1; width <= 7; width++)
		for (unsigned code = 0; code < width * width * width * width; code++) {
			double v[4], mean = 0;
			for (unsigned i = 0, rest = code; i < 4; i++, rest /= width)
				mean += (v[i] = 1 + rest % width) / 4;
			for (double x = 0; x <= width; x += 0.5) {
				double above = 0, excess = 0;
				for (unsigned i = 0; i < 4; i++) {
					above += v[i] > x ? 0.25 : 0;
					excess += fmax(v[i] - x, 0) / 4;
				}
				above -= mtl_density_above(width, mean, x);
				excess -= mtl_density_excess(width, mean, x);
				assert_true(fabs(above) <=
				            mtl_density_above_error(width, mean, x) + CLOSE);
				assert_true(fabs(excess) <=
				            mtl_density_excess_error(width, mean, x) + CLOSE);
			}
		}
}

/* What values on a and b with this mean can do to the share above k, and to the excess. */
static double two_values_above(double a, double b, double mean, double k)
{
	double share = (mean - a) / (b - a);

	return share < 0 || share > 1 ? NAN : (a > k ? 1 - share : 0) + (b > k ? share : 0);
}

static void density_error_is_attained(void **state)
{
	(void)state;

	for (double width = 3; width <= 20; width++)
		for (double k = 1; k < width; k++)
			for (double mean = 1; mean <= width; mean += 0.125) {
				double above = mtl_density_above(width, mean, k), most = 0;
				for (double a = 1; a < width; a++)
					for (double b = a + 1; b <= width; b++)
						most = fmax(
						        most, fabs(two_values_above(a, b, mean, k) -
						                      above));
				assert_true(fabs(most - mtl_density_above_error(width, mean, k)) <
				            CLOSE);
				double excess = mtl_density_excess(width, mean, k);
				double chord = (mean - 1) / (width - 1) * (width - k);
				most = fmax(chord - excess, excess - fmax(mean - k, 0));
				assert_true(fabs(most - mtl_density_excess_error(width, mean, k)) <
				            CLOSE);
			}
}

/* Few values often, many values seldom, all the same, or over ten octaves, in turn. */
static size_t random_values(uint64_t *random, unsigned kind, uint64_t *values)
{
	size_t n = 1 + (size_t)(sim_uniform(random) * VALUES);

	for (size_t i = 0; i < n; i++) {
		const double value[] = {1 + 5 * sim_uniform(random), 1 + 1e6 * sim_uniform(random),
		        7, exp2(10 * sim_uniform(random)),
		        (sim_uniform(random) < 0.5 ? 100 : 1 + 200 * sim_uniform(random))};
		values[i] = (uint64_t)value[kind % 5];
	}
	return n;
}

static size_t count_within(const uint64_t *values, size_t n, uint64_t low, uint64_t high)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += values[i] >= low && values[i] <= high;
	return count;
}

/* Groups are ascending and disjoint, hold what they say, and what they say of it is within the
 * error. */
static void assert_groups(
        const uint64_t *values, size_t n, const struct mtl_bin *groups, size_t n_groups)
{
	double error = mtl_bins_above_error(groups, n_groups);
	size_t in_all = 0;

	for (size_t g = 0; g < n_groups; g++) {
		const struct mtl_bin *group = &groups[g];
		double sum = 0;
		assert_true(group->low <= group->high);
		assert_true(g == 0 || group->low > groups[g - 1].high);
		assert_int_equal(group->count, count_within(values, n, group->low, group->high));
		for (size_t i = 0; i < n; i++)
			if (values[i] >= group->low && values[i] <= group->high)
				sum += (double)values[i];
		assert_true(fabs(sum / (double)group->count / group->mean - 1) < CLOSE);
		assert_true(count_within(values, n, group->low, group->low) > 0);
		assert_true(count_within(values, n, group->high, group->high) > 0);
		in_all += group->count;
	}
	assert_int_equal(in_all, n);
	for (size_t i = 0; i < n; i++)
		for (double x = (double)values[i] - 1; x <= (double)values[i] + 0.5; x += 0.5)
			for (int density = MTL_UNIFORM; density <= MTL_LINEAR; density++) {
				double above = 0;
				for (size_t j = 0; j < n; j++)
					above += (double)values[j] > x;
				above -= mtl_bins_above(groups, n_groups, density, x);
				assert_true(fabs(above) <= error + CLOSE);
			}
}

static void groups_of_equal_population(void **state)
{
	uint64_t random = 1, values[VALUES];
	struct mtl_bin groups[VALUES];
	(void)state;

	for (unsigned run = 0; run < sim_runs(300); run++) {
		size_t n = random_values(&random, run, values), n_groups = 99;
		size_t k = 1 + (size_t)(sim_uniform(&random) * 30);
		assert_int_equal(
		        mtl_groups_of_equal_population(values, n, k, groups, VALUES, &n_groups), 0);
		assert_true(n_groups <= k);
		assert_groups(values, n, groups, n_groups);
		for (size_t g = 0; g < n_groups; g++) {
			double runs =
			        (double)count_within(values, n, groups[g].low, groups[g].low) +
			        (double)count_within(values, n, groups[g].high, groups[g].high);
			assert_true(
			        groups[g].low == groups[g].high ||
			        (double)groups[g].count <= (double)n / (double)k + 1 + runs / 2);
		}
	}
}

static void groups_of_bounded_spread(void **state)
{
	uint64_t random = 2, values[VALUES];
	struct mtl_bin groups[VALUES];
	(void)state;

	for (unsigned run = 0; run < sim_runs(300); run++) {
		size_t n = random_values(&random, run, values), n_groups;
		double spread = exp2(2 - 8 * sim_uniform(&random));
		assert_int_equal(
		        mtl_groups_of_bounded_spread(values, n, spread, groups, VALUES, &n_groups),
		        0);
		assert_groups(values, n, groups, n_groups);
		for (size_t g = 0; g < n_groups; g++)
			assert_true((double)groups[g].high <= (double)groups[g].low * (1 + spread));
	}
}

static void equal_means_equal(void **state)
{
	uint64_t values[VALUES];
	struct mtl_bin groups[8];
	size_t n_groups;
	(void)state;

	for (size_t i = 0; i < VALUES; i++)
		values[i] = (i * 7 + 1) % VALUES + 1;
	assert_int_equal(
	        mtl_groups_of_equal_population(values, VALUES, 8, groups, 8, &n_groups), 0);
	assert_int_equal(n_groups, 8);
	for (size_t g = 0; g < n_groups; g++)
		assert_int_equal(groups[g].count, VALUES / 8);
	assert_true(mtl_bins_above_error(groups, n_groups) == VALUES / 8.0);
	for (double x = 0; x <= VALUES + 1; x += 0.5) { /* one of each: either density is exact */
		double above = fmax(VALUES - floor(x), 0);
		assert_true(fabs(mtl_bins_above(groups, 8, MTL_UNIFORM, x) - above) < CLOSE);
		assert_true(fabs(mtl_bins_above(groups, 8, MTL_LINEAR, x) - above) < CLOSE);
	}
	/* the range is split, not the population */
	const uint64_t skewed[] = {100, 10, 11, 11, 99, 12};
	assert_int_equal(mtl_groups_of_bounded_spread(skewed, 6, 0.2, groups, 8, &n_groups), 0);
	assert_int_equal(n_groups, 2);
	assert_true(groups[0].low == 10 && groups[0].high == 12 && groups[0].count == 4);
	assert_true(groups[0].mean == 11 && groups[1].mean == 99.5 && groups[1].low == 99);
}

static void bad_parameters(void **state)
{
	const uint64_t values[] = {1, 2, 3, UINT64_MAX - 1, 0};
	struct mtl_bin groups[4] = {{.count = 77}, {.count = 77}};
	size_t n = 99;
	(void)state;

	assert_int_equal(mtl_groups_of_equal_population(values, 4, 0, groups, 4, &n), -EINVAL);
	assert_int_equal(mtl_groups_of_bounded_spread(values, 4, 0, groups, 4, &n), -EINVAL);
	assert_int_equal(mtl_groups_of_bounded_spread(values, 4, NAN, groups, 4, &n), -EINVAL);
	assert_int_equal(mtl_groups_of_equal_population(values, 4, 4, groups, 3, &n), -E2BIG);
	assert_int_equal(mtl_groups_of_bounded_spread(values, 4, 0.1, groups, 3, &n), -E2BIG);
	assert_true(n == 99 && groups[0].count == 77 && groups[1].count == 77);
	assert_int_equal(mtl_groups_of_bounded_spread(values, 5, INFINITY, groups, 4, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(mtl_groups_of_bounded_spread(values, 5, 2, groups, 4, &n), 0);
	assert_true(n == 4 && groups[3].low == UINT64_MAX - 1 && groups[2].count == 2);
	assert_int_equal(
	        mtl_groups_of_equal_population(values, 5, SIZE_MAX, groups, 4, &n), -E2BIG);
	assert_int_equal(mtl_groups_of_equal_population(NULL, 0, 5, NULL, 0, &n), 0);
	assert_int_equal(n, 0);
	n = 99;
	assert_int_equal(mtl_groups_of_bounded_spread(NULL, 0, 5, NULL, 0, &n), 0);
	assert_int_equal(n, 0);
	assert_true(mtl_bins_above(NULL, 0, MTL_LINEAR, 3) == 0);
	assert_true(mtl_bins_above_error(NULL, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(density_has_the_mean),
	        cmocka_unit_test(density_is_linear_where_it_can_be),
	        cmocka_unit_test(density_is_within_its_error),
	        cmocka_unit_test(density_error_is_attained),
	        cmocka_unit_test(groups_of_equal_population),
	        cmocka_unit_test(groups_of_bounded_spread),
	        cmocka_unit_test(equal_means_equal),
	        cmocka_unit_test(bad_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

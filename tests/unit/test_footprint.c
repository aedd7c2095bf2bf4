/* SPDX-License-Identifier: MIT */
/* The majorant against brute force; births as rates. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "footprint.h"
#include "simulate.h"

#define POINTS 12

/* Value at x[i] of the least concave majorant: the highest chord over it, O(n^2) a point. */
static double highest_chord(const double *x, const double *y, size_t n, size_t i)
{
	double highest = y[i];

	for (size_t a = 0; a < i; a++)
		for (size_t b = i + 1; b < n; b++)
			highest =
			        fmax(highest, y[a] + (y[b] - y[a]) * (x[i] - x[a]) / (x[b] - x[a]));
	return highest;
}

static void majorant_is_the_highest_chord(void **state)
{
	uint64_t random = 31;
	(void)state;

	for (unsigned run = 0; run < 3000; run++) {
		struct mtl_footprint f = {.n = 2 + run % (POINTS - 1)}, majorant;
		for (size_t i = 1; i < f.n; i++) {
			/* on a raster every other time, so that points lie on one line */
			double step = sim_uniform(&random), rise = sim_uniform(&random);
			f.window[i] = f.window[i - 1] + (run % 2 ? step : 1);
			f.lines[i] = f.lines[i - 1] + (run % 2 ? rise : floor(3 * rise));
		}
		mtl_majorant_from_footprint(&f, &majorant);
		assert_true(majorant.window[0] == 0 && majorant.lines[0] == 0);
		assert_true(majorant.window[majorant.n - 1] == f.window[f.n - 1]);
		for (size_t i = 0; i < f.n; i++) {
			double at = mtl_footprint_at(&majorant, f.window[i]);
			assert_true(fabs(at - highest_chord(f.window, f.lines, f.n, i)) < 1e-9);
		}
		for (size_t i = 2; i < majorant.n; i++) { /* and its slope falls */
			const double *x = &majorant.window[i], *y = &majorant.lines[i];
			assert_true((y[0] - y[-1]) / (x[0] - x[-1]) <
			            (y[-1] - y[-2]) / (x[-1] - x[-2]) + 1e-12);
		}
	}
}

static void coverage_and_births_add_up(void **state)
{
	const struct mtl_grid grid = {3, {0.5, 1, 4}};
	const double coverage[] = {0.25, 0.5, 0.5};
	struct mtl_footprint f;
	(void)state;

	mtl_footprint_from_coverage(&grid, coverage, 1000, 10, &f);
	assert_int_equal(f.n, 4);
	assert_true(f.lines[0] == 0 && f.lines[1] == 255 && f.lines[2] == 510 && f.lines[3] == 540);
	assert_true(mtl_footprint_at(&f, 0.25) == 127.5);
	assert_true(mtl_footprint_at(&f, 2.5) == 525);
	assert_true(mtl_footprint_at(&f, 4) == 540 && mtl_footprint_at(&f, 100) == 540);
	assert_true(mtl_footprint_whole(&f) == 540 && mtl_longest_window(&f) == 4);
}

static double rate_of(
        const struct mtl_birth *births, size_t n, double first, double now, double window_seconds)
{
	struct mtl_birth_rate rate;

	assert_int_equal(
	        mtl_birth_rate_from_births(births, n, first, now, window_seconds, &rate), 0);
	return mtl_birth_rate(&rate, NULL);
}

static void births_are_a_rate(void **state)
{
	const struct mtl_birth steady[] = {{0, 0}, {10, 5000}, {20, 10000}};
	const struct mtl_birth burst[] = {{0, 0}, {9.9, 0}, {10, 4000}, {20, 4000}};
	const struct mtl_birth early[] = {{0, 0}, {5, 1000}, {20, 1000}};
	(void)state;

	assert_true(fabs(rate_of(steady, 3, 0, 20, 0) - 500) < 1e-6);
	assert_true(fabs(rate_of(steady, 3, 3, 17, 0) - 500) < 1e-6);
	assert_true(fabs(rate_of(steady, 3, 3, 17, 2) - 500) < 1e-6); /* decay changes nothing */
	assert_true(fabs(rate_of(burst, 4, 0, 20, 0) - 200) < 1e-6);
	assert_true(rate_of(early, 3, 0, 20, 2) < 1);  /* long ago, mostly forgotten */
	assert_true(rate_of(early, 3, 6, 20, 0) == 0); /* before anything was watched */
	assert_true(rate_of(NULL, 0, 0, 20, 0) == 0);
	assert_true(rate_of(steady, 3, 20, 20, 0) == 0);
	assert_true(rate_of(steady, 1, 0, 20, 0) == 0);
}

static void same_moment_twice(void **state)
{
	const struct mtl_birth step[] = {{0, 0}, {10, 0}, {10, 1000}, {20, 1000}};
	(void)state;

	assert_true(fabs(rate_of(step, 4, 0, 20, 0) - 50) < 1e-6);
}

static void births_can_be_resampled(void **state)
{
	const struct mtl_birth burst[] = {{0, 0}, {9.9, 0}, {10, 4000}, {20, 4000}};
	struct mtl_birth_rate rate;
	uint8_t times[BIRTH_BLOCKS] = {0};
	(void)state;

	assert_int_equal(mtl_birth_rate_from_births(burst, 4, 0, 20, 0, &rate), 0);
	assert_true(mtl_birth_rate(&rate, times) == 0);
	times[0] = 3;
	assert_true(mtl_birth_rate(&rate, times) == 0);
	times[9] = 1; /* 9 s to 10 s: one of four seconds */
	assert_true(fabs(mtl_birth_rate(&rate, times) - 1000) < 1e-6);
}

static void births_must_be_a_series(void **state)
{
	const struct mtl_birth bad[][2] = {{{0, 0}, {-1, 1}}, {{0, 5}, {1, 4}}, {{NAN, 0}, {1, 1}},
	        {{0, 0}, {1, INFINITY}}, {{0, NAN}, {1, 1}}};
	struct mtl_birth_rate rate = {.lines = {77}};
	(void)state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(mtl_birth_rate_from_births(bad[i], 2, 0, 1, 0, &rate), -EINVAL);
	assert_true(rate.lines[0] == 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(majorant_is_the_highest_chord),
	        cmocka_unit_test(coverage_and_births_add_up),
	        cmocka_unit_test(births_are_a_rate),
	        cmocka_unit_test(same_moment_twice),
	        cmocka_unit_test(births_can_be_resampled),
	        cmocka_unit_test(births_must_be_a_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

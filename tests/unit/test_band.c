/* SPDX-License-Identifier: MIT */
/* Bands: what is straight stays exact, a step that touches bear out stays one, noise is averaged.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "band.h"
#include "miss_curve.h"
#include "simulate.h"

#define WHOLE 1e5
#define FIRST 1e2
#define CORNERS 40

typedef double slope_of(double lines);

static double flat(double lines)
{
	(void)lines;
	return 1e6;
}

static double falling(double lines)
{
	return 1e6 * (1 - 0.1 * log(lines / FIRST));
}

static double stepping(double lines)
{
	return lines < 1e4 ? 1e6 : 2.5e5;
}

/* Corners from FIRST to WHOLE, the slope between them that of their middle, a factor at random. */
static void majorant_of(slope_of *slope, double noise, uint64_t *random,
        struct mtl_footprint *ret_majorant, struct mtl_grid *ret_grid)
{
	double lines = 0, window = 0;

	*ret_majorant = (struct mtl_footprint){.n = 1};
	*ret_grid = (struct mtl_grid){0};
	for (unsigned i = 0; i < CORNERS; i++) {
		double next = FIRST * pow(WHOLE / FIRST, (double)i / (CORNERS - 1));
		double factor = noise > 0 ? 1 + noise * (2 * sim_uniform(random) - 1) : 1;

		window += (next - lines) / (slope(lines > 0 ? sqrt(lines * next) : next) * factor);
		lines = next;
		ret_majorant->window[ret_majorant->n] = window;
		ret_majorant->lines[ret_majorant->n++] = lines;
		ret_grid->window[ret_grid->n++] = window;
	}
	ret_majorant->n =
	        mtl_concave_majorant(ret_majorant->window, ret_majorant->lines, ret_majorant->n);
}

/* touches: in all of the footprint. */
static void bands_of(slope_of *slope, double noise, double touches, uint64_t *random,
        struct mtl_footprint *ret_majorant, struct mtl_bands *ret_bands)
{
	double worth[GRID_MAX];
	struct mtl_grid grid;

	for (unsigned g = 0; g < GRID_MAX; g++)
		worth[g] = touches / WHOLE;
	majorant_of(slope, noise, random, ret_majorant, &grid);
	mtl_bands_from_majorant(ret_majorant, grid.window[0], &grid, worth, ret_bands);
}

static double misses_at(
        const struct mtl_bands *bands, const struct mtl_footprint *majorant, double lines)
{
	return mtl_misses_from_bands(bands, majorant, majorant->window[1], lines);
}

static void assert_within(double value, double wanted, double part)
{
	if (!(fabs(value / wanted - 1) <= part))
		fail_msg("%g for %g", value, wanted);
}

static void a_scan_stays_exact(void **state)
{
	struct mtl_footprint majorant;
	struct mtl_bands bands;
	(void)state;

	for (double touches = 1; touches < 1e6; touches *= 10) {
		bands_of(flat, 0, touches, NULL, &majorant, &bands);
		for (double lines = FIRST / 2; lines < WHOLE; lines *= 1.3)
			assert_within(misses_at(&bands, &majorant, lines), 1e6, 1e-6);
		assert_true(misses_at(&bands, &majorant, WHOLE) == 0);
	}
}

/* Corners are 1.2 apart: a chord between two is off by a hundredth. */
static void lines_in_log_size_stay_exact(void **state)
{
	struct mtl_footprint majorant;
	struct mtl_bands bands;
	(void)state;

	for (double touches = 1; touches < 1e6; touches *= 10) {
		bands_of(falling, 0, touches, NULL, &majorant, &bands);
		for (double lines = 2 * FIRST; lines < WHOLE / 2; lines *= 1.3)
			assert_within(misses_at(&bands, &majorant, lines), falling(lines), 0.05);
	}
}

static void a_step_that_is_seen_stays_a_step(void **state)
{
	struct mtl_footprint majorant;
	struct mtl_bands many, few;
	(void)state;

	bands_of(stepping, 0, 1e5, NULL, &majorant, &many);
	bands_of(stepping, 0, 20, NULL, &majorant, &few);
	assert_within(misses_at(&many, &majorant, 7e3), 1e6, 0.03);
	assert_within(misses_at(&many, &majorant, 1.4e4), 2.5e5, 0.1);
	/* two touches before it do not tell it from a slope */
	assert_true(misses_at(&few, &majorant, 7e3) < 0.95e6);
}

/* Slopes off by up to 60 %, told that there are 300 touches: a quarter of it goes. */
static void noise_is_averaged(void **state)
{
	double error = 0, before = 0;
	uint64_t random = 1;
	(void)state;

	for (unsigned run = 0; run < 100; run++) {
		struct mtl_footprint majorant;
		struct mtl_bands bands;

		bands_of(falling, 0.6, 300, &random, &majorant, &bands);
		for (double lines = 4 * FIRST; lines < WHOLE / 4; lines *= 2) {
			double narrow =
			        mtl_misses_from_fill_time(&majorant, majorant.window[1], lines);

			error += fabs(misses_at(&bands, &majorant, lines) / falling(lines) - 1);
			before += fabs(narrow / falling(lines) - 1);
		}
	}
	if (!(error < 0.85 * before))
		fail_msg("%g, was %g", error, before);
}

static void misses_never_rise(void **state)
{
	uint64_t random = 2;
	(void)state;

	for (unsigned run = 0; run < 300; run++) {
		double last = INFINITY;
		struct mtl_footprint majorant;
		struct mtl_bands bands;

		bands_of(run % 2 ? stepping : falling, 0.9, sim_log_uniform(&random, 1, 1e5),
		        &random, &majorant, &bands);
		for (double lines = FIRST / 4; lines < 2 * WHOLE; lines *= 1.01) {
			double misses = misses_at(&bands, &majorant, lines);

			assert_true(misses <= last * (1 + 1e-12) && misses >= 0);
			last = misses;
		}
	}
}

/* All that is touched is touched within the resolution: there is no size to smooth over. */
static void nothing_between_resolution_and_whole(void **state)
{
	const struct mtl_footprint majorant = {
	        .n = 3, .window = {0, 1e-3, 1}, .lines = {0, 100, 100}};
	const struct mtl_grid grid = {.n = 2, .window = {1e-3, 1}};
	const double touches[GRID_MAX] = {1, 1};
	struct mtl_bands bands;
	(void)state;

	mtl_bands_from_majorant(&majorant, 1e-3, &grid, touches, &bands);
	assert_true(bands.n == 0);
	assert_true(mtl_misses_from_bands(&bands, &majorant, 1e-3, 50) ==
	            mtl_misses_from_fill_time(&majorant, 1e-3, 50));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_scan_stays_exact),
	        cmocka_unit_test(lines_in_log_size_stay_exact),
	        cmocka_unit_test(a_step_that_is_seen_stays_a_step),
	        cmocka_unit_test(noise_is_averaged),
	        cmocka_unit_test(misses_never_rise),
	        cmocka_unit_test(nothing_between_resolution_and_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The whole way from simulated observations to a curve: closed forms, weights, births, invariants.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "cleanup.h"
#include "miss_curve.h"
#include "simulate.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

#define LINES 262144.0 /* 16 MiB */
#define QUADS 1500
#define RUNS_MOST 25

static struct mtl_observation observations[4096];

static struct mtl_curve *curve_of(size_t n, const struct mtl_birth *births, size_t n_births,
        const struct mtl_estimate_options *options)
{
	struct mtl_curve *curve = NULL;

	assert_int_equal(
	        mtl_curve_from_observations(observations, n, births, n_births, options, &curve), 0);
	assert_non_null(curve);
	return curve;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

/* Medians over runs of: footprint / M, then misses at parts of M, over M / period. */
struct medians {
	double footprint, quarter, half, three_quarters, beyond;
};

static struct medians medians_of(sim_kind *kind, unsigned slots, uint64_t seed)
{
	static const double part[] = {0.25, 0.5, 0.75, 1.25};
	double value[5][RUNS_MOST], sizes[4];
	struct mtl_estimate_options options = sim_options();

	for (unsigned i = 0; i < 4; i++)
		sizes[i] = part[i] * LINES * MTL_LINE_BYTES;
	options.sizes = sizes;
	options.n_sizes = 4;
	options.resamples = 2;
	const unsigned runs = sim_runs(RUNS_MOST);
	for (unsigned run = 0; run < runs; run++) {
		_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
		sim_observe_all(&seed, kind, slots, LINES, observations, QUADS);
		curve = curve_of(QUADS, NULL, 0, &options);
		value[0][run] = curve->footprint_bytes / MTL_LINE_BYTES / LINES;
		for (unsigned i = 0; i < 4; i++)
			value[1 + i][run] =
			        curve->points[i].misses_per_second / (LINES / SIM_PERIOD);
	}
	return (struct medians){median(value[0], runs), median(value[1], runs),
	        median(value[2], runs), median(value[3], runs), median(value[4], runs)};
}

#define assert_within(value, truth, part) assert_true(fabs((value) / (truth)-1) <= (part))

/* The same for means of runs, of which there are few under valgrind. */
#define assert_near(value, truth, part) assert_within(value, truth, (part)*sim_slack())

static void scans_miss_until_they_fit(void **state)
{
	static const struct {
		sim_kind *kind;
		unsigned slots;
	} cases[] = {{sim_scan, 4}, {sim_stride, 4}, {sim_mixed, 4}, {sim_scan, 0}, {sim_stride, 0},
	        {sim_mixed, 3}, {sim_stride, 3}};
	(void)state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct medians m = medians_of(cases[i].kind, cases[i].slots, 51 + i);
		assert_near(m.footprint, 1, 0.05);
		assert_near(m.quarter, 1, 0.12);
		assert_near(m.half, 1, 0.08);
		assert_near(m.three_quarters, 1, 0.12);
		assert_true(m.beyond < 0.03);
	}
}

/* misses(c) = (M - c) / period */
static void random_lines_miss_in_proportion(void **state)
{
	(void)state;

	for (unsigned slots = 0; slots <= 4; slots += 4) {
		struct medians m = medians_of(sim_random_line, slots, 61 + slots);
		assert_near(m.footprint, 1, 0.02);
		assert_near(m.quarter, 0.75, 0.1);
		assert_near(m.half, 0.5, 0.1);
		assert_near(m.three_quarters, 0.25, 0.1);
		assert_true(m.beyond < 0.03);
	}
}

/* The same curve, but a quad sees half the touches only: noisier (THEORY.md). */
static void random_words_miss_in_proportion(void **state)
{
	struct medians m = medians_of(sim_random, 4, 71);
	(void)state;

	assert_near(m.footprint, 1, 0.02);
	assert_near(m.quarter, 0.75, 0.15);
	assert_near(m.half, 0.5, 0.15);
	assert_near(m.three_quarters, 0.25, 0.25);
	assert_true(m.beyond < 0.03);
}

/*
 * 1/16 of the lines is touched at random, the rest never. Whatever the part of the watches spent on
 * the hot ones, Horvitz-Thompson weights make the mean footprint right.
 */
static void weights_undo_any_choice(void **state)
{
	static const double part_hot[] = {0.0625, 0.5, 0.9};
	struct mtl_estimate_options options = sim_options();
	double size = LINES / 32 * MTL_LINE_BYTES;
	(void)state;

	options.sizes = &size;
	options.n_sizes = 1;
	options.resamples = 1;
	for (unsigned c = 0; c < 3; c++) {
		enum { N = 400 };
		const unsigned many = sim_runs(100);
		double hot = LINES / 16, sum = 0, squares = 0, misses = 0;
		uint64_t random = 81 + c;
		for (unsigned run = 0; run < many; run++) {
			_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
			for (size_t i = 0; i < N; i++) {
				if (sim_uniform(&random) < part_hot[c])
					sim_observe(&random, sim_random_line, 4, hot / part_hot[c],
					        &observations[i]);
				else
					sim_observe(&random, sim_nothing, 4,
					        (LINES - hot) / (1 - part_hot[c]),
					        &observations[i]);
			}
			curve = curve_of(N, NULL, 0, &options);
			double lines = curve->footprint_bytes / MTL_LINE_BYTES / hot;
			sum += lines / many;
			squares += lines * lines / many;
			misses += curve->points[0].misses_per_second / many;
		}
		double error = sqrt(fmax(squares - sum * sum, 0) / many);
		assert_true(fabs(sum - 1) < 3 * error + 0.01);
		assert_true(error < 0.04 * sqrt(100.0 / many));
		assert_near(misses, hot / 2 / SIM_PERIOD, c == 0 ? 0.5 : 0.15);
	}
}

/* A program that touches fresh memory only: nothing that exists when armed is touched again. */
static void streams_miss_what_is_born(void **state)
{
	enum { N = 1000 };
	static struct mtl_birth births[N];
	const double rate = 3.2e6; /* lines a second: 200 MB/s */
	double sizes[] = {65536, 1 << 20, 1 << 24, 1 << 30}, windows[] = {0.001, 0.01};
	struct mtl_estimate_options options = sim_options();
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	uint64_t random = 91;
	(void)state;

	for (size_t i = 0; i < N; i++)
		births[i] = (struct mtl_birth){i * SIM_END / (N - 1), i * SIM_END / (N - 1) * rate};
	options.sizes = sizes;
	options.n_sizes = 4;
	options.windows = windows;
	options.n_windows = 2;
	options.reference_bytes = 65536;
	sim_observe_all(&random, sim_nothing, 4, 1000, observations, 200);
	curve = curve_of(200, births, N, &options);
	for (unsigned i = 0; i < 4; i++) {
		const struct mtl_curve_point *p = &curve->points[i];
		assert_within(p->misses_per_second, rate, 1e-6);
		assert_within(p->low, rate, 1e-3);
		assert_within(p->high, rate, 0.05); /* nor may many of 1000 lines be */
		assert_within(p->relative_miss_ratio, 1, 1e-6);
	}
	assert_within(curve->points[1].fill_time_seconds, (1 << 20) / 64 / rate, 1e-6);
	assert_true(isinf(curve->points[3].fill_time_seconds));
	assert_within(curve->footprint[0].bytes, 0.001 * rate * MTL_LINE_BYTES, 1e-6);
	assert_within(curve->footprint[1].bytes, 0.01 * rate * MTL_LINE_BYTES, 1e-6);
}

/* Births in bursts have the same mean and a wider interval. */
static void bursts_of_births_widen(void **state)
{
	const struct mtl_birth bursts[] = {
	        {0, 0}, {20, 0}, {20.1, 5e4}, {70, 5e4}, {70.1, 1e5}, {100, 1e5}};
	struct mtl_estimate_options options = sim_options();
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	double size = 1 << 30;
	uint64_t random = 92;
	(void)state;

	options.sizes = &size;
	options.n_sizes = 1;
	sim_observe_all(&random, sim_nothing, 4, 1000, observations, 200);
	curve = curve_of(200, bursts, 6, &options);
	assert_within(curve->points[0].misses_per_second, 1000, 0.03);
	assert_true(curve->points[0].low < 700 && curve->points[0].high > 1300);
}

static void check_points(const struct mtl_curve *curve)
{
	for (size_t i = 0; i < curve->n_points; i++) {
		const struct mtl_curve_point *p = &curve->points[i];
		assert_true(isfinite(p->high) && p->low >= 0);
		assert_true(p->low <= p->misses_per_second && p->misses_per_second <= p->high);
		assert_true(p->fill_time_seconds > 0);
		assert_int_equal(p->below_resolution, curve->resolution_bytes >= p->size_bytes);
		for (size_t j = 0; j < i; j++) {
			const struct mtl_curve_point *q = &curve->points[j];
			double sign = q->size_bytes <= p->size_bytes ? 1 : -1;
			double slack = 1e-9 * (p->misses_per_second + q->misses_per_second);
			assert_true(sign * (q->misses_per_second - p->misses_per_second) >= -slack);
			assert_true(sign * (q->low - p->low) >= -slack);
			assert_true(sign * (q->high - p->high) >= -slack);
			assert_true(sign * (p->fill_time_seconds - q->fill_time_seconds) >= 0 ||
			            isinf(q->fill_time_seconds));
		}
	}
	for (size_t i = 0; i < curve->n_footprint; i++) {
		const struct mtl_footprint_point *p = &curve->footprint[i];
		assert_true(isfinite(p->high) && p->low >= 0);
		assert_true(p->low <= p->bytes && p->bytes <= p->high);
		assert_true(i == 0 || curve->footprint[i - 1].window_seconds > p->window_seconds ||
		            p->bytes >= curve->footprint[i - 1].bytes * (1 - 1e-12));
	}
	assert_true(curve->effective_observations >= 0.999);
	assert_true(curve->effective_observations <= curve->observations + 1e-6);
	assert_true(curve->resolution_bytes <= curve->footprint_bytes + 1e-6);
}

/* Anything the instrument could report, likely or not. */
static void random_observation(uint64_t *random, unsigned style, struct mtl_observation *o)
{
	static sim_kind *const kinds[] = {sim_scan, sim_stride, sim_random, sim_nothing};
	unsigned slots = style & 1 ? 4 : (unsigned)(sim_uniform(random) * 5);

	sim_observe(random, kinds[(unsigned)(sim_uniform(random) * 4)], slots, 1, o);
	if (style & 2)
		o->weight = sim_log_uniform(random, 1e-3, 1e15);
	if (style & 4)
		o->deadline = 0.01;
	for (unsigned k = 0; style & 8 && k < o->slots; k++)
		o->touched[k] = sim_uniform(random) < 0.5 ? -1e-6f : INFINITY;
	for (unsigned k = 0; style & 16 && k < o->slots; k++)
		o->touched[k] = ceilf(o->touched[k] * 1000) / 1000;
}

static void anything_gives_a_curve(void **state)
{
	const unsigned many = sim_runs(2000);
	double sizes[12], windows[6];
	uint64_t random = 101;
	(void)state;

	for (unsigned run = 0; run < many; run++) {
		_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
		struct mtl_estimate_options options = sim_options();
		const struct mtl_birth births[] = {
		        {0, 0}, {40, 1e3 * sim_uniform(&random)}, {99, 1e3}};
		size_t n = MTL_OBSERVATIONS_NEEDED + run % 40;
		for (size_t i = 0; i < n; i++)
			random_observation(&random, run, &observations[i]);
		for (unsigned i = 0; i < 12; i++)
			sizes[i] = sim_log_uniform(&random, 1, 1e5);
		for (unsigned i = 0; i < 6; i++)
			windows[i] = sim_log_uniform(&random, 1e-7, 10);
		if (run % 3) {
			options.sizes = sizes;
			options.n_sizes = 12;
			options.windows = windows;
			options.n_windows = 6;
		}
		options.window_seconds = run % 5 ? 30 : 0;
		options.resolution_seconds = run % 7 ? sim_log_uniform(&random, 1e-6, 0.02) : 0;
		options.resamples = 1 + run % 9;
		options.reference_bytes = run % 2 ? 4096 : 0;
		curve = curve_of(n, births, run % 4 ? 3 : 0, &options);
		check_points(curve);
	}
}

static void all_alike(float touched, double deadline)
{
	for (size_t i = 0; i < 100; i++)
		observations[i] = (struct mtl_observation){.moment = i * 0.1,
		        .deadline = deadline > 0 ? deadline : 0.001 * (i + 1),
		        .weight = 1000,
		        .slots = 4,
		        .touched = {touched, touched, touched, touched}};
}

/* 1000 watches of which 200 are touched, one every 20 us: 3 touches say nothing of a size, 30 do. */
static void few_touches_resolve_little(void **state)
{
	struct mtl_estimate_options options = sim_options();
	struct mtl_curve *curve;
	double lines = 1e5, sizes[] = {0.003 * lines * MTL_LINE_BYTES, 0.03 * lines * MTL_LINE_BYTES};
	(void)state;

	options.sizes = sizes;
	options.n_sizes = 2;
	for (unsigned i = 0; i < 1000; i++) {
		float touched = i < 200 ? 2e-5f * (float)(i + 1) : INFINITY;

		observations[i] = (struct mtl_observation){.moment = i * 0.01,
		        .deadline = 0.02,
		        .weight = lines,
		        .slots = 4,
		        .touched = {touched, touched, touched, touched}};
	}
	curve = curve_of(1000, NULL, 0, &options);
	assert_true(curve->points[0].below_resolution);
	assert_false(curve->points[1].below_resolution);
	assert_true(curve->resolution_bytes > 0.005 * lines * MTL_LINE_BYTES);
	assert_true(curve->resolution_seconds == options.resolution_seconds);
	check_points(curve);
	mtl_curve_free(curve);
}

/* 100 light lines, all touched at once, and of 1000 times as heavy ones two, soon after: nothing is
 * known of sizes that they would fill, nor of what lies before. */
static void light_lines_resolve_nothing_before_heavy_ones(void **state)
{
	struct mtl_estimate_options options = sim_options();
	struct mtl_curve *curve;
	double size = 1500 * MTL_LINE_BYTES;
	(void)state;

	options.sizes = &size;
	options.n_sizes = 1;
	for (unsigned i = 0; i < 1000; i++) {
		bool light = i % 10 == 0;
		bool seen = light || i == 333 || i == 777;
		float touched = !seen ? INFINITY : light ? 1e-4f : 1e-3f;

		observations[i] = (struct mtl_observation){.moment = i * 0.01,
		        .deadline = 0.02,
		        .weight = light ? 1e3f : 1e6f,
		        .slots = 4,
		        .touched = {touched, touched, touched, touched}};
	}
	curve = curve_of(1000, NULL, 0, &options);
	assert_true(curve->points[0].below_resolution);
	assert_true(curve->resolution_bytes > size);
	check_points(curve);
	mtl_curve_free(curve);
}

static void extremes(void **state)
{
	struct mtl_estimate_options options = sim_options();
	struct mtl_curve *curve;
	double size = 32000;
	(void)state;

	options.sizes = &size;
	options.n_sizes = 1;
	options.reference_bytes = size;

	all_alike(INFINITY, 0); /* nothing is ever touched */
	curve = curve_of(100, NULL, 0, &options);
	check_points(curve);
	assert_true(curve->footprint_bytes == 0 && curve->resolution_bytes == 0);
	assert_true(curve->points[0].misses_per_second == 0 && curve->points[0].low == 0);
	/* by the upper limit where 20 of the longest watches saw nothing */
	assert_within(curve->points[0].high,
	        1000 * 2.706 / (20 + 2.706) / (curve->footprint_window_seconds / 2), 0.05);
	assert_true(isinf(curve->points[0].fill_time_seconds));
	assert_true(isnan(curve->points[0].relative_miss_ratio));
	assert_false(curve->points[0].below_resolution);
	curve = mtl_curve_free(curve);

	all_alike(0, 0); /* everything is touched at once */
	curve = curve_of(100, NULL, 0, &options);
	check_points(curve);
	assert_within(curve->footprint_bytes, 64000, 1e-9);
	assert_within(curve->resolution_bytes, 64000, 1e-9);
	assert_true(curve->points[0].below_resolution);
	assert_true(curve->points[0].misses_per_second > 0);
	curve = mtl_curve_free(curve);

	all_alike(0.01f, 0.02); /* one touch time, one deadline */
	curve = curve_of(100, NULL, 0, &options);
	check_points(curve);
	assert_within(curve->footprint_window_seconds, 0.02, 1e-9);
	assert_within(curve->footprint_bytes, 64000, 1e-9);
	assert_true(curve->points[0].fill_time_seconds < 0.01);
	mtl_curve_free(curve);
}

static void ratios_say_of_what(void **state)
{
	struct mtl_estimate_options options = sim_options();
	double sizes[] = {1 << 20, 4 << 20, 64 << 20};
	struct mtl_curve *curve;
	uint64_t random = 111;
	(void)state;

	options.sizes = sizes;
	options.n_sizes = 3;
	options.reference_bytes = 4 << 20;
	options.accesses_per_second = 1e9;
	sim_observe_all(&random, sim_random_line, 4, LINES, observations, 500);
	curve = curve_of(500, NULL, 0, &options);
	for (unsigned i = 0; i < 3; i++) {
		const struct mtl_curve_point *p = &curve->points[i];
		assert_within(p->miss_ratio * 1e9 + 1, p->misses_per_second + 1, 1e-9);
		assert_within(p->relative_miss_ratio * curve->points[1].misses_per_second + 1,
		        p->misses_per_second + 1, 1e-9);
	}
	assert_true(curve->points[1].relative_miss_ratio == 1);
	assert_true(curve->reference_bytes == 4 << 20);
	mtl_curve_free(curve);

	options.accesses_per_second = NAN;
	options.reference_bytes = 0;
	curve = curve_of(500, NULL, 0, &options);
	assert_true(isnan(curve->points[0].miss_ratio));
	assert_true(isnan(curve->points[0].relative_miss_ratio));
	mtl_curve_free(curve);
}

/* Beyond the longest trusted window: its value, and all lines there are as the upper limit. */
static void windows_beyond_trust(void **state)
{
	struct mtl_estimate_options options = sim_options();
	double windows[] = {1e-3, 3600};
	struct mtl_curve *curve;
	uint64_t random = 121;
	(void)state;

	options.windows = windows;
	options.n_windows = 2;
	sim_observe_all(&random, sim_random_line, 4, LINES, observations, 500);
	for (size_t i = 0; i < 500; i += 2)
		sim_observe(&random, sim_nothing, 4, LINES, &observations[i]);
	curve = curve_of(500, NULL, 0, &options);
	assert_true(curve->footprint_window_seconds < SIM_LONGEST);
	assert_within(curve->footprint[1].bytes, curve->footprint_bytes, 1e-12);
	assert_within(curve->footprint[1].high, LINES * MTL_LINE_BYTES, 1e-9);
	assert_true(curve->footprint[0].high < 0.2 * LINES * MTL_LINE_BYTES);
	mtl_curve_free(curve);
}

static void default_sizes(void **state)
{
	double sizes[128];
	size_t n = mtl_default_sizes(1 << 20, 3 << 20, sizes, 128);
	(void)state;

	assert_true(sizes[0] == 32768 && sizes[2] == 65536);
	assert_true(sizes[n - 1] >= 6 << 20 && sizes[n - 2] < 6 << 20);
	for (size_t i = 1; i < n; i++)
		assert_within(sizes[i] / sizes[i - 1], M_SQRT2, 1e-4);
	assert_int_equal(mtl_default_sizes(8 << 20, 0, sizes, 128), 19); /* 32 KiB ... 16 MiB */
	assert_int_equal(mtl_default_sizes(0, 0, sizes, 128), 3);
	assert_int_equal(mtl_default_sizes(1e15, 0, sizes, 128), 73);
	assert_int_equal(mtl_default_sizes(8 << 20, 0, sizes, 5), 5);
}

static void default_windows(void **state)
{
	double windows[8];
	(void)state;

	assert_int_equal(mtl_default_windows(5e-5, 0.05, windows, 8), 4);
	assert_within(windows[0], 1e-4, 1e-9);
	assert_within(windows[1], 1e-3, 1e-9);
	assert_within(windows[2], 1e-2, 1e-9);
	assert_true(windows[3] == 0.05);
	assert_int_equal(mtl_default_windows(1e-4, 1e-3, windows, 8), 2);
	assert_within(windows[0], 1e-4, 1e-9);
	assert_true(windows[1] == 1e-3);
	assert_int_equal(mtl_default_windows(0.5, 0.2, windows, 8), 1);
	assert_true(windows[0] == 0.2);
	assert_int_equal(mtl_default_windows(0, 0.2, windows, 8), 7);
}

static void defaults_are_used(void **state)
{
	struct mtl_estimate_options options = sim_options();
	struct mtl_curve *curve;
	uint64_t random = 131;
	(void)state;

	options.cache_bytes = 32 << 20;
	sim_observe_all(&random, sim_scan, 4, LINES, observations, 500);
	curve = curve_of(500, NULL, 0, &options);
	check_points(curve);
	assert_true(curve->points[0].size_bytes == 32768);
	assert_within(curve->points[curve->n_points - 1].size_bytes, 64 << 20, 1e-6);
	assert_true(curve->footprint[curve->n_footprint - 1].window_seconds ==
	            curve->footprint_window_seconds);
	assert_within(curve->footprint[curve->n_footprint - 1].bytes, curve->footprint_bytes, 1e-9);
	assert_int_equal(curve->observations, 500);
	mtl_curve_free(curve);
}

static void bad_options_are_refused(void **state)
{
	const double none[] = {1, 0}, minus[] = {-1}, nan[] = {NAN}, huge[] = {INFINITY};
	struct mtl_curve *curve = NULL;
	uint64_t random = 141;
	(void)state;

	sim_observe_all(&random, sim_scan, 4, LINES, observations, 100);
#define REFUSED(...)                                                                               \
	do {                                                                                       \
		struct mtl_estimate_options options = sim_options();                               \
		__VA_ARGS__;                                                                       \
		assert_int_equal(                                                                  \
		        mtl_curve_from_observations(observations, 100, NULL, 0, &options, &curve), \
		        -EINVAL);                                                                  \
		assert_null(curve);                                                                \
	} while (0)
	REFUSED(options.sizes = none, options.n_sizes = 2);
	REFUSED(options.sizes = minus, options.n_sizes = 1);
	REFUSED(options.sizes = nan, options.n_sizes = 1);
	REFUSED(options.windows = huge, options.n_windows = 1);
	REFUSED(options.windows = none, options.n_windows = 2);
	REFUSED(options.now = NAN);
	REFUSED(options.window_seconds = -1);
	REFUSED(options.resolution_seconds = NAN);
	REFUSED(options.reference_bytes = -1);
	REFUSED(options.cache_bytes = INFINITY);
	REFUSED(options.accesses_per_second = 0);
	REFUSED(observations[99].weight = 0);
}

static void too_few_is_an_answer(void **state)
{
	struct mtl_estimate_options options = sim_options();
	struct mtl_curve *curve = NULL;
	uint64_t random = 151;
	(void)state;

	sim_observe_all(&random, sim_scan, 4, LINES, observations, MTL_OBSERVATIONS_NEEDED);
	assert_int_equal(mtl_curve_from_observations(observations, MTL_OBSERVATIONS_NEEDED - 1,
	                         NULL, 0, &options, &curve),
	        -ENODATA);
	assert_null(curve);
	curve = curve_of(MTL_OBSERVATIONS_NEEDED, NULL, 0, &options);
	check_points(curve);
	mtl_curve_free(curve);
	assert_null(mtl_curve_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(scans_miss_until_they_fit),
	        cmocka_unit_test(random_lines_miss_in_proportion),
	        cmocka_unit_test(random_words_miss_in_proportion),
	        cmocka_unit_test(weights_undo_any_choice),
	        cmocka_unit_test(streams_miss_what_is_born),
	        cmocka_unit_test(bursts_of_births_widen),
	        cmocka_unit_test(anything_gives_a_curve),
	        cmocka_unit_test(few_touches_resolve_little),
	        cmocka_unit_test(light_lines_resolve_nothing_before_heavy_ones),
	        cmocka_unit_test(extremes),
	        cmocka_unit_test(ratios_say_of_what),
	        cmocka_unit_test(windows_beyond_trust),
	        cmocka_unit_test(default_sizes),
	        cmocka_unit_test(default_windows),
	        cmocka_unit_test(defaults_are_used),
	        cmocka_unit_test(bad_options_are_refused),
	        cmocka_unit_test(too_few_is_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

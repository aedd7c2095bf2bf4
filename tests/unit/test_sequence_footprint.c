/* SPDX-License-Identifier: MIT */
/* Exact footprints against all windows, and back from metrics to what they came from. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "cleanup.h"
#include "traces.h"

#define RANDOM_TRACES 2000
#define LONGEST_RANDOM 120

/* One exact sum, one division: the very same number. */
static void footprints_hold(const struct trace *t)
{
	uint64_t sums[TRACE_MOST + 1];

	trace_window_sums(t, sums);
	for (size_t x = 1; x <= t->n; x++) {
		double expected = (double)sums[x] / (double)(t->n - x + 1);
		double additive = NAN, incremental = NAN;
		assert_int_equal(mtl_footprint_additive(t->rt, t->n, x, &additive), 0);
		assert_int_equal(mtl_footprint_incremental(t->rt, t->n, x, &incremental), 0);
		assert_true(additive == expected);
		assert_true(incremental == expected);
	}
}

static void footprints_are_means_over_all_windows(void **state)
{
	uint64_t random = 51;
	struct trace t = {0};
	(void)state;

	while (trace_next(&t, trace_longest(9)))
		footprints_hold(&t);
	for (unsigned run = 0; run < sim_runs(RANDOM_TRACES); run++) {
		trace_random(&t, &random, LONGEST_RANDOM);
		footprints_hold(&t);
	}
}

/* m data in turn: min(x, m) distinct in every window, in sums beyond 2^32. */
static void of_a_long_loop(void **state)
{
	const size_t n = 200000, m = 70000, windows[] = {1, 2, m - 1, m, m + 1, n / 2, n - 1, n};
	_cleanup_free_ uint64_t *rt = calloc(n, sizeof(*rt));
	(void)state;

	for (size_t i = 0; i < n; i++)
		rt[i] = i < m ? MTL_NEVER : m;
	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		double expected = (double)(windows[i] < m ? windows[i] : m), additive, incremental;
		assert_int_equal(mtl_footprint_additive(rt, n, windows[i], &additive), 0);
		assert_int_equal(mtl_footprint_incremental(rt, n, windows[i], &incremental), 0);
		assert_true(additive == expected && incremental == expected);
	}
}

static void no_footprint_of_no_trace(void **state)
{
	const struct {
		uint64_t rt[3];
		size_t n, window;
	} bad[] = {
	        {{MTL_NEVER}, 0, 0},
	        {{MTL_NEVER}, 0, 1},
	        {{MTL_NEVER, 1, 1}, 3, 0},
	        {{MTL_NEVER, 1, 1}, 3, 4},
	        {{1, 1, 1}, 3, 2},
	        {{MTL_NEVER, 0, 1}, 3, 2},
	        {{MTL_NEVER, 1, 2}, 3, 2},
	        {{MTL_NEVER, 1, 3}, 3, 2},
	};
	double footprint = 77;
	(void)state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(
		        mtl_footprint_additive(bad[i].rt, bad[i].n, bad[i].window, &footprint),
		        -EINVAL);
		assert_int_equal(
		        mtl_footprint_incremental(bad[i].rt, bad[i].n, bad[i].window, &footprint),
		        -EINVAL);
	}
	assert_true(footprint == 77);
}

/* Footprint, first and last times of a trace, as the way back takes them. */
struct ends {
	double footprint[TRACE_MOST + 1];
	uint64_t first[TRACE_MOST + 1], last[TRACE_MOST + 1];
};

static void ends_of(const struct trace *t, struct ends *e)
{
	memset(e, 0, sizeof(*e));
	for (size_t x = 1; x <= t->n; x++)
		assert_int_equal(mtl_footprint_additive(t->rt, t->n, x, &e->footprint[x]), 0);
	for (size_t k = 0; k < t->m; k++) {
		e->first[t->first[k]]++;
		e->last[t->last[k]]++;
	}
}

static void reuse_times_come_back(const struct trace *t)
{
	static struct ends e;
	uint64_t count[TRACE_MOST + 1], expected[TRACE_MOST + 1] = {0};

	ends_of(t, &e);
	for (size_t i = 0; i < t->n; i++)
		if (t->rt[i] != MTL_NEVER)
			expected[t->rt[i]]++;
	assert_int_equal(
	        mtl_rt_histogram_from_footprint(e.footprint, e.first, e.last, t->n, count), 0);
	assert_memory_equal(count, expected, (t->n + 1) * sizeof(*count));
}

static void reuse_times_come_back_from_the_footprint(void **state)
{
	uint64_t random = 52;
	struct trace t = {0};
	(void)state;

	while (trace_next(&t, trace_longest(9)))
		reuse_times_come_back(&t);
	for (unsigned run = 0; run < sim_runs(RANDOM_TRACES / 4); run++) {
		trace_random(&t, &random, LONGEST_RANDOM);
		reuse_times_come_back(&t);
	}
}

static void what_is_no_footprint_is_refused(void **state)
{
	static const struct {
		double footprint[4];
		uint64_t first[4], last[4];
	} bad[] = {
	        /* a a b is {0, 1, 1.5, 2}, {0, 1, 0, 1}, {0, 1, 1, 0} */
	        {{0, 1, 1.25, 2}, {0, 1, 0, 1}, {0, 1, 1, 0}}, /* no whole number of data */
	        {{0, 1, 1.35, 2}, {0, 1, 0, 1}, {0, 1, 1, 0}},
	        {{0, 1, 2, 2}, {0, 1, 0, 1}, {0, 1, 1, 0}}, /* more than there are */
	        {{0, 1, 1, 2}, {0, 1, 0, 1}, {0, 1, 1, 0}}, /* less */
	        {{0, NAN, 1.5, 2}, {0, 1, 0, 1}, {0, 1, 1, 0}},
	        {{0, 1, 1.5, INFINITY}, {0, 1, 0, 1}, {0, 1, 1, 0}},
	        {{0, 1, 1e300, 2}, {0, 1, 0, 1}, {0, 1, 1, 0}},
	        {{0, 1, 1.5, 2}, {0, 1, 0, 0}, {0, 1, 1, 0}}, /* one without a first access */
	        {{0, 1, 1.5, 2}, {0, 1, 0, 1}, {0, 1, 0, 0}}, /* or without a last one */
	        {{0, 1, 1.5, 2}, {0, 1, 0, 1}, {0, 2, 1, 0}},
	        {{0, 1, 1.5, 2}, {0, UINT64_MAX, 0, 1}, {0, 1, 1, 0}},
	        {{0, 1, 1.5, 2}, {0, 1ull << 63, 0, 1}, {0, 0, 1, 0}},
	        {{0, 1, 1.5, 2}, {0, 0, 0, 1}, {0, 1ull << 63, 1, 0}},
	        /* of a a a, {0, 1, 1, 1}, {0, 1, 0, 0}, {0, 1, 0, 0}, one thing wrong, the rest
	         * made up for it */
	        {{0, 1, 1.5, 3}, {0, 1, 0, 0}, {0, 1, 0, 0}},    /* more data than first accesses */
	        {{0.25, 1, 1.5, 2}, {0, 1, 0, 0}, {0, 1, 0, 0}}, /* something in nothing */
	        {{0, 1, 1, 1}, {1, 1, 0, 0}, {0, 2, 0, 0}},      /* an access at time 0 */
	        {{0, 1, 1, 1}, {0, 2, 0, 0}, {1, 1, 0, 0}},
	};
	const double good[] = {0, 1, 1.5, 2};
	const uint64_t first[] = {0, 1, 0, 1}, last[] = {0, 1, 1, 0};
	uint64_t count[] = {77, 77, 77, 77};
	(void)state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(mtl_rt_histogram_from_footprint(
		                         bad[i].footprint, bad[i].first, bad[i].last, 3, count),
		        -EINVAL);
	assert_true(count[0] == 77 && count[1] == 77 && count[2] == 77 && count[3] == 77);
	assert_int_equal(mtl_rt_histogram_from_footprint(good, first, last, 3, count), 0);
	assert_true(count[0] == 0 && count[1] == 1 && count[2] == 0 && count[3] == 0);
}

static void nothing_has_no_reuses(void **state)
{
	const double footprint = 0;
	const uint64_t none = 0;
	uint64_t count = 77;
	(void)state;

	assert_int_equal(mtl_rt_histogram_from_footprint(&footprint, &none, &none, 0, &count), 0);
	assert_true(count == 0);
}

/* s(x) = (m x + sum of min(rt, x)) / n, and P(rt > x), at x = 0 ... n. */
static void denning_schwartz(const struct trace *t, double *s, double *ratio)
{
	uint64_t sum = 0;

	for (size_t x = 0; x <= t->n; x++) {
		uint64_t above = trace_reuse_times_above(t, x);
		s[x] = (double)sum / (double)t->n;
		ratio[x] = (double)above / (double)t->n;
		sum += above;
	}
}

static void footprint_comes_back(const struct trace *t)
{
	double s[TRACE_MOST + 1], ratio[TRACE_MOST + 1], back[TRACE_MOST + 3];

	denning_schwartz(t, s, ratio);
	back[t->n + 2] = 77;
	/* one window further than there are sizes: the last ratio goes on */
	assert_int_equal(mtl_footprint_from_miss_ratios(s, ratio, t->n + 1, t->n + 2, back), 0);
	for (size_t x = 0; x <= t->n; x++)
		assert_true(fabs(back[x] - s[x]) <= 1e-12 * s[x]);
	assert_true(fabs(back[t->n + 1] - (s[t->n] + ratio[t->n])) <= 1e-12 * s[t->n]);
	assert_true(back[t->n + 2] == 77);
}

static void footprint_comes_back_from_miss_ratios(void **state)
{
	uint64_t random = 53;
	struct trace t = {0};
	(void)state;

	while (trace_next(&t, trace_longest(9)))
		footprint_comes_back(&t);
	for (unsigned run = 0; run < sim_runs(RANDOM_TRACES); run++) {
		trace_random(&t, &random, LONGEST_RANDOM);
		footprint_comes_back(&t);
	}
}

/* The theory's table: footprint and miss ratio of abc abc ... */
static void footprint_of_abc(void **state)
{
	const double lines[] = {0, 1, 2, 3}, ratio[] = {1, 1, 1, 0};
	const double expected[] = {0, 1, 2, 3, 3, 3};
	double footprint[6];
	(void)state;

	assert_int_equal(mtl_footprint_from_miss_ratios(lines, ratio, 4, 6, footprint), 0);
	assert_memory_equal(footprint, expected, sizeof(expected));
}

/* Half of all accesses miss below 2 lines, a quarter below 4, none from there. */
static void smaller_size_holds_between_two(void **state)
{
	const double lines[] = {0, 2, 4}, ratio[] = {0.75, 0.25, 0};
	const double expected[] = {0, 0.75, 1.5, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 3.75, 4, 4};
	double footprint[12];
	(void)state;

	assert_int_equal(mtl_footprint_from_miss_ratios(lines, ratio, 3, 12, footprint), 0);
	assert_memory_equal(footprint, expected, sizeof(expected));
}

static void what_is_no_curve_is_refused(void **state)
{
	static const struct {
		double lines[3], ratio[3];
		size_t n;
	} bad[] = {
	        {{0}, {1}, 0},
	        {{1, 2, 3}, {1, 0.5, 0}, 3},
	        {{0, 2, 2}, {1, 0.5, 0}, 3},
	        {{0, 3, 2}, {1, 0.5, 0}, 3},
	        {{0, NAN, 2}, {1, 0.5, 0}, 3},
	        {{NAN, 1, 2}, {1, 0.5, 0}, 3},
	        {{0, 1, 2}, {1, 0.5, -0.1}, 3},
	        {{0, 1, 2}, {1.1, 0.5, 0}, 3},
	        {{0, 1, 2}, {1, NAN, 0}, 3},
	};
	double footprint[] = {77, 77};
	(void)state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(mtl_footprint_from_miss_ratios(
		                         bad[i].lines, bad[i].ratio, bad[i].n, 2, footprint),
		        -EINVAL);
	assert_true(footprint[0] == 77 && footprint[1] == 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(footprints_are_means_over_all_windows),
	        cmocka_unit_test(of_a_long_loop),
	        cmocka_unit_test(no_footprint_of_no_trace),
	        cmocka_unit_test(reuse_times_come_back_from_the_footprint),
	        cmocka_unit_test(what_is_no_footprint_is_refused),
	        cmocka_unit_test(nothing_has_no_reuses),
	        cmocka_unit_test(footprint_comes_back_from_miss_ratios),
	        cmocka_unit_test(footprint_of_abc),
	        cmocka_unit_test(smaller_size_holds_between_two),
	        cmocka_unit_test(what_is_no_curve_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

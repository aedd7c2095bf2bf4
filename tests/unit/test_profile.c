/* SPDX-License-Identifier: MIT */
/* Footprints from a profile against counting all windows; the identities between them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "profile.h"
#include "traces.h"

/* Each trace takes a profile of its own, which costs 50 times as much with an eye on memory. */
#ifdef __SANITIZE_ADDRESS__
#define LONGEST 7
#define RANDOM 400
#else
#define LONGEST 9
#define RANDOM 3000
#endif

static struct mtl_profile *profile_of(const struct trace *t)
{
	struct mtl_profile *profile;
	uint64_t data[TRACE_MOST], times[TRACE_MOST];
	size_t first = t->n / 3; /* in two parts */

	trace_names(t, data);
	assert_int_equal(mtl_profile_new(0, &profile), 0);
	assert_int_equal(mtl_profile_access(profile, data, first, times), 0);
	assert_int_equal(mtl_profile_access(profile, data + first, t->n - first, times + first), 0);
	assert_memory_equal(times, t->rt, t->n * sizeof(*times));
	assert_int_equal(mtl_profile_accesses(profile), t->n);
	assert_int_equal(mtl_profile_distinct(profile), t->m);
	return profile;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

/* s(x), by its recurrence. */
static void denning_schwartz(const struct trace *t, double *ret_s)
{
	ret_s[0] = 0;
	for (size_t x = 0; x < t->n; x++)
		ret_s[x + 1] = ret_s[x] + (double)trace_reuse_times_above(t, x) / (double)t->n;
}

/* Sums over f_k > x or l_k > x of the rest. */
static double excess_of(const uint64_t *times, size_t m, size_t x)
{
	double sum = 0;

	for (size_t k = 0; k < m; k++)
		sum += times[k] > x ? (double)(times[k] - x) : 0;
	return sum;
}

static void check_window(
        const struct trace *t, struct mtl_profile *p, size_t x, double fp, const double *s)
{
	double n = (double)t->n, m = (double)t->m, w = (double)x, windows = n - w + 1;
	double a = mtl_histogram_excess(mtl_profile_reuse_times(p), w);
	double ends = excess_of(t->first, t->m, x) + excess_of(t->last, t->m, x);
	double start = mtl_profile_footprint(p, MTL_STEADY_STATE, 0);
	double steady = mtl_profile_footprint(p, MTL_STEADY_STATE, w);

	assert_true(near(mtl_profile_footprint(p, MTL_XIANG, w), fp));
	assert_true(near(mtl_profile_footprint(p, MTL_ADDITIVE, w), fp));
	assert_true(near(mtl_profile_footprint(p, MTL_INCREMENTAL, w), fp));
	assert_true(near(mtl_profile_footprint(p, MTL_DENNING_SCHWARTZ, w), s[x]));
	assert_true(near(mtl_expected_distance(p, w), s[x]));
	assert_true(near(s[x], steady - start + m * w / n));
	if (x >= 1)
		assert_true(near(steady - fp, ends / windows + a * (w - 1) / (n * windows)));
	for (unsigned kind = MTL_XIANG; kind <= MTL_STEADY_STATE; kind++)
		assert_true(mtl_profile_footprint_error(p, kind, w) == 0);
}

static void check(const struct trace *t)
{
	struct mtl_profile *p = profile_of(t);
	uint64_t sums[TRACE_MOST + 1];
	double s[TRACE_MOST + 1], before = 0;

	trace_window_sums(t, sums);
	denning_schwartz(t, s);
	for (size_t x = 0; x <= t->n; x++) {
		double fp = (double)sums[x] / (double)(t->n - x + 1);

		check_window(t, p, x, fp, s);
		if (x > 0) /* straight between whole windows */
			assert_true(near(mtl_profile_footprint(p, MTL_XIANG, (double)x - 0.25),
			        before + 0.75 * (fp - before)));
		before = fp;
	}
	mtl_profile_free(p);
}

static void footprints_are_those_of_all_windows(void **state)
{
	struct trace t = {0};
	uint64_t random = 11;
	(void)state;

	while (trace_next(&t, trace_longest(LONGEST)))
		check(&t);
	for (unsigned run = 0; run < sim_runs(RANDOM); run++) {
		trace_random(&t, &random, 60);
		check(&t);
	}
}

/* Reuse times of up to 900, in bins of up to 2, are still exact; longer ones are within bounds. */
static void bins_are_within_bounds(void **state)
{
	static struct trace t;
	uint64_t random = 17, sums[TRACE_MOST + 1];
	(void)state;

	for (unsigned run = 0; run < sim_runs(40); run++) {
		trace_random(&t, &random, TRACE_MOST);
		struct mtl_profile *p = profile_of(&t);
		trace_window_sums(&t, sums);
		for (size_t x = 0; x <= t.n; x += 1 + x / 17) {
			double fp = (double)sums[x] / (double)(t.n - x + 1);
			double bound = mtl_profile_footprint_error(p, MTL_XIANG, (double)x);

			for (unsigned kind = MTL_XIANG; kind <= MTL_INCREMENTAL; kind++)
				assert_true(fabs(mtl_profile_footprint(p, kind, (double)x) - fp) <=
				            bound + 1e-8);
		}
		mtl_profile_free(p);
	}
}

/* s and the steady state are concave and never fall. On sealed traces, with n - m instead of n,
 * they are the same. */
static void shapes(void **state)
{
	struct trace t = {0};
	(void)state;

	while (trace_next(&t, trace_longest(LONGEST))) {
		struct mtl_profile *p = profile_of(&t);
		double n = (double)t.n, m = (double)t.m;
		bool sealed = true;

		for (size_t k = 0; k < t.m; k++)
			sealed &= t.first[k] <= t.m && t.last[k] <= t.m;
		for (unsigned kind = MTL_DENNING_SCHWARTZ; kind <= MTL_STEADY_STATE; kind++) {
			double step = INFINITY, before = mtl_profile_footprint(p, kind, 0);
			for (double x = 1; x <= n; x++) {
				double here = mtl_profile_footprint(p, kind, x);
				assert_true(here >= before - 1e-12);
				assert_true(here - before <= step + 1e-12);
				step = here - before;
				before = here;
			}
		}
		for (double x = 0; sealed && t.n > t.m && x <= n; x++) {
			double a = mtl_histogram_excess(mtl_profile_reuse_times(p), x);
			double all = mtl_histogram_excess(mtl_profile_reuse_times(p), 0);
			/* reuses only: both divided by n - m, of which there are so many */
			assert_true(near((all - a) / (n - m), m - a / (n - m)));
		}
		mtl_profile_free(p);
	}
}

/* Two data in pieces that are each as long as everything before: 1, 2, 22, 1212, 22222222, ... The
 * footprint has two limits, 5/3 and 4/3 at a window of two, of which s finds both. */
static void trace_with_two_limits(void **state)
{
	struct mtl_profile *p;
	size_t most = RUNNING_ON_VALGRIND ? 1 << 14 : 1 << 20, n = 0;
	uint64_t *data = calloc(most, sizeof(*data));
	(void)state;

	assert_non_null(data);
	assert_int_equal(mtl_profile_new(0, &p), 0);
	for (size_t piece = 1, seen = 0; seen + piece <= most; seen += piece, n++) {
		for (size_t i = 0; i < piece; i++)
			data[i] = n == 0 ? 1 : n % 2 ? 2 : 1 + i % 2;
		assert_int_equal(mtl_profile_access(p, data, piece, NULL), 0);
		if (seen > 0)
			piece *= 2;
		if (seen + piece < most / 8)
			continue;
		double s = mtl_profile_footprint(p, MTL_DENNING_SCHWARTZ, 2);
		assert_true(fabs(s - (n % 2 ? 4.0 : 5.0) / 3) < 0.002);
		assert_true(fabs(mtl_profile_footprint(p, MTL_XIANG, 2) - s) < 0.002);
		if (n % 2) /* the steady state counts a long absence in full */
			assert_true(mtl_profile_footprint(p, MTL_STEADY_STATE, 2) > 1.8);
	}
	mtl_profile_free(p);
	free(data);
}

static void memory_is_bounded(void **state)
{
	uint64_t data[1000], n = 0;
	struct mtl_profile *p;
	int r = 0;
	(void)state;

	assert_int_equal(mtl_profile_new(1000, &p), -ENOMEM);
	assert_int_equal(mtl_profile_new(4 << 20, &p), 0);
	while (r == 0) {
		for (size_t i = 0; i < 1000; i++)
			data[i] = n++;
		r = mtl_profile_access(p, data, 1000, NULL);
	}
	assert_int_equal(r, -ENOMEM);
	assert_true(mtl_profile_bytes(p) <= 4 << 20);
	/* what was counted is a whole: nothing is reused, and the footprint of everything is all */
	assert_int_equal(mtl_profile_accesses(p), mtl_profile_distinct(p));
	assert_true(near(mtl_profile_footprint(p, MTL_XIANG, (double)mtl_profile_accesses(p)),
	        (double)mtl_profile_distinct(p)));
	mtl_profile_free(p);
}

static void lines_by_set(void **state)
{
	uint64_t data[] = {0, 5, 10, 3, 8, 3, 0, 13}, sets[5];
	struct mtl_profile *p;
	(void)state;

	assert_int_equal(mtl_profile_new(0, &p), 0);
	assert_true(isnan(mtl_miss_ratio_by_eviction_time(p, 1)));
	assert_int_equal(mtl_profile_access(p, data, 8, NULL), 0);
	mtl_profile_lines_in_sets(p, 5, sets);
	assert_true(sets[0] == 3 && sets[1] == 0 && sets[2] == 0 && sets[3] == 3 && sets[4] == 0);
	mtl_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(footprints_are_those_of_all_windows),
	        cmocka_unit_test(bins_are_within_bounds),
	        cmocka_unit_test(shapes),
	        cmocka_unit_test(trace_with_two_limits),
	        cmocka_unit_test(memory_is_bounded),
	        cmocka_unit_test(lines_by_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

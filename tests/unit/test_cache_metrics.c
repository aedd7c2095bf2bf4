/* SPDX-License-Identifier: MIT */
/* Fill times, miss ratios and the identities between them; how near they come to LRU. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "traces.h"

#define LONGEST 7

static struct mtl_profile *profile_of(const uint64_t *data, size_t n)
{
	struct mtl_profile *profile;

	assert_int_equal(mtl_profile_new(0, &profile), 0);
	assert_int_equal(mtl_profile_access(profile, data, n, NULL), 0);
	return profile;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static void check_kind(struct mtl_profile *p, enum mtl_footprint_kind kind, double m, double n)
{
	double before = 1, differential = 2;

	for (double c = 0.25; c < m; c += 0.25) {
		double time = mtl_profile_fill_time(p, kind, c);
		double ratio = mtl_miss_ratio_by_reuse_time(p, kind, c);

		if (mtl_profile_footprint(p, kind, 0) <= c)
			assert_true(near(mtl_profile_footprint(p, kind, time), c));
		else
			assert_true(time == 0);
		assert_true(ratio <= before && ratio >= m / n - 1e-12);
		before = ratio;
		if (kind < MTL_DENNING_SCHWARTZ)
			continue;
		ratio = mtl_miss_ratio_by_differentiation(p, kind, c);
		assert_true(ratio <= differential + 1e-9);
		differential = ratio;
	}
	for (double c = m; c < 2 * m + 1; c++) {
		assert_true(isinf(mtl_profile_fill_time(p, kind, c)));
		assert_true(near(mtl_miss_ratio_by_reuse_time(p, kind, c), m / n));
		assert_true(near(mtl_miss_ratio_by_differentiation(p, kind, c), m / n));
		assert_true(near(mtl_miss_ratio_by_expected_distance(p, c), m / n));
	}
}

/* The steps of s are its miss ratios, and StatStack is the eviction time by another name. */
static void check_identities(struct mtl_profile *p, double n, double m)
{
	for (double x = 0; x < n; x++) {
		double s = mtl_profile_footprint(p, MTL_DENNING_SCHWARTZ, x);
		double above = (mtl_histogram_above(mtl_profile_reuse_times(p), x) + m) / n;

		if (s >= m || s <= 0)
			continue;
		assert_true(near(mtl_profile_eviction_time(p, s), x));
		assert_true(
		        near(mtl_miss_ratio_by_differentiation(p, MTL_DENNING_SCHWARTZ, s), above));
	}
	for (double c = 0.3; c < m; c += 0.3) {
		double ratio = mtl_miss_ratio_by_expected_distance(p, c);
		double by_time = mtl_miss_ratio_by_eviction_time(p, c);

		/* where ES hits c exactly, rounding may put one value on either side */
		if (!near(ratio, by_time))
			assert_true(fabs(mtl_profile_eviction_time(p, c) -
			                    round(mtl_profile_eviction_time(p, c))) < 1e-9);
	}
}

static void inverses_and_bounds(void **state)
{
	static struct trace t = {0};
	uint64_t random = 23;
	(void)state;

	for (unsigned run = 0; trace_next(&t, trace_longest(LONGEST)); run++) {
		struct mtl_profile *p = profile_of(t.ai, t.n);

		for (unsigned kind = MTL_XIANG; run % 3 == 0 && kind <= MTL_STEADY_STATE; kind++)
			check_kind(p, kind, (double)t.m, (double)t.n);
		check_identities(p, (double)t.n, (double)t.m);
		mtl_profile_free(p);
	}
	for (unsigned run = 0; run < sim_runs(60); run++) {
		trace_random(&t, &random, 300);
		struct mtl_profile *p = profile_of(t.ai, t.n);
		for (unsigned kind = MTL_XIANG; kind <= MTL_STEADY_STATE; kind++)
			check_kind(p, kind, (double)t.m, (double)t.n);
		check_identities(p, (double)t.n, (double)t.m);
		mtl_profile_free(p);
	}
}

/* The seed's example. */
static void three_letters(void **state)
{
	struct trace t;
	(void)state;

	trace_from_letters(&t, "abc abc abc");
	struct mtl_profile *p = profile_of(t.ai, t.n);
	assert_true(mtl_histogram_above(mtl_profile_reuse_times(p), 2) == 6);
	assert_true(mtl_histogram_above(mtl_profile_reuse_times(p), 3) == 0);
	for (double x = 0; x <= 9; x++)
		assert_true(near(mtl_profile_footprint(p, MTL_XIANG, x), fmin(x, 3)));
	assert_true(near(mtl_profile_fill_time(p, MTL_XIANG, 2), 2));
	assert_true(near(mtl_miss_ratio_by_differentiation(p, MTL_XIANG, 1), 1));
	assert_true(near(mtl_miss_ratio_by_differentiation(p, MTL_XIANG, 2), 1));
	assert_true(near(mtl_miss_ratio_by_reuse_time(p, MTL_XIANG, 3), 3.0 / 9));
	assert_true(mtl_inter_miss_time(0.25) == 4 && mtl_residence_time(10, 0.25) == 40);
	assert_true(isinf(mtl_inter_miss_time(0)));
	mtl_profile_free(p);
}

static void easton_fagin(void **state)
{
	double lines[] = {1, 2, 4}, ratios[] = {0.5, 0.25, 0.1}, times[3] = {-1};
	static struct trace t = {0};
	uint64_t random = 29;
	(void)state;

	assert_int_equal(mtl_fill_times_from_miss_ratios(lines, ratios, 3, times), 0);
	assert_true(times[0] == 1 && times[1] == 3 && times[2] == 11);
	times[0] = -1;
	assert_int_equal(
	        mtl_fill_times_from_miss_ratios((double[]){1, 1}, ratios, 2, times), -EINVAL);
	assert_int_equal(mtl_fill_times_from_miss_ratios((double[]){0}, ratios, 1, times), -EINVAL);
	assert_int_equal(
	        mtl_fill_times_from_miss_ratios(lines, (double[]){NAN}, 1, times), -EINVAL);
	assert_true(times[0] == -1);

	for (unsigned run = 0; run < sim_runs(50); run++) {
		double sizes[TRACE_MOST], misses[TRACE_MOST], fills[TRACE_MOST];
		size_t n = 0;

		trace_random(&t, &random, 400);
		struct mtl_profile *p = profile_of(t.ai, t.n);
		/* at the sizes that s takes it is exact */
		for (double x = 1; x <= (double)t.n; x++, n++) {
			sizes[n] = mtl_profile_footprint(p, MTL_DENNING_SCHWARTZ, x);
			misses[n] =
			        mtl_histogram_above(mtl_profile_reuse_times(p), x) + (double)t.m;
			misses[n] /= (double)t.n;
		}
		assert_int_equal(mtl_fill_times_from_miss_ratios(sizes, misses, n, fills), 0);
		for (size_t i = 0; i < n; i++)
			assert_true(fabs(fills[i] - (double)(i + 1)) < 1e-6 * (double)(i + 1));
		/* at whole sizes never above, s being concave */
		for (n = 0; n + 1 < t.m; n++) {
			sizes[n] = (double)(n + 1);
			misses[n] = mtl_miss_ratio_by_eviction_time(p, sizes[n]);
		}
		assert_int_equal(mtl_fill_times_from_miss_ratios(sizes, misses, n, fills), 0);
		for (size_t i = 0; i < n; i++)
			assert_true(
			        fills[i] <= mtl_profile_eviction_time(p, sizes[i]) * (1 + 1e-9));
		mtl_profile_free(p);
	}
}

enum pattern { ZIPF, UNIFORM, SCAN, BLOCKS, N_PATTERNS };

static uint64_t draw(enum pattern pattern, uint64_t *random, size_t i)
{
	double u = sim_uniform(random);

	switch (pattern) {
	case ZIPF: /* near 1 / rank */
		return (uint64_t)exp(u * log(3000));
	case UNIFORM:
		return (uint64_t)(u * 1000);
	case SCAN:
		return i % 700;
	default: /* in blocks that are gone through a few times, anywhere */
		return i / 600 * 37 % 50 * 30 + i % 60;
	}
}

/* Mean absolute error over sizes against the stack. */
static void close_to_lru(void **state)
{
	static const double bound[N_PATTERNS] = {0.005, 0.005, 0.035, 0.03};
	size_t n = RUNNING_ON_VALGRIND ? 20000 : 200000;
	uint64_t *data = calloc(n, sizeof(*data)), random = 31;
	(void)state;

	assert_non_null(data);
	for (enum pattern pattern = ZIPF; pattern < N_PATTERNS; pattern++) {
		double error = 0, sizes = 0;
		struct mtl_stack *stack;

		for (size_t i = 0; i < n; i++)
			data[i] = draw(pattern, &random, i);
		struct mtl_profile *p = profile_of(data, n);
		assert_int_equal(mtl_stack_new(0, &stack), 0);
		assert_int_equal(mtl_stack_access(stack, data, n, NULL), 0);
		for (double c = 4; c < 4000; c *= 1.2, sizes++) {
			double exact;

			assert_int_equal(mtl_stack_miss_ratios(stack, &c, 1, &exact), 0);
			error += fabs(mtl_miss_ratio_by_eviction_time(p, c) - exact);
			assert_true(fabs(mtl_miss_ratio_by_eviction_time(p, c) -
			                    mtl_miss_ratio_by_reuse_time(p, MTL_XIANG, c)) < 0.1);
		}
		assert_true(error / sizes < bound[pattern] * (RUNNING_ON_VALGRIND ? 3 : 1));
		mtl_stack_free(stack);
		mtl_profile_free(p);
	}
	free(data);
}

/* The known limit of all of them: half the time 10 lines and half the time 1000, each in turn,
 * misses half of the accesses at 750 lines; the mean footprint is 505 lines and says that none
 * does. */
static void phases_are_averaged(void **state)
{
	size_t n = RUNNING_ON_VALGRIND ? 40000 : 400000;
	uint64_t *data = calloc(n, sizeof(*data));
	struct mtl_stack *stack;
	double exact, c = 750;
	(void)state;

	assert_non_null(data);
	for (size_t i = 0; i < n; i++)
		data[i] = i < n / 2 ? i % 10 : 10 + i % 1000;
	struct mtl_profile *p = profile_of(data, n);
	assert_int_equal(mtl_stack_new(0, &stack), 0);
	assert_int_equal(mtl_stack_access(stack, data, n, NULL), 0);
	assert_int_equal(mtl_stack_miss_ratios(stack, &c, 1, &exact), 0);
	assert_true(fabs(exact - 0.5) < 0.01);
	assert_true(mtl_miss_ratio_by_eviction_time(p, c) < 0.03);
	assert_true(mtl_miss_ratio_by_reuse_time(p, MTL_XIANG, c) < 0.03);
	mtl_stack_free(stack);
	mtl_profile_free(p);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(inverses_and_bounds),
	        cmocka_unit_test(three_letters),
	        cmocka_unit_test(easton_fagin),
	        cmocka_unit_test(close_to_lru),
	        cmocka_unit_test(phases_are_averaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The second curve beside the first: its score, what it refuses, and its way through JSON. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <json-c/json.h>
#include <math.h>

#include "cleanup.h"
#include "reuse.h"
#include "simulate.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

#define N 600

static struct mtl_curve_point point(double size, double misses, double low, double high)
{
	return (struct mtl_curve_point){.size_bytes = size,
	        .misses_per_second = misses,
	        .low = low,
	        .high = high,
	        .miss_ratio = NAN,
	        .relative_miss_ratio = NAN};
}

/* Four sizes: one below the resolution, one below the cache whose misses are sampled, two compared.
 */
static void score_is_of_what_both_resolve(void **state)
{
	struct mtl_curve_point first[] = {point(1000, 9000, 9000, 9000),
	        point(2000, 8000, 7000, 9000), point(4000, 1000, 900, 1100),
	        point(8000, 200, 100, 300)};
	struct mtl_curve_point second[] = {point(1000, 1, 1, 1), point(2000, 1, 1, 1),
	        point(4000, 1300, 1200, 1400), point(8000, 100, 50, 150)};
	const struct mtl_curve curve = {.points = first, .n_points = 4};
	struct mtl_reuse reuse = {.points = second, .n_points = 4, .cache_bytes = 3000};
	(void)state;

	second[0].below_resolution = true;
	mtl_reuse_compare(&curve, &reuse);
	assert_true(fabs(reuse.difference - (300 + 100) / 2.0 / 1000) < 1e-12);
	assert_true(reuse.overlap == 0.5);
	assert_true(!*reuse.reason);
	reuse.cache_bytes = 1e6;
	mtl_reuse_compare(&curve, &reuse);
	assert_true(isnan(reuse.difference) && isnan(reuse.overlap));
	assert_non_null(strstr(reuse.reason, "nothing to compare"));
}

static void nothing_that_misses_is_no_score(void **state)
{
	struct mtl_curve_point none[] = {point(4000, 0, 0, 0)}, some[] = {point(4000, 5, 4, 6)};
	const struct mtl_curve curve = {.points = none, .n_points = 1};
	struct mtl_reuse reuse = {.points = some, .n_points = 1};
	(void)state;

	mtl_reuse_compare(&curve, &reuse);
	assert_true(isnan(reuse.difference) && reuse.overlap == 0);
}

/* A scan by residual times: `lines` lines, one after the other in `round` seconds. */
static int scan_curve(struct mtl_curve **ret_curve)
{
	static struct mtl_observation observations[N];
	struct mtl_estimate_options options = sim_options();
	uint64_t random = 5;

	sim_observe_all(&random, sim_scan, 4, 1000, observations, N);
	options.now = 1e12;
	return mtl_curve_from_observations(observations, N, NULL, 0, &options, ret_curve);
}

/* Gaps that are all of one length: the second curve is a step at c1 + rate x gap. */
static void gaps(struct mtl_observation *ret, size_t n, double gap)
{
	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct mtl_observation){.moment = (double)i,
		        .deadline = 1000,
		        .weight = 1,
		        .slots = 1,
		        .whole_line = 1};
		ret[i].touched[0] = (float)gap;
	}
}

static void second_curve_is_of_the_same_sizes(void **state)
{
	static struct mtl_observation seen[N];
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	struct mtl_estimate_options options = sim_options();
	(void)state;

	assert_int_equal(scan_curve(&curve), 0);
	gaps(seen, N, 100);
	options.now = 1e12;
	options.resolution_seconds = 1;
	options.miss_cache_bytes = 64 * 10;
	options.misses_per_second = 5; /* 500 lines more within a gap */
	assert_int_equal(mtl_reuse_from_observations(seen, N, NULL, 0, &options, curve), 0);
	assert_int_equal(curve->reuse->n_points, curve->n_points);
	assert_int_equal(curve->reuse->observations, N);
	for (size_t i = 0; i < curve->n_points; i++) {
		const struct mtl_curve_point *p = &curve->reuse->points[i];

		assert_true(p->size_bytes == curve->points[i].size_bytes);
		if (p->size_bytes > 64 * 20 && p->size_bytes < 64 * 400)
			assert_true(fabs(p->misses_per_second - 5) < 0.5);
		if (p->size_bytes > 64 * 700)
			assert_true(p->misses_per_second < 0.5);
	}
}

static void too_few_are_a_reason(void **state)
{
	static struct mtl_observation seen[N];
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	struct mtl_estimate_options options = sim_options();
	(void)state;

	assert_int_equal(scan_curve(&curve), 0);
	gaps(seen, 12, 100);
	options.now = 1e12;
	options.resolution_seconds = 1;
	options.miss_cache_bytes = 640;
	options.misses_per_second = 5;
	assert_int_equal(mtl_reuse_from_observations(seen, 12, NULL, 0, &options, curve), 0);
	assert_int_equal(curve->reuse->n_points, 0);
	assert_non_null(strstr(curve->reuse->reason, "12 of about 60"));
	options.misses_per_second = NAN; /* and what is there stays */
	assert_int_equal(mtl_reuse_from_observations(seen, 12, NULL, 0, &options, curve), -EINVAL);
	assert_non_null(strstr(curve->reuse->reason, "12 of about 60"));
	assert_int_equal(mtl_reuse_refuse(curve, "no PMU"), 0);
	assert_string_equal(curve->reuse->reason, "no PMU");
	assert_true(isnan(curve->reuse->difference) && curve->reuse->observations == 0);
}

static struct mtl_curve *through_json(const struct mtl_curve *curve, const char *error)
{
	const struct mtl_curve_origin origin = {
	        .pid = 1, .accesses_per_second = NAN, .overhead_target = NAN};
	struct mtl_curve_origin about;
	struct mtl_curve *again = NULL;
	struct json_object *object;
	char reason[128] = "";
	int r;

	assert_int_equal(mtl_curve_to_json(curve, &origin, &object), 0);
	r = mtl_curve_from_json(object, &again, &about, reason, sizeof(reason));
	json_object_put(object);
	assert_int_equal(r, error ? -EBADMSG : 0);
	if (error)
		assert_non_null(strstr(reason, error));
	return again;
}

static void goes_through_json(void **state)
{
	struct mtl_curve_point points[] = {point(4000, 5, 4, 6)};
	struct mtl_reuse reuse = {.points = points,
	        .n_points = 1,
	        .observations = 99,
	        .cache_bytes = 32768,
	        .misses_per_second = 1e6,
	        .delay_seconds = 5e-5,
	        .difference = 0.125,
	        .overlap = 1};
	struct mtl_curve curve = {.points = points, .n_points = 1, .reuse = &reuse};
	struct mtl_curve *again = through_json(&curve, NULL);
	(void)state;

	assert_int_equal(again->reuse->observations, 99);
	assert_int_equal(again->reuse->n_points, 1);
	assert_true(again->reuse->points[0].high == 6 && again->reuse->difference == 0.125);
	assert_true(again->reuse->delay_seconds == 5e-5 && !*again->reuse->reason);
	mtl_curve_free(again);
	curve.reuse = NULL;
	again = through_json(&curve, NULL);
	assert_null(again->reuse);
	mtl_curve_free(again);
}

static void what_is_no_curve_is_refused(void **state)
{
	struct mtl_curve_point points[] = {point(4000, 5, 4, 6)}, wrong[] = {point(4000, 5, 6, 7)};
	struct mtl_reuse reuse = {.points = wrong, .n_points = 1};
	const struct mtl_curve curve = {.points = points, .n_points = 1, .reuse = &reuse};
	(void)state;

	assert_null(through_json(&curve, "reuse.points[0]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(score_is_of_what_both_resolve),
	        cmocka_unit_test(nothing_that_misses_is_no_score),
	        cmocka_unit_test(second_curve_is_of_the_same_sizes),
	        cmocka_unit_test(too_few_are_a_reason),
	        cmocka_unit_test(goes_through_json),
	        cmocka_unit_test(what_is_no_curve_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

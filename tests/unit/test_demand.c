/* SPDX-License-Identifier: MIT */
/* Demands: what they take from either kind of curve, what they refuse, and how demands fill a cache
 * together. tests/unit/test_interleaved.c has whether that is so. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "demand_fixture.h"

#define ORIGIN                                                                                     \
	"\"pid\":1,\"comm\":\"c\",\"method\":\"residual\",\"rung\":\"watchpoints\","               \
	"\"clock\":\"cpu\",\"window_seconds\":30,\"lost\":0,\"resident_bytes\":1e6,"               \
	"\"accesses_per_second\":null,\"overhead\":{\"target\":null,\"daemon\":null},"             \
	"\"observations\":100,\"effective_observations\":90,\"resolution_seconds\":1e-5,"          \
	"\"reference_bytes\":1e6,\"footprint\":[],"
#define POINT(size, fill, misses, low, high)                                                       \
	"{\"size_bytes\":" #size ",\"fill_time_seconds\":" #fill ",\"misses_per_second\":" #misses \
	",\"low\":" #low ",\"high\":" #high                                                        \
	",\"miss_ratio\":null,\"relative_miss_ratio\":null,\"below_resolution\":false}"
#define LIVE(cpu, wall, whole, window, points)                                                     \
	"{" ORIGIN "\"cpu_seconds\":" #cpu ",\"wall_seconds\":" #wall                              \
	",\"footprint_bytes\":" #whole ",\"footprint_window_seconds\":" #window                    \
	",\"resolution_bytes\":2000,\"points\":[" points "]}"
#define TRACE(accesses, distinct, line, points)                                                    \
	"{\"accesses\":" #accesses ",\"distinct\":" #distinct ",\"cold\":" #distinct               \
	",\"line_bytes\":" #line ",\"method\":\"exact\",\"points\":[" points "]}"
#define AT(size, fill, ratio)                                                                      \
	"{\"size_bytes\":" #size ",\"fill_time_accesses\":" #fill ",\"miss_ratio\":" #ratio "}"

static void assert_near(double a, double b)
{
	if (!(a == b || fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

static void assert_point(
        const struct mtl_demand *demand, size_t i, double size, double time, double misses)
{
	assert_true(i < demand->n);
	assert_near(demand->points[i].size_bytes, size);
	assert_near(demand->points[i].fill_time, time);
	assert_near(demand->points[i].misses, misses);
}

/* -- from curves -- */

/* A quarter of the time: four times as long, a quarter of the misses. */
static void live_curve_on_the_wall(void **state)
{
	_cleanup_(mtl_demand_freep) struct mtl_demand *d =
	        demand_of(LIVE(10, 40, 4000, 0.5,
	                          POINT(1000, 0.001, 800, 400, 1200) "," POINT(3000, 0.02, 400, 200,
	                                  800) "," POINT(6000, null, 40, 0, 80)),
	                1e-7);
	double low, high, misses;

	(void)state;
	assert_string_equal(d->name, "it");
	assert_string_equal(d->unit, "second");
	assert_int_equal(d->n, 5);
	assert_point(d, 0, 0, 0, 200);
	assert_point(d, 1, 1000, 0.004, 200);
	assert_point(d, 2, 3000, 0.08, 100);
	assert_point(d, 3, 4000, 2, 70);
	assert_point(d, 4, 6000, INFINITY, 10);
	assert_near(d->footprint_bytes, 4000);
	assert_near(d->longest_time, 2);
	assert_near(d->smallest_known_bytes, 2000);
	assert_near(d->work, 0.25 / 1e-7);
	assert_near(mtl_demand_misses(d, 500, &low, &high), 200);
	assert_near(low, 100);
	assert_near(high, 300);
	assert_near(mtl_demand_misses(d, 2000, &low, &high), 150);
	assert_near(low, 75);
	assert_near(high, 250);
	assert_near(mtl_demand_misses(d, 4500, &low, NULL), 55);
	assert_near(low, 25);
	assert_near(mtl_demand_misses(d, 1e9, NULL, &high), 10);
	assert_near(high, 20);
	assert_near(mtl_demand_footprint(d, 0.002), 500);
	assert_near(mtl_demand_footprint(d, 0.042), 2000);
	assert_near(mtl_demand_footprint(d, 1.04), 3500);
	assert_near(mtl_demand_footprint(d, 3), 4000);
	assert_near(mtl_demand_footprint(d, INFINITY), 4000);
	assert_near(mtl_demand_footprint(d, 0), 0);
	/* what fits misses as in all of the cache, not as at the size it has just outgrown */
	const struct mtl_demand *alone[] = {d};
	assert_int_equal(mtl_demands_share(alone, 1, 6000, &low, &high, &misses), 0);
	assert_true(isinf(low));
	assert_near(high, 4000);
	assert_near(misses, 10);
}

static void live_curve_that_knows_less(void **state)
{
	/* nothing beyond the last size; a footprint that the points have reached */
	_cleanup_(mtl_demand_freep) struct mtl_demand *d =
	        demand_of(LIVE(8, 4, 3000, 0.02, POINT(3000, 0.02, 400, 200, 800)), 1e-7);
	_cleanup_(mtl_demand_freep) struct mtl_demand *short_ =
	        demand_of(LIVE(8, 4, 2500, 0.01, POINT(3000, 0.02, 400, 200, 800)), 1e-7);
	_cleanup_(mtl_demand_freep) struct mtl_demand *never =
	        demand_of(LIVE(8, 4, 2500, 0.01, POINT(3000, null, 400, 200, 800)), 1e-7);

	(void)state;
	assert_int_equal(d->n, 2);
	assert_near(d->footprint_bytes, 3000);
	assert_near(d->longest_time, 0.01);
	assert_near(d->smallest_known_bytes, 3000);
	assert_near(d->work, 2e7);
	assert_int_equal(short_->n, 2);
	assert_near(short_->footprint_bytes, 3000);
	assert_int_equal(never->n, 3);
	assert_point(never, 1, 2500, 0.005, 800);
	assert_near(never->footprint_bytes, 2500);
}

/* Its own points, nothing without a cache before them, and the footprint of 5 lines among them. */
static void trace_curve_per_run(void **state)
{
	_cleanup_(mtl_demand_freep) struct mtl_demand *d =
	        demand_of(TRACE(300, 5, 64,
	                          AT(64, 1, 1) "," AT(128, 2, 0.5) "," AT(256, 10, 0.25) "," AT(
	                                  512, null, 0.016666666666666666)),
	                10);
	double a = 75, b = 5, time = 10 / 300.0 + (5 - 4) * log(a / b) / (a - b), low, high;

	(void)state;
	assert_string_equal(d->unit, "run");
	assert_int_equal(d->n, 6);
	assert_point(d, 0, 0, 0, 300);
	assert_point(d, 1, 64, 1 / 300.0, 300);
	assert_point(d, 2, 128, 2 / 300.0, 150);
	assert_point(d, 3, 256, 10 / 300.0, 75);
	assert_point(d, 4, 320, time, 5);
	assert_point(d, 5, 512, INFINITY, 5);
	assert_near(d->footprint_bytes, 320);
	assert_near(d->longest_time, 1);
	assert_near(d->smallest_known_bytes, 64);
	assert_near(d->work, 30);
	assert_near(mtl_demand_misses(d, 192, &low, &high), 112.5);
	assert_near(low, 112.5);
	assert_near(high, 112.5);
	assert_near(mtl_demand_misses(d, 0, NULL, NULL), 300);
	assert_near(mtl_demand_misses(d, -1, NULL, NULL), 300);
}

static void trace_curves_of_other_sizes(void **state)
{
	/* only sizes below the footprint; linear up to all accesses; first accesses known anyway */
	_cleanup_(mtl_demand_freep) struct mtl_demand *few =
	        demand_of(TRACE(1000, 100, 1, AT(50, 200, 0.2)), 10);
	/* all accesses are first accesses */
	_cleanup_(mtl_demand_freep) struct mtl_demand *cold =
	        demand_of(TRACE(100, 100, 1, AT(1, 1, 1) "," AT(128, null, 1)), 10);
	/* one datum */
	_cleanup_(mtl_demand_freep) struct mtl_demand *one =
	        demand_of(TRACE(100, 1, 64, AT(64, null, 0.01)), 10);
	/* a sample that can be neither exact about the footprint nor about small sizes */
	_cleanup_(mtl_demand_freep) struct mtl_demand *sample = demand_of(
	        "{\"resolution_bytes\":20,\"accesses\":100,\"distinct\":50,\"line_bytes\":1,"
	        "\"points\":[" AT(16, 30, 0.5) "," AT(48, null, 0.3) "]}",
	        10);

	/* nothing misses, so nothing comes in: as long again as it took so far */
	_cleanup_(mtl_demand_freep) struct mtl_demand *still =
	        demand_of(TRACE(1000, 5, 1, AT(1, 1e29, 0)), 10);

	(void)state;
	assert_int_equal(few->n, 3);
	assert_point(few, 2, 100, 0.2 + 50 * log(2) / 100, 100);
	assert_near(mtl_demand_misses(few, 25, NULL, NULL), 600);
	assert_near(mtl_demand_misses(few, 75, NULL, NULL), 150);
	assert_near(mtl_demand_misses(few, 1e6, NULL, NULL), 100);
	assert_near(few->smallest_known_bytes, 50);
	assert_point(cold, 2, 100, 1, 100);
	assert_near(mtl_demand_footprint(cold, 0.5), 50);
	assert_int_equal(one->n, 2);
	assert_near(one->footprint_bytes, 64);
	assert_true(one->points[1].fill_time > 0 && one->points[1].fill_time <= 1);
	assert_near(sample->footprint_bytes, 48);
	assert_near(sample->smallest_known_bytes, 20);
	assert_point(sample, 2, 48, 0.3 + 32 * log(5 / 3.0) / 20, 30);
	assert_near(still->points[2].misses, 0);
	assert_true(still->points[2].fill_time > still->points[1].fill_time);
}

static void rounding_is_no_refusal(void **state)
{
	_cleanup_(mtl_demand_freep) struct mtl_demand *d =
	        demand_of(TRACE(1000, 100, 1, AT(50, 200, 0.2) "," AT(60, 300, 0.20000000001)), 10);
	char name[100];
	struct mtl_demand *named = NULL;
	struct json_object *object = json_tokener_parse(TRACE(1000, 100, 1, AT(50, 200, 0.2)));

	(void)state;
	assert_true(d->points[2].misses == d->points[1].misses);
	assert_true(d->points[2].high == d->points[1].misses);
	memset(name, 'n', sizeof(name));
	name[99] = '\0';
	assert_int_equal(mtl_demand_from_json(object, name, 1, &named, NULL, 0), 0);
	assert_int_equal(strlen(named->name), 63);
	assert_null(mtl_demand_free(named));
	assert_null(mtl_demand_free(NULL));
	json_object_put(object);
}

static void what_does_not_fit_is_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
	        {"[]", "neither a curve of mtld nor one of mtl trace"},
	        {"{}", "neither a curve of mtld nor one of mtl trace"},
	        {"{\"accesses\":1}", "distinct: missing"},
	        {"{\"cpu_seconds\":1}", "pid: missing"},
	        {TRACE(0, 1, 64, AT(64, 1, 1)),
	                "accesses, distinct and line_bytes must be positive"},
	        {TRACE(1, 0, 64, AT(64, 1, 1)),
	                "accesses, distinct and line_bytes must be positive"},
	        {TRACE(1, 1, 0, AT(64, 1, 1)),
	                "accesses, distinct and line_bytes must be positive"},
	        {TRACE(-1, 1, 64, AT(64, 1, 1)), "accesses: expected an integer, not negative"},
	        {TRACE(1.5, 1, 64, AT(64, 1, 1)), "accesses: expected an integer, not negative"},
	        {TRACE(10, 1, 64, ), "points: expected some"},
	        {"{\"accesses\":1,\"distinct\":1,\"line_bytes\":64}", "points: missing"},
	        {"{\"accesses\":1,\"distinct\":1,\"line_bytes\":64,\"points\":{}}",
	                "points: expected an array"},
	        {TRACE(10, 1, 64, "3"), "points[0]: expected an object"},
	        {TRACE(10, 1, 64, AT(64, 1, "x")), "points[0].miss_ratio: expected a number, not "
	                                           "negative"},
	        {TRACE(10, 1, 64, AT(null, 1, 1)), "points[0].size_bytes: must not be null"},
	        {TRACE(10, 1, 64, "{\"size_bytes\":1,\"eviction_time\":1,\"miss_ratio\":1}"),
	                "points[0].fill_time_accesses: missing"},
	        {TRACE(10, 1, 64, AT(0, 1, 1)), "points[0]: sizes must rise"},
	        {TRACE(10, 1, 64, AT(64, 1, 1) "," AT(64, 2, 1)), "points[1]: sizes must rise"},
	        {TRACE(10, 1, 64, AT(64, 1, 1) "," AT(65, 1, 1)),
	                "points[1]: fill times must rise"},
	        {TRACE(10, 1, 64, AT(64, null, 1) "," AT(65, 1, 1)),
	                "points[1]: fill times must rise"},
	        {TRACE(10, 1, 64, AT(64, 1, 0.5) "," AT(65, 2, 0.6)),
	                "points[1]: misses must not rise with size"},
	        {TRACE(10, 1, 64, AT(64, 1, 1.5)), "points[0]: misses must not rise with size"},
	        {TRACE(10, 1, 64, AT(1e31, 1, 1)), "points[0]: a number is out of range"},
	        {TRACE(10, 1, 64, AT(1, 1e-40, 1)), "points[0]: a number is out of range"},
	        {"{\"resolution_bytes\":-1,\"accesses\":100,\"distinct\":50,\"line_bytes\":1,"
	         "\"points\":[" AT(16, 30, 0.5) "]}",
	                "resolution_bytes: expected a number, not negative"},
	        {LIVE(0, 1, 100, 1, POINT(64, 1, 1, 1, 1)),
	                "cpu_seconds: it must have run for some time"},
	        {LIVE(1, 0, 100, 1, POINT(64, 1, 1, 1, 1)),
	                "cpu_seconds: it must have run for some time"},
	        {LIVE(1, 1, 100, 1, ), "points: expected some"},
	        {LIVE(1, 1, 100, 1, POINT(64, 1, 1, 2, 1)),
	                "points[0]: not low <= misses_per_second <= high"},
	        {LIVE(1, 1, 100, 1, POINT(64, 1, 1, 1, 1) "," POINT(128, 2, 2, 1, 2)),
	                "points[1]: misses must not rise with size"},
	        {LIVE(1, 1, 1e31, 1, POINT(64, 1, 1, 1, 1)), "the footprint is out of range"},
	        {LIVE(1, 1, 0, 1, POINT(64, null, 1, 1, 1)), "points: nothing is ever filled"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct mtl_demand *demand = (void *)&bad;
		char error[128];

		assert_int_equal(demand_read(bad[i].text, 1, &demand, error), -EBADMSG);
		assert_string_equal(error, bad[i].error);
		assert_ptr_equal(demand, &bad);
	}
}

static void cost_must_be_one(void **state)
{
	static const double bad[] = {0, -1, NAN, INFINITY};
	struct mtl_demand *demand = NULL;
	char error[128];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(
		        demand_read(TRACE(10, 1, 64, AT(64, 1, 1)), bad[i], &demand, error),
		        -EINVAL);
	assert_null(demand);
}

/* -- together -- */

/* The footprint is the inverse of fill times, and never falls. */
static void footprint_by_points(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (unsigned run = 0; run < sim_runs(500); run++) {
		_cleanup_(mtl_demand_freep) struct mtl_demand *d = demand_random(&random);
		double before = 0;

		for (size_t i = 0; i < d->n && isfinite(d->points[i].fill_time); i++)
			assert_near(mtl_demand_footprint(d, d->points[i].fill_time),
			        d->points[i].size_bytes);
		for (double time = 0; time < 1.5 * d->longest_time; time += d->longest_time / 97) {
			double bytes = mtl_demand_footprint(d, time);
			assert_true(bytes >= before && bytes <= d->footprint_bytes);
			before = bytes;
		}
		assert_near(before, d->footprint_bytes);
	}
}

static double sum_at(const struct mtl_demand *const *demands, size_t n, double time)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += mtl_demand_footprint(demands[i], time);
	return sum;
}

static void check_share(const struct mtl_demand *const *demands, size_t n, double size)
{
	double time, occupancy[4], misses[4], sum = 0, all = sum_at(demands, n, INFINITY);

	assert_int_equal(mtl_demands_share(demands, n, size, &time, occupancy, misses), 0);
	assert_int_equal(isinf(time), size >= all);
	for (size_t i = 0; i < n; i++) {
		sum += occupancy[i];
		assert_true(fabs(occupancy[i] - mtl_demand_footprint(demands[i], time)) <=
		            1e-9 * (1 + all));
		assert_near(misses[i], mtl_demand_misses(demands[i],
		                               isinf(time) ? size : occupancy[i], NULL, NULL));
	}
	assert_true(fabs(sum - fmin(size, all)) <= 1e-13 * all);
	/* the first such time */
	if (isfinite(time) && time > 0)
		assert_true(sum_at(demands, n, time * (1 - 1e-6)) < size);
}

static void shares_add_up(void **state)
{
	uint64_t random = 66;

	(void)state;
	for (unsigned run = 0; run < sim_runs(1000); run++) {
		size_t n = 1 + (size_t)(sim_uniform(&random) * 4);
		struct mtl_demand *demands[4];
		double all = 0;

		for (size_t i = 0; i < n; i++) {
			demands[i] = demand_random(&random);
			all += demands[i]->footprint_bytes;
		}
		const struct mtl_demand *const *them = (const struct mtl_demand *const *)demands;
		for (unsigned k = 0; k < 20; k++)
			check_share(them, n, 1.1 * all * sim_uniform(&random));
		check_share(them, n, 0);
		check_share(them, n, all);
		check_share(them, n, INFINITY);
		check_share(them, n, demands[0]->points[1].size_bytes);
		for (size_t i = 0; i < n; i++)
			mtl_demand_free(demands[i]);
	}
}

/* One at twice the rate of its like has twice as much; alone a program has it all. */
static void who_touches_more_has_more(void **state)
{
	_cleanup_(mtl_demand_freep) struct mtl_demand *slow =
	        demand_of(LIVE(1, 2, 8000, 1, POINT(8000, null, 0, 0, 0)), 1);
	_cleanup_(mtl_demand_freep) struct mtl_demand *fast =
	        demand_of(LIVE(1, 1, 8000, 1, POINT(8000, null, 0, 0, 0)), 1);
	_cleanup_(mtl_demand_freep) struct mtl_demand *trace =
	        demand_of(TRACE(10, 5, 64, AT(64, 1, 1)), 1);
	const struct mtl_demand *both[] = {slow, fast}, *mixed[] = {fast, trace};
	double time = 77, occupancy[2], misses[2];

	(void)state;
	assert_int_equal(mtl_demands_share(both, 2, 6000, &time, occupancy, misses), 0);
	assert_near(time, 0.5);
	assert_near(occupancy[0], 2000);
	assert_near(occupancy[1], 4000);
	assert_int_equal(mtl_demands_share(both, 1, 6000, &time, occupancy, misses), 0);
	assert_near(occupancy[0], 6000);
	assert_near(time, 1.5);
	assert_int_equal(mtl_demands_share(both, 2, 14000, &time, occupancy, misses), 0);
	assert_near(occupancy[0], 6000);
	assert_near(occupancy[1], 8000);
	time = 77;
	assert_int_equal(mtl_demands_share(mixed, 2, 6000, &time, occupancy, misses), -EINVAL);
	assert_int_equal(mtl_demands_share(both, 0, 6000, &time, occupancy, misses), -EINVAL);
	assert_int_equal(mtl_demands_share(both, 2, -1, &time, occupancy, misses), -EINVAL);
	assert_int_equal(mtl_demands_share(both, 2, NAN, &time, occupancy, misses), -EINVAL);
	assert_true(time == 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(live_curve_on_the_wall),
	        cmocka_unit_test(live_curve_that_knows_less),
	        cmocka_unit_test(trace_curve_per_run),
	        cmocka_unit_test(trace_curves_of_other_sizes),
	        cmocka_unit_test(rounding_is_no_refusal),
	        cmocka_unit_test(what_does_not_fit_is_refused),
	        cmocka_unit_test(cost_must_be_one),
	        cmocka_unit_test(footprint_by_points),
	        cmocka_unit_test(shares_add_up),
	        cmocka_unit_test(who_touches_more_has_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

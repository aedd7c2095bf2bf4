/* SPDX-License-Identifier: MIT */
/* The record: the same observations give the same curve after a trip through text. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>

#include "cleanup.h"
#include "mtl.h"
#include "simulate.h"

#define N 120

static struct mtl_observation observations[N];
static const struct mtl_birth births[] = {{0, 0}, {12.5, 1e6 / 3}, {99, 2e6}};
static struct mtl_estimate_options options;
static const struct mtl_curve_origin origin = {.pid = 4711,
        .comm = "scan",
        .method = "residual",
        .rung = "watchpoints",
        .clock = "cpu",
        .window_seconds = 30,
        .wall_seconds = 41.2,
        .cpu_seconds = 29.8,
        .accesses_per_second = 2e9,
        .overhead_target = NAN,
        .overhead_daemon = NAN};

struct record {
	struct mtl_observation *observations;
	struct mtl_birth *births;
	size_t n, n_births;
	struct mtl_curve_origin origin;
	struct mtl_estimate_options options;
	char error[128];
};

static void record_done(struct record *record)
{
	free(record->observations);
	free(record->births);
}

static int setup(void **state)
{
	uint64_t random = 301;
	(void)state;

	options = sim_options();
	options.window_seconds = 30;
	options.reference_bytes = 1048576;
	options.cache_bytes = 32 << 20;
	options.accesses_per_second = 2e9;
	sim_observe_all(&random, sim_mixed, 4, 262144.0 / 7, observations, N);
	for (size_t i = 0; i < N; i += 10)
		sim_observe(&random, sim_random, i % 50 / 10, 1e5, &observations[i]);
	for (size_t i = 0; i < N; i++) {
		observations[i].sequence = (UINT64_C(1) << 52) + i;
		observations[i].wall = 1e9 + i * 0.1;
	}
	return 0;
}

static struct json_object *written(void)
{
	struct json_object *object = NULL;

	assert_int_equal(
	        mtl_record_to_json(observations, N, births, 3, &origin, &options, &object), 0);
	return object;
}

static int read_back(struct json_object *object, struct record *record)
{
	*record = (struct record){.n = 77, .n_births = 77};
	return mtl_record_from_json(object, &record->observations, &record->n, &record->births,
	        &record->n_births, &record->origin, &record->options, record->error,
	        sizeof(record->error));
}

static void assert_same_observation(
        const struct mtl_observation *a, const struct mtl_observation *b)
{
	assert_true(a->moment == b->moment && a->deadline == b->deadline);
	assert_true(a->weight == b->weight && a->wall == b->wall);
	assert_int_equal(a->slots, b->slots);
	assert_int_equal(a->whole_line, b->whole_line);
	assert_int_equal(a->sequence, b->sequence);
	for (unsigned k = 0; k < a->slots; k++)
		assert_true(a->touched[k] == b->touched[k]);
}

static void round_trip(void **state)
{
	struct json_object *object = written(), *again;
	_cleanup_(record_done) struct record record;
	(void)state;

	again = json_tokener_parse(json_object_to_json_string(object));
	json_object_put(object);
	assert_non_null(again);
	assert_int_equal(read_back(again, &record), 0);
	json_object_put(again);
	assert_int_equal(record.n, N);
	assert_int_equal(record.n_births, 3);
	for (size_t i = 0; i < N; i++)
		assert_same_observation(&observations[i], &record.observations[i]);
	assert_memory_equal(births, record.births, sizeof(births));
	assert_true(record.options.now == options.now && record.options.window_seconds == 30);
	assert_true(record.options.resolution_seconds == options.resolution_seconds);
	assert_true(record.options.reference_bytes == options.reference_bytes);
	assert_true(record.options.cache_bytes == options.cache_bytes);
	assert_true(record.options.accesses_per_second == 2e9);
	assert_int_equal(record.origin.pid, 4711);
	assert_string_equal(record.origin.rung, "watchpoints");
}

static void estimates_the_same_again(void **state)
{
	struct json_object *object = written();
	_cleanup_(record_done) struct record record;
	struct mtl_curve *before = NULL, *after = NULL;
	(void)state;

	assert_int_equal(read_back(object, &record), 0);
	json_object_put(object);
	record.options.seed = options.seed;
	assert_int_equal(
	        mtl_curve_from_observations(observations, N, births, 3, &options, &before), 0);
	assert_int_equal(mtl_curve_from_observations(record.observations, record.n, record.births,
	                         record.n_births, &record.options, &after),
	        0);
	assert_int_equal(before->n_points, after->n_points);
	for (size_t i = 0; i < before->n_points; i++) {
		assert_true(
		        before->points[i].misses_per_second == after->points[i].misses_per_second);
		assert_true(before->points[i].low == after->points[i].low);
	}
	mtl_curve_free(before);
	mtl_curve_free(after);
}

static void nothing_seen_is_a_record_too(void **state)
{
	struct json_object *object = NULL;
	_cleanup_(record_done) struct record record;
	(void)state;

	assert_int_equal(mtl_record_to_json(NULL, 0, NULL, 0, &origin, &options, &object), 0);
	assert_int_equal(read_back(object, &record), 0);
	assert_int_equal(record.n, 0);
	assert_int_equal(record.n_births, 0);
	json_object_put(object);
}

static void what_is_not_finite_is_not_written(void **state)
{
	struct mtl_observation o = observations[0];
	const struct mtl_birth birth = {0, NAN};
	struct json_object *object = NULL;
	(void)state;

	o.moment = NAN;
	assert_int_equal(mtl_record_to_json(&o, 1, NULL, 0, &origin, &options, &object), -EINVAL);
	assert_int_equal(
	        mtl_record_to_json(NULL, 0, &birth, 1, &origin, &options, &object), -EINVAL);
	assert_null(object);
}

static void refused(struct json_object *object, const char *error)
{
	struct record record;

	assert_int_equal(read_back(object, &record), -EBADMSG);
	assert_string_equal(record.error, error);
	assert_null(record.observations);
	assert_null(record.births);
	assert_int_equal(record.n, 77);
	json_object_put(object);
}

static struct json_object *with(const char *name, const char *json)
{
	struct json_object *object = written();

	json_object_object_del(object, name);
	if (json)
		json_object_object_add(object, name, json_tokener_parse(json));
	return object;
}

static void what_does_not_fit_is_refused(void **state)
{
	(void)state;

	refused(NULL, "expected an object");
	refused(json_tokener_parse("[]"), "expected an object");
	refused(json_tokener_parse("{}"), "format: expected \"mtl-observations-1\"");
	refused(with("format", "\"mtl-observations-2\""),
	        "format: expected \"mtl-observations-1\"");
	refused(with("format", "1"), "format: expected \"mtl-observations-1\"");
	refused(with("now", NULL), "now: missing");
	refused(with("now", "\"1\""), "now: expected a number, not negative");
	refused(with("comm", NULL), "comm: missing");
	refused(with("cache_bytes", "null"), "cache_bytes: must not be null");
	refused(with("observations", NULL), "observations: missing");
	refused(with("observations", "{}"), "observations: expected an array");
	refused(with("births", "3"), "births: expected an array");
	refused(with("births", "[[1,2],[3]]"), "births[1]: expected [moment, lines]");
	refused(with("births", "[[1,\"2\"]]"), "births[0]: expected two numbers");
	refused(with("births", "[[1,-2]]"), "births[0]: expected two numbers");
}

static void bad_observations_are_refused(void **state)
{
	static const struct {
		const char *row, *error;
	} cases[] = {
	        {"7", "observations[1]: expected an array"},
	        {"[]", "observations[1].moment: missing, not a number or out of range"},
	        {"[null,1,1,0,1,0,0,1]",
	                "observations[1].moment: missing, not a number or out of range"},
	        {"[0,-1,1,0,1,0,0,1]",
	                "observations[1].deadline: missing, not a number or out of range"},
	        {"[0,1,\"1\",0,1,0,0,1]",
	                "observations[1].weight: missing, not a number or out of range"},
	        {"[0,1,1,0,0,0,0]", "observations[1].slots: missing, not a number or out of range"},
	        {"[0,1,1,0,5,0,0,1,1,1,1,1]",
	                "observations[1].slots: missing, not a number or out of range"},
	        {"[0,1,1,0,1.5,0,0,1]",
	                "observations[1].slots: missing, not a number or out of range"},
	        {"[0,1,1,0,1,2,0,1]",
	                "observations[1].whole_line: missing, not a number or out of range"},
	        {"[0,1,1,0,1,0,-1,1]",
	                "observations[1].sequence: missing, not a number or out of range"},
	        {"[0,1,1,0,2,0,0,1]", "observations[1]: not as many times as slots"},
	        {"[0,1,1,0,1,0,0,1,1]", "observations[1]: not as many times as slots"},
	        {"[0,1,1,0,1,0,0,\"x\"]", "observations[1].touched: expected numbers or null"},
	        {"[0,1,1,0,1,0,0,NaN]", "observations[1].touched: expected numbers or null"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char rows[128];
		snprintf(rows, sizeof(rows), "[[0,1,1,0,1,0,0,null],%s]", cases[i].row);
		refused(with("observations", rows), cases[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(round_trip),
	        cmocka_unit_test(estimates_the_same_again),
	        cmocka_unit_test(nothing_seen_is_a_record_too),
	        cmocka_unit_test(what_is_not_finite_is_not_written),
	        cmocka_unit_test(what_does_not_fit_is_refused),
	        cmocka_unit_test(bad_observations_are_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

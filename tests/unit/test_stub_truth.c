/* SPDX-License-Identifier: MIT */
/*
 * The closed form against exact LRU on the phases' own accesses: equal at every size where nothing
 * is random, within chance where something is.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/object.h"
#include "../../cli/stub_file.h"
#include "../../cli/stub_phase.h"
#include "../../cli/stub_truth.h"
#include "cleanup.h"
#include "json_fields.h"
#include "mtl.h"
#include "simulate.h"

DEFINE_CLEANUP(struct mtl_stack, mtl_stack_free)
DEFINE_CLEANUP(struct mtl_demand, mtl_demand_free)

#define HEADER "working_set_bytes,pattern,stride_bytes,repeats\n"
#define PHASES_MAX 8

static struct stub_file file_of(const char *rows)
{
	struct stub_file file;
	char text[1024], error[256];

	snprintf(text, sizeof(text), HEADER "%s", rows);
	if (stub_file_parse(text, strlen(text), &file, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	return file;
}

static void access_line(void *context, const volatile uint64_t *word)
{
	uint64_t line = (uintptr_t)word / STUB_LINE_BYTES;

	assert_int_equal(mtl_stack_access(context, &line, 1, NULL), 0);
}

/* Every access there is, in order. */
static struct mtl_stack *stack_of(const struct stub_file *file, uint64_t repeat)
{
	struct stub_phase phases[PHASES_MAX] = {0};
	struct mtl_stack *stack;

	assert_int_equal(mtl_stack_new(0, &stack), 0);
	for (size_t i = 0; i < file->n; i++)
		assert_int_equal(stub_phase_new(&file->rows[i], i, &phases[i]), 0);
	for (uint64_t round = 0; round < repeat; round++)
		for (size_t i = 0; i < file->n; i++)
			stub_phase_tell(&phases[i], access_line, stack);
	for (size_t i = 0; i < file->n; i++)
		stub_phase_done(&phases[i]);
	return stack;
}

/* At every size there is; `chance` standard deviations, 0 where nothing is random. */
static void agrees(const char *rows, uint64_t repeat, double chance)
{
	_cleanup_(stub_file_done) struct stub_file file = file_of(rows);
	_cleanup_(mtl_stack_freep) struct mtl_stack *stack = stack_of(&file, repeat);
	_cleanup_(stub_truth_freep) struct stub_truth *truth = NULL;
	double accesses, distinct;

	assert_int_equal(stub_truth_new(&file, repeat, &truth), 0);
	accesses = stub_truth_accesses(truth);
	distinct = (double)mtl_stack_distinct(stack);
	assert_true(accesses == (double)mtl_stack_accesses(stack));
	assert_true(chance > 0 || distinct == stub_truth_distinct(truth));
	assert_true((chance > 0) == (stub_truth_deviation(truth) > 0));
	for (double lines = 1; lines <= distinct + 2; lines++) {
		double ratio, wanted = stub_truth_misses(truth, lines) / accesses;

		assert_int_equal(mtl_stack_miss_ratios(stack, &lines, 1, &ratio), 0);
		if (!(fabs(ratio - wanted) <= chance * stub_truth_deviation(truth) + 1e-12))
			fail_msg("%s x %d, %g lines: %.9g, in closed form %.9g (+-%.9g)", rows,
			        (int)repeat, lines, ratio, wanted, stub_truth_deviation(truth));
	}
}

static void cycles(void **state)
{
	static const char *const files[] = {"4096,scan,,1\n", "4096,scan,,7\n", "64,scan,,3\n",
	        "4096,stride,64,5\n", "4096,stride,128,5\n", "4096,stride,200,3\n",
	        "4096,stride,24,3\n", "4096,stride,8192,2\n", "4096,chase,,9\n", "64,chase,,2\n",
	        "4096,scan,,2\n16384,chase,,3\n8192,stride,192,1\n",
	        "64,stride,64,2\n64,scan,,1\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		for (uint64_t repeat = 1; repeat <= 4; repeat += i % 2 + 1)
			agrees(files[i], repeat, 0);
}

static void chance(void **state)
{
	(void)state;
	agrees("65536,random,,40\n", 1, 4);
	agrees("65536,random,,1\n", 30, 4);
	agrees("64,random,,10\n", 2, 4);
	agrees("65536,random,,1\n", 1, 4);
	agrees("65536,random,,20\n32768,scan,,2\n", 4, 4);
	agrees("32768,random,,14\n65536,random,,15\n65536,chase,,1\n", 6, 4);
	agrees("32768,random,,1\n65536,random,,3\n65536,chase,,1\n", 1, 4);
}

/* What share and partition read is what the curve says. */
static void is_a_curve(void **state)
{
	_cleanup_(stub_file_done) struct stub_file file =
	        file_of("65536,chase,,3\n131072,random,,20\n");
	_cleanup_(stub_truth_freep) struct stub_truth *truth = NULL;
	_cleanup_(mtl_demand_freep) struct mtl_demand *demand = NULL;
	_cleanup_json_ struct json_object *object = NULL;
	struct json_object *points;
	char error[128] = "";

	(void)state;
	assert_int_equal(stub_truth_new(&file, 2, &truth), 0);
	assert_int_equal(stub_truth_to_json(truth, &object), 0);
	if (mtl_demand_from_json(object, "it", 100, &demand, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	assert_true(json_object_object_get_ex(object, "points", &points));
	for (size_t i = 0; i < json_object_array_length(points); i++) {
		struct json_object *point = json_object_array_get_idx(points, i);
		double size = object_number(point, "size_bytes"), low, high;
		double misses = stub_truth_misses(truth, size / STUB_LINE_BYTES);

		assert_true(fabs(mtl_demand_misses(demand, size, &low, &high) - misses) <=
		            1e-6 * misses);
	}
	assert_true(demand->footprint_bytes == 65536 + 131072);
}

/* Easton and Fagin's sum over every line. */
static void fills(void **state)
{
	_cleanup_(stub_file_done) struct stub_file file =
	        file_of("65536,chase,,3\n32768,scan,,2\n");
	_cleanup_(stub_truth_freep) struct stub_truth *truth = NULL;
	_cleanup_json_ struct json_object *object = NULL;
	struct json_object *points;
	double time = 0, lines = 0;

	(void)state;
	assert_int_equal(stub_truth_new(&file, 5, &truth), 0);
	assert_int_equal(stub_truth_to_json(truth, &object), 0);
	assert_true(json_object_object_get_ex(object, "points", &points));
	for (size_t i = 0; i < json_object_array_length(points); i++) {
		struct json_object *point = json_object_array_get_idx(points, i);
		double wanted = object_number(point, "fill_time_accesses");

		for (; lines < object_number(point, "size_bytes") / STUB_LINE_BYTES; lines++)
			time += lines < 1 ? 1
			                  : stub_truth_accesses(truth) /
			                            stub_truth_misses(truth, lines);
		assert_true(lines == 1536 ? isnan(wanted) : fabs(wanted - time) <= 1e-6 * time);
	}
	assert_true(lines == 1536);
}

static void nothing_to_say(void **state)
{
	_cleanup_(stub_file_done) struct stub_file file = file_of(",,,\n");
	_cleanup_(stub_file_done) struct stub_file large = file_of("1048576,scan,,1000000000\n");
	struct stub_truth *truth = NULL;

	_cleanup_(stub_file_done) struct stub_file few = file_of("64,scan,,1\n65536,random,,13\n");

	(void)state;
	assert_int_equal(stub_truth_new(&file, 1, &truth), -ENODATA);
	assert_int_equal(stub_truth_new(&few, 2, &truth), -EDOM);
	assert_int_equal(stub_truth_new(&large, 1000, &truth), -ERANGE);
	assert_null(truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(cycles),
	        cmocka_unit_test(chance),
	        cmocka_unit_test(is_a_curve),
	        cmocka_unit_test(fills),
	        cmocka_unit_test(nothing_to_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

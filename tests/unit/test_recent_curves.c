/* SPDX-License-Identifier: MIT */
/*
 * The same question within a moment has the same answer; any other one has its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>

#include "recent_curves.h"

static struct recent_curves *recent;
static struct arguments arguments;

static int setup(void **state)
{
	(void)state;
	recent = recent_curves_new();
	arguments = (struct arguments){.pid = 5, .sizes = {{1e6, 2e6}, 2}};
	return recent ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	recent = recent_curves_free(recent);
	return 0;
}

static void keep(int number, double known)
{
	struct json_object *curve = json_object_new_int(number);

	recent_curves_keep(recent, &arguments, known, curve);
	json_object_put(curve);
}

/* 0: there is none. */
static int found(double known)
{
	struct json_object *curve = recent_curves_find(recent, &arguments, known);
	int number = curve ? json_object_get_int(curve) : 0;

	json_object_put(curve);
	return number;
}

static void test_for_a_moment(void **state)
{
	(void)state;
	assert_int_equal(found(10), 0);
	keep(7, 10);
	assert_int_equal(found(10), 7);
	assert_int_equal(found(10 + RECENT_SECONDS - 0.01), 7);
	assert_int_equal(found(10 + RECENT_SECONDS + 0.01), 0);
	assert_int_equal(found(10), 0); /* it is not kept any longer */
}

static void test_another_process_of_that_number(void **state)
{
	(void)state;
	keep(7, 10);
	assert_int_equal(found(9.9), 0); /* known for less long than the one that was asked about */
}

static void test_other_questions(void **state)
{
	struct arguments first = arguments;

	(void)state;
	keep(7, 10);
	arguments.pid = 6;
	assert_int_equal(found(10), 0);
	arguments = first;
	arguments.sizes.values[1] = 3e6;
	assert_int_equal(found(10), 0);
	arguments = first;
	arguments.sizes.n = 1;
	assert_int_equal(found(10), 0);
	arguments = first;
	arguments.windows = arguments.sizes;
	arguments.sizes.n = 0;
	assert_int_equal(found(10), 0);
	arguments = first;
	arguments.reference = 4096;
	assert_int_equal(found(10), 0);
	arguments = first;
	assert_int_equal(found(10), 7);
}

static void test_bounded(void **state)
{
	(void)state;
	for (int i = 1; i <= 2 * RECENT_MAX; i++) {
		arguments.pid = i;
		keep(i, 10);
	}
	for (int i = 1; i <= 2 * RECENT_MAX; i++) {
		arguments.pid = i;
		assert_int_equal(found(10), i > RECENT_MAX ? i : 0);
	}
}

static void test_none_at_all(void **state)
{
	struct json_object *curve = json_object_new_int(1);

	(void)state;
	recent_curves_keep(NULL, &arguments, 10, curve);
	assert_null(recent_curves_find(NULL, &arguments, 10));
	json_object_put(curve);
	assert_null(recent_curves_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	        TEST(test_for_a_moment),
	        TEST(test_another_process_of_that_number),
	        TEST(test_other_questions),
	        TEST(test_bounded),
	        TEST(test_none_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

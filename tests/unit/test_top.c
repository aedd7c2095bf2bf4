/* SPDX-License-Identifier: MIT */
/*
 * `mtl top` without a screen: rows from answers of mtld, their order and choice, what keys do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <curses.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/client.h"
#include "../../cli/top.h"
#include "../../cli/top_columns.h"
#include "../../cli/top_keys.h"

static struct top top;

static int setup(void **state)
{
	(void)state;
	top = (struct top){.rows = {.l2_bytes = NAN, .llc_bytes = NAN}, .column = 2, .page = 10};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	top_rows_done(&top.rows);
	free(top.order);
	return 0;
}

static struct json_object *parse(const char *text)
{
	struct json_object *object = json_tokener_parse(text);

	assert_non_null(object);
	return object;
}

static void list(const char *processes)
{
	char text[2048];

	snprintf(text, sizeof(text), "{\"processes\":[%s]}", processes);
	_cleanup_(json_object_putp) struct json_object *answer = parse(text);

	assert_int_equal(top_rows_list(&top.rows, answer), 0);
	assert_int_equal(top_arrange(&top), 0);
}

#define PROCESS(pid, comm, cpu, wall)                                                              \
	"{\"pid\":" #pid ",\"comm\":\"" comm "\",\"state\":\"sampling\",\"observations\":90,"      \
	"\"observations_needed\":60,\"resident_bytes\":" #pid ",\"cpu_seconds\":" #cpu             \
	",\"wall_seconds\":" #wall "}"
#define POINT(size, fill, misses, low, high, below)                                                \
	"{\"size_bytes\":" #size ",\"fill_time_seconds\":" #fill ",\"misses_per_second\":" #misses \
	",\"low\":" #low ",\"high\":" #high                                                        \
	",\"miss_ratio\":null,\"relative_miss_ratio\":null,\"below_resolution\":" #below "}"

/* 32K unknown, 64K: 100, 1M: 60, 32M: 0; L2 1M, last level 32M. */
static struct json_object *curve_of(int pid)
{
	char text[2048];

	snprintf(text, sizeof(text),
	        "{\"pid\":%d,\"comm\":\"x\",\"method\":\"residual\",\"rung\":\"watchpoints\","
	        "\"clock\":\"cpu\",\"window_seconds\":30,\"wall_seconds\":40,\"observations\":90,"
	        "\"effective_observations\":80,\"lost\":0,\"resident_bytes\":1e8,"
	        "\"footprint_bytes\":2e7,\"footprint_window_seconds\":1,\"resolution_bytes\":5e4,"
	        "\"resolution_seconds\":5e-5,\"cpu_seconds\":20,\"accesses_per_second\":null,"
	        "\"reference_bytes\":1048576,\"agreement\":{\"cache_bytes\":33554432,"
	        "\"predicted_misses_per_second\":0,\"measured_misses_per_second\":null,"
	        "\"ratio\":null,\"reason\":\"not counted\"},"
	        "\"overhead\":{\"target\":null,\"daemon\":null},\"note\":null,\"points\":["
	        "%s,%s,%s,%s],\"footprint\":[]}",
	        pid, POINT(32768, 1e-5, 100, 90, 110, true),
	        POINT(65536, 2e-5, 100, 90, 110, false), POINT(1048576, 1e-3, 60, 42, 78, false),
	        POINT(33554432, null, 0, 0, 1, false));
	return parse(text);
}

static void take_curve(int pid)
{
	_cleanup_(json_object_putp) struct json_object *curve = curve_of(pid);

	assert_int_equal(top_rows_curve(&top.rows, curve), 0);
}

static void test_rows_keep_what_they_know(void **state)
{
	(void)state;
	list(PROCESS(1, "one", 5, 10) "," PROCESS(2, "two", 1, 10));
	assert_true(isnan(top_rows_find(&top.rows, 1)->cpu));
	take_curve(1);
	list(PROCESS(2, "two", 1, 12) "," PROCESS(1, "one", 6, 12) "," PROCESS(3, "three", 0, 0));
	assert_int_equal(top.rows.n, 3);
	assert_true(fabs(top_rows_find(&top.rows, 1)->cpu - 0.5) < 1e-9);
	assert_true(top_rows_find(&top.rows, 2)->cpu == 0);
	assert_non_null(top_rows_find(&top.rows, 1)->curve);
	assert_null(top_rows_find(&top.rows, 2)->curve);
	list(PROCESS(2, "two", 1, 12));
	assert_null(top_rows_find(&top.rows, 1));
	assert_true(top_rows_find(&top.rows, 2)->cpu == 0); /* the same moment again */
}

static void test_what_is_read_off_a_curve(void **state)
{
	const struct top_row *row;

	(void)state;
	list(PROCESS(1, "one", 5, 10));
	take_curve(1);
	row = top_rows_find(&top.rows, 1);
	assert_true(top.rows.l2_bytes == 1 << 20 && top.rows.llc_bytes == 32 << 20);
	assert_true(row->l2_misses == 60 && row->llc_misses == 0);
	assert_true(isinf(row->llc_fill_seconds));
	assert_true(fabs(row->width - 0.3) < 1e-9); /* of 0.1 and 0.3; there are none at 32M */
	assert_true(isnan(top_misses(row->curve, 40000)));
	assert_true(isnan(top_misses(row->curve, 1000)));
	assert_true(isnan(top_misses(row->curve, 64 << 20)));
	assert_true(fabs(top_misses(row->curve, (65536 + 1048576) / 2) - 80) < 1e-9);
}

static void test_bad_answers_change_nothing(void **state)
{
	static const char *const bad[] = {"{}", "{\"processes\":3}", "{\"points\":[]}"};
	_cleanup_(json_object_putp) struct json_object *strange = curve_of(77);

	(void)state;
	list(PROCESS(1, "one", 5, 10));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		_cleanup_(json_object_putp) struct json_object *object = parse(bad[i]);

		assert_int_equal(top_rows_list(&top.rows, object), -EBADMSG);
		assert_int_equal(top_rows_curve(&top.rows, object), -EBADMSG);
	}
	assert_int_equal(top_rows_curve(&top.rows, strange), -ESRCH);
	assert_int_equal(top.rows.n, 1);
}

static void test_spark(void **state)
{
	double from, to, heights[11];

	(void)state;
	list(PROCESS(1, "one", 5, 10));
	take_curve(1);
	top_spark_range(&top.rows, &from, &to);
	assert_true(from == 32768 && to == 64 << 20);
	top_spark(top_rows_find(&top.rows, 1)->curve, from, to, 11, heights);
	assert_true(isnan(heights[0]));  /* below the resolution */
	assert_true(heights[1] > 0.99);  /* 70K: the greatest known */
	assert_true(isnan(heights[10])); /* 64M: beyond the curve */
	for (int i = 2; i < 10; i++)
		assert_true(heights[i] <= heights[i - 1]);
}

static const char *order_text(void)
{
	static char text[128];

	text[0] = '\0';
	for (size_t i = 0; i < top.n; i++)
		sprintf(text + strlen(text), "%d ", top.order[i]->pid);
	return text;
}

static void sort_by(const char *name)
{
	char error[256];

	assert_int_equal(top_column_parse(name, &top.column, error, sizeof(error)), 0);
	assert_int_equal(top_arrange(&top), 0);
}

static void test_order(void **state)
{
	char error[256];
	size_t column = 99;

	(void)state;
	list(PROCESS(30, "b", 0, 1) "," PROCESS(10, "C", 0, 1) "," PROCESS(20, "a", 0, 1));
	list(PROCESS(30, "b", 1, 2) "," PROCESS(10, "C", 2, 2) "," PROCESS(20, "a", 0, 1));
	sort_by("pid");
	assert_string_equal(order_text(), "10 20 30 ");
	sort_by("command");
	assert_string_equal(order_text(), "20 30 10 ");
	sort_by("cpu"); /* 20: not known, last both ways */
	assert_string_equal(order_text(), "10 30 20 ");
	top.reversed = true;
	sort_by("cpu");
	assert_string_equal(order_text(), "30 10 20 ");
	top.reversed = false;
	sort_by("resident");
	assert_string_equal(order_text(), "30 20 10 ");
	assert_int_equal(top_column_parse("size", &column, error, sizeof(error)), -EINVAL);
	assert_int_equal(column, 99);
	assert_non_null(strstr(error, "pid, command, cpu"));
}

static void keys(const char *text)
{
	for (; *text; text++) {
		top_key(&top, *text);
		assert_int_equal(top_arrange(&top), 0);
	}
}

static void key(int code)
{
	top_key(&top, code);
	assert_int_equal(top_arrange(&top), 0);
}

static void test_selection_stays_with_its_process(void **state)
{
	(void)state;
	list(PROCESS(1, "a", 0, 1) "," PROCESS(2, "b", 0, 1) "," PROCESS(3, "c", 0, 1));
	sort_by("pid");
	assert_int_equal(top.selected, 1);
	keys("j");
	assert_int_equal(top.selected, 2);
	keys("r");
	assert_string_equal(order_text(), "3 2 1 ");
	assert_int_equal(top.selected, 2);
	keys("jjjj");
	assert_int_equal(top.selected, 1);
	keys("g");
	assert_int_equal(top.selected, 3);
	key(KEY_NPAGE);
	assert_int_equal(top.selected, 1);
	keys("k");
	list(PROCESS(1, "a", 0, 1) "," PROCESS(3, "c", 0, 1)); /* 2 is gone: who is in its place */
	assert_int_equal(top.selected, 1);
	list("");
	keys("jkgG\n");
	assert_int_equal(top.view, TOP_TABLE);
}

static void test_filter(void **state)
{
	(void)state;
	list(PROCESS(11, "redis", 0, 1) "," PROCESS(12, "POSTGRES", 0, 1) "," PROCESS(
	        21, "qes", 0, 1));
	sort_by("pid");
	keys("/es");
	assert_string_equal(order_text(), "12 21 ");
	keys("q"); /* a letter here, not the end */
	assert_false(top.quit);
	assert_int_equal(top.n, 0);
	key(KEY_BACKSPACE);
	key('\n');
	assert_false(top.typing);
	assert_string_equal(order_text(), "12 21 ");
	key(27);
	assert_int_equal(top.n, 3);
	keys("/1");
	assert_string_equal(order_text(), "11 12 ");
	key(27);
	assert_int_equal(top.n, 3);
	keys("/0123456789012345678901234567890123456789");
	assert_int_equal(strlen(top.filter), sizeof(top.filter) - 1);
}

static void test_views(void **state)
{
	(void)state;
	list(PROCESS(1, "a", 0, 1) "," PROCESS(2, "b", 0, 1));
	sort_by("pid");
	key('\n');
	assert_int_equal(top.view, TOP_CURVE_VIEW);
	keys("n");
	assert_int_equal(top.selected, 2);
	keys("q");
	assert_int_equal(top.view, TOP_TABLE);
	assert_false(top.quit);
	keys("h");
	assert_int_equal(top.view, TOP_HELP);
	key(27);
	keys("<");
	assert_int_equal(top.column, top_columns_n - 1);
	keys(">>");
	assert_int_equal(top.column, 1);
	keys("q");
	assert_true(top.quit);
}

static void test_text_of_a_curve(void **state)
{
	_cleanup_free_ char *text = NULL;

	(void)state;
	list(PROCESS(1, "a", 0, 1));
	assert_int_equal(top_curve_text(&top.rows.rows[0], 80, false, true, &text), -ENODATA);
	assert_null(text);
	take_curve(1);
	assert_int_equal(top_curve_text(&top.rows.rows[0], 80, false, true, &text), 0);
	assert_non_null(strstr(text, "misses per second of CPU time"));
	assert_non_null(strstr(text, "below resolution"));
}

/* Titles fit, every key is explained or has a twin, sums of widths leave room for the spark. */
static void test_tables(void **state)
{
	unsigned width = 0;

	(void)state;
	for (size_t i = 0; i < top_columns_n; i++) {
		assert_true(strlen(top_columns[i].title) <= top_columns[i].width);
		width += top_columns[i].least_width <= 80 ? top_columns[i].width + 1 : 0;
	}
	assert_true(width + 8 <= 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	        TEST(test_rows_keep_what_they_know),
	        TEST(test_what_is_read_off_a_curve),
	        TEST(test_bad_answers_change_nothing),
	        TEST(test_spark),
	        TEST(test_order),
	        TEST(test_selection_stays_with_its_process),
	        TEST(test_filter),
	        TEST(test_views),
	        TEST(test_text_of_a_curve),
	        TEST(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

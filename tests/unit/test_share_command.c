/* SPDX-License-Identifier: MIT */
/*
 * `mtl share` on curves small enough to do by hand, its formats, and what it refuses.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <sys/stat.h>

#include "command_fixture.h"
#include "fake_mtld.h"

#define CLOSE 1e-6

/* Fills 10 in 20 accesses, 20 in 50; misses 0.8, 0.5, 0.04. */
#define SLOW "10:20:0.8 20:50:0.5 40:-:0.04"
/* The same in less time. */
#define FAST "10:10:0.8 20:20:0.5 40:-:0.04"

static int share(char *one, char *other, const char *const *words)
{
	char *operands[] = {one, other, NULL};
	struct options options = options_of(COMMAND_SHARE, words);
	int code = run_command(command_share, &options, other ? 2 : 1, operands);

	options_done(&options);
	return code;
}

static void near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= CLOSE * fmax(1, fabs(wanted))))
		fail_msg("%.17g is not %.17g", value, wanted);
}

static void is_program(struct json_object *object, size_t i, const char *name, double occupancy,
        double alone, double together)
{
	struct json_object *program = element(object, "programs", i);

	assert_string_equal(object_text(program, "name"), name);
	near(object_number(program, "occupancy_bytes"), occupancy);
	near(object_number(program, "misses_alone"), alone);
	near(object_number(program, "misses_together"), together);
	near(object_number(program, "miss_ratio_alone"), alone / 1000);
	near(object_number(program, "miss_ratio_together"), together / 1000);
	near(object_number(program, "footprint_bytes"), 40);
}

static void equals_halve_the_cache(void **state)
{
	const char *const words[] = {"--size=40", "--json", NULL};
	struct json_object *object, *other;

	(void)state;
	assert_int_equal(
	        share(trace_file("a.json", SLOW, 40), trace_file("b.json", SLOW, 40), words),
	        MTL_DONE);
	assert_string_equal(errors, "");
	object = answer();
	near(object_number(object, "fill_time"), 0.05);
	near(object_number(object, "size_bytes"), 40);
	near(object_number(object, "misses_alone"), 80);
	near(object_number(object, "misses_together"), 1000);
	assert_string_equal(object_text(object, "unit"), "run");
	is_program(object, 0, "a", 20, 40, 500);
	is_program(object, 1, "b", 20, 40, 500);
	other = element(element(object, "programs", 0), "hurt_by", 0);
	assert_string_equal(object_text(other, "name"), "b");
	near(object_number(other, "misses_without"), 40);
	json_object_put(object);
}

static void the_faster_takes_more(void **state)
{
	const char *const words[] = {"--size=30", "--json", NULL};
	struct json_object *object;

	(void)state;
	assert_int_equal(
	        share(trace_file("a.json", SLOW, 40), trace_file("b.json", FAST, 40), words),
	        MTL_DONE);
	object = answer();
	near(object_number(object, "fill_time"), 0.02);
	/* alone in 30: half way between 20 and 40 */
	is_program(object, 0, "a", 10, 270, 800);
	is_program(object, 1, "b", 20, 270, 500);
	json_object_put(object);
}

static void what_holds_all_hurts_nobody(void **state)
{
	const char *const json[] = {"--size=80", "--json", NULL};
	const char *const table[] = {"--size=80", NULL};
	struct json_object *object;
	char *a = trace_file("a.json", SLOW, 40), *b = trace_file("b.json", FAST, 40);

	(void)state;
	assert_int_equal(share(a, b, json), MTL_DONE);
	object = answer();
	assert_true(isnan(object_number(object, "fill_time"))); /* null */
	is_program(object, 0, "a", 40, 40, 40);
	is_program(object, 1, "b", 40, 40, 40);
	json_object_put(object);
	assert_int_equal(share(a, b, table), MTL_DONE);
	assert_true(is_said(output, "holds all that they touch"));
	assert_true(is_said(output, "None of them misses more than alone."));
}

static void people_are_told_who_suffers(void **state)
{
	const char *const words[] = {"--size=30", NULL};

	(void)state;
	assert_int_equal(
	        share(trace_file("a.json", SLOW, 40), trace_file("b.json", FAST, 40), words),
	        MTL_DONE);
	assert_true(is_said(output, "A cache of 30B, which all together fill in 2 % of a run."));
	assert_true(is_said(output, "+196 %")); /* 800 / 270 */
	assert_true(is_said(output, "b (530)"));
	assert_true(
	        is_said(output, "a pays most for sharing: 530 misses more than alone, 530 fewer "
	                        "without b."));
}

static void rows_are_pairs(void **state)
{
	const char *const words[] = {"--size=40", "--csv", NULL};

	(void)state;
	assert_int_equal(
	        share(trace_file("a.json", SLOW, 40), trace_file("b\"c.json", SLOW, 40), words),
	        MTL_DONE);
	assert_true(is_said(output, "name,neighbour,occupancy_bytes,misses_alone,misses_together,"
	                            "misses_without\n\"a\",\"b\"\"c\",20,40,500,40\n"));
}

/* Of live curves, on wall-clock time: half of the misses per CPU second. */
static void live_curves_are_per_wall_clock_second(void **state)
{
	const char *const words[] = {"--size=400", "--json", NULL};
	const struct live live = {.footprint = 800,
	        .resolution = 1,
	        .step = 100,
	        .width = 0.1,
	        .misses = {1000, 800, 600, 400, 300, 200, 100, 0},
	        .n = 8};
	struct json_object *object, *program;

	(void)state;
	assert_int_equal(
	        share(live_file("a.json", &live), live_file("b.json", &live), words), MTL_DONE);
	object = answer();
	assert_string_equal(object_text(object, "unit"), "second");
	near(object_number(object, "fill_time"), 1); /* 200 in 0.5 s of CPU time */
	program = element(object, "programs", 1);
	near(object_number(program, "occupancy_bytes"), 200);
	near(object_number(program, "misses_alone"), 200);
	near(object_number(program, "misses_together"), 400);
	assert_true(isnan(object_number(program, "miss_ratio_alone")));
	json_object_put(object);
}

static void what_curves_do_not_know_is_said(void **state)
{
	const char *const small[] = {"--size=400", NULL}, *const large[] = {"--size=4000", NULL};
	const char *const smaller[] = {"--size=200", "--json", NULL};
	const struct live live = {.footprint = 800,
	        .resolution = 300,
	        .step = 100,
	        .misses = {1000, 800, 600, 400, 300, 200, 100, 0},
	        .n = 8};
	char *a = live_file("a.json", &live), *b = live_file("b.json", &live);

	(void)state;
	assert_int_equal(share(a, b, small), MTL_DONE);
	assert_true(is_said(output, "note: the curve of a says nothing of less than 300B"));
	assert_null(strstr(output, "alone too"));
	assert_int_equal(share(a, b, smaller), MTL_DONE);
	assert_true(is_said(output, "its misses in 100B are a guess, alone too"));
	assert_int_equal(share(a, b, large), MTL_DONE);
	assert_true(is_said(output, "note: b touches 800B within 4 s, the longest time looked at"));
}

static void refused(char *one, char *other, int status, const char *words)
{
	const char *const size[] = {"--size=40", NULL};

	assert_int_equal(share(one, other, size), status);
	assert_string_equal(output, "");
	assert_true(is_said(errors, words));
}

static void bad_operands_are_refused(void **state)
{
	const struct live live = {
	        .footprint = 800, .resolution = 1, .step = 100, .misses = {2, 1}, .n = 2};
	char *good = trace_file("a.json", SLOW, 40);

	(void)state;
	refused(good, NULL, MTL_USAGE, "name two or more");
	refused(good, good, MTL_USAGE, "two operands are called a");
	refused(good, (char *)"/nowhere/b.json", MTL_FAILED, "/nowhere/b.json: No such file");
	refused(good, file_with("b.json", "{\"a\":1}"), MTL_FAILED,
	        "neither a curve of mtld nor one of mtl trace");
	refused(good, file_with("c.json", "hello"), MTL_FAILED, "it is no JSON from byte 1 on");
	refused(good, file_with("d.json", "{\"a\":1} {\"a\":1}"), MTL_FAILED,
	        "goes on after its first object, from byte 9 on");
	refused(good, file_with("e.json", ""), MTL_FAILED, "it is empty");
	refused(good, live_file("f.json", &live), MTL_USAGE, "a is a trace and f a live curve");
}

static void bytes_and_data_do_not_mix(void **state)
{
	char text[2048], data[4096];

	(void)state;
	trace_text(SLOW, 40, text, sizeof(text));
	snprintf(data, sizeof(data), "{\"format\":\"tokens\",%s", text + 1);
	refused(trace_file("a.json", SLOW, 40), file_with("b.json", data), MTL_USAGE,
	        "sizes are numbers of data in b and bytes in a");
}

/* --- the size of the cache */

static void make(const char *path)
{
	char whole[128];

	snprintf(whole, sizeof(whole), "%s%s", directory, path);
	assert_int_equal(mkdir(whole, 0755), 0);
}

#define CPU0 "/sys/devices/system/cpu/cpu0"

static void without_a_size_it_is_the_last_level_below_root(void **state)
{
	static const char *const parts[] = {"/sys", "/sys/devices", "/sys/devices/system",
	        "/sys/devices/system/cpu", CPU0, CPU0 "/cache", CPU0 "/cache/index0",
	        CPU0 "/cache/index1"};
	static const char *const state_parts[] = {"/var", "/var/lib", "/var/lib/mtl"};
	char root[128];
	const char *const words[] = {root, "--json", NULL};
	char *a = trace_file("a.json", SLOW, 40), *b = trace_file("b.json", SLOW, 40);
	struct json_object *object;

	(void)state;
	snprintf(root, sizeof(root), "--root=%s", directory);
	assert_int_equal(share(a, b, words), MTL_USAGE);
	assert_true(is_said(errors, "give --size"));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		make(parts[i]);
	file_with(CPU0 "/cache/index0/type", "Unified\n");
	file_with(CPU0 "/cache/index0/level", "3\n");
	file_with(CPU0 "/cache/index0/size", "3K\n");
	file_with(CPU0 "/cache/index1/type", "Data\n");
	file_with(CPU0 "/cache/index1/level", "1\n");
	file_with(CPU0 "/cache/index1/size", "9K\n");
	assert_int_equal(share(a, b, words), MTL_DONE);
	object = answer();
	near(object_number(object, "size_bytes"), 3072);
	json_object_put(object);
	for (size_t i = 0; i < sizeof(state_parts) / sizeof(*state_parts); i++)
		make(state_parts[i]);
	file_with("/var/lib/mtl/probe.json",
	        "{\"cpu\":{\"hypervisor\":false},\"levels\":[{\"level\":3,\"type\":"
	        "\"Unified\",\"size_bytes\":65536,\"measured_capacity_bytes\":4096,"
	        "\"verdict\":\"not-measurable\"}]}");
	assert_int_equal(share(a, b, words), MTL_DONE);
	assert_true(is_said(errors, "note: of L3, which is said to have 64K, 4K could be had"));
	object = answer();
	near(object_number(object, "size_bytes"), 4096);
	json_object_put(object);
	for (int i = 0; i < n_paths; i++)
		unlink(paths[i]);
	for (size_t i = sizeof(state_parts) / sizeof(*state_parts); i-- > 0;) {
		snprintf(root, sizeof(root), "%s%s", directory, state_parts[i]);
		rmdir(root);
	}
	for (size_t i = sizeof(parts) / sizeof(*parts); i-- > 0;) {
		snprintf(root, sizeof(root), "%s%s", directory, parts[i]);
		rmdir(root);
	}
}

/* --- processes */

static int first_asked, tracked, fine;

/* Asked without a size, process 7 is tracked first; sizes are of the cache. */
static void answer_with(const char *question, char *ret_reply, size_t size)
{
	const struct live live = {.pid = 7,
	        .footprint = 800,
	        .resolution = 1,
	        .step = 100,
	        .misses = {1000, 800, 600, 400, 300, 200, 100, 0},
	        .n = 8};
	bool first = strstr(question, "\"pid\":7") && !first_asked++;
	bool track = strstr(question, "io.mtld.Track") != NULL;
	char text[16384];

	tracked += track;
	fine += strstr(question, "200.0") && strstr(question, "400.0");
	live_text(&live, text, sizeof(text));
	snprintf(ret_reply, size,
	        first   ? "{\"error\":\"io.mtld.NotTracked\",\"parameters\":{\"pid\":7}}"
	        : track ? "{\"parameters\":{}}"
	                : "{\"parameters\":{\"curve\":%s}}",
	        text);
}

static void processes_are_tracked_and_asked_at_fine_sizes(void **state)
{
	const char *const words[] = {
	        "--size=400", "--json", fake_mtld_start(directory, answer_with), NULL};
	char seven[] = "7", eight[] = "8";
	struct json_object *object;

	(void)state;
	assert_int_equal(share(seven, eight, words), MTL_DONE);
	fake_mtld_stop();
	assert_int_equal(tracked, 1);
	assert_true(fine >= 3);
	assert_true(is_said(errors, "tracking process 7"));
	object = answer();
	assert_string_equal(object_text(element(object, "programs", 1), "name"), "8");
	assert_int_equal(object_number(element(object, "programs", 0), "pid"), 7);
	near(object_number(object, "misses_together"), 800);
	json_object_put(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
	        TEST(equals_halve_the_cache),
	        TEST(the_faster_takes_more),
	        TEST(what_holds_all_hurts_nobody),
	        TEST(people_are_told_who_suffers),
	        TEST(rows_are_pairs),
	        TEST(live_curves_are_per_wall_clock_second),
	        TEST(what_curves_do_not_know_is_said),
	        TEST(bad_operands_are_refused),
	        TEST(bytes_and_data_do_not_mix),
	        TEST(without_a_size_it_is_the_last_level_below_root),
	        TEST(processes_are_tracked_and_asked_at_fine_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * `mtl curve --from FILE` on a made-up record whose answer is known: a scan of 16 MiB once every 40
 * ms, so that a random moment is followed by the touch of a line after a time that is uniform in
 * 0..40 ms, the footprint is 16 MiB and half the memory is filled in 20 ms.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "../../cli/options.h"
#include "../../cli/saved_curve.h"
#include "cleanup.h"
#include "mtl.h"

#define LINES (16.0 * 1024 * 1024 / MTL_LINE_BYTES)
#define PERIOD 0.04
#define N_MAX 600
#define TEXT 65536

struct fixture {
	char file[32];
	char output[TEXT], errors[TEXT];
};

static int setup(void **state)
{
	static struct fixture fixture;
	int fd;

	fixture = (struct fixture){.file = "/tmp/test-saved-XXXXXX"};
	fd = mkstemp(fixture.file);
	close(fd);
	*state = &fixture;
	return fd < 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	return unlink(fixture->file);
}

static void save_scan(const char *file, size_t n)
{
	static struct mtl_observation observations[N_MAX];
	struct mtl_curve_origin origin = {.pid = 7,
	        .comm = "scan",
	        .method = "residual",
	        .rung = "watchpoints",
	        .clock = "cpu",
	        .window_seconds = 30,
	        .wall_seconds = 20,
	        .cpu_seconds = 19,
	        .resident_bytes = LINES * MTL_LINE_BYTES,
	        .accesses_per_second = NAN,
	        .overhead_target = 0.004,
	        .overhead_daemon = NAN};
	struct mtl_estimate_options options = {.now = 19,
	        .window_seconds = 30,
	        .resolution_seconds = 5e-5,
	        .reference_bytes = 1 << 20,
	        .cache_bytes = 32 << 20};
	struct json_object *object;

	for (size_t i = 0; i < n; i++) {
		float touch = (float)(PERIOD * (((double)i * 0.618033988749895) -
		                                       floor((double)i * 0.618033988749895)));

		observations[i] = (struct mtl_observation){.moment = 19.0 * (double)i / (double)n,
		        .deadline = 1,
		        .weight = LINES,
		        .touched = {touch},
		        .slots = 1,
		        .whole_line = 1,
		        .wall = (double)i,
		        .sequence = i};
	}
	assert_int_equal(
	        mtl_record_to_json(observations, n, NULL, 0, &origin, &options, &object), 0);
	assert_int_equal(json_object_to_file(file, object), 0);
	json_object_put(object);
}

static FILE *redirect(int fd, int *ret_saved)
{
	FILE *file = tmpfile();

	*ret_saved = dup(fd);
	dup2(fileno(file), fd);
	return file;
}

static void restore(int fd, int saved, FILE *file, char *ret_text)
{
	dup2(saved, fd);
	close(saved);
	rewind(file);
	ret_text[fread(ret_text, 1, TEXT - 1, file)] = '\0';
	fclose(file);
}

static int run(struct fixture *fixture, struct options *options)
{
	int saved_out, saved_err, code;
	FILE *out, *err;

	options->from = fixture->file;
	fflush(stdout);
	out = redirect(STDOUT_FILENO, &saved_out);
	err = redirect(STDERR_FILENO, &saved_err);
	code = saved_curve(options);
	fflush(stdout);
	restore(STDERR_FILENO, saved_err, err, fixture->errors);
	restore(STDOUT_FILENO, saved_out, out, fixture->output);
	return code;
}

static double number_at(struct json_object *object, const char *pointer)
{
	struct json_object *value = NULL;

	assert_int_equal(json_pointer_get(object, pointer, &value), 0);
	return json_object_get_double(value);
}

static void a_saved_scan_gives_its_curve(void **state)
{
	double sizes[] = {8 << 20, 20 << 20}, windows[] = {PERIOD / 2};
	struct fixture *fixture = *state;
	struct json_object *curve;
	struct options options;

	options_init(&options);
	options.json = true;
	options.sizes = (struct number_list){sizes, 2};
	options.windows = (struct number_list){windows, 1};
	save_scan(fixture->file, N_MAX);
	assert_int_equal(run(fixture, &options), MTL_DONE);
	curve = json_tokener_parse(fixture->output);
	assert_non_null(curve);
	assert_true(fabs(number_at(curve, "/footprint_bytes") / (16 << 20) - 1) < 0.05);
	assert_true(fabs(number_at(curve, "/footprint/0/bytes") / (8 << 20) - 1) < 0.05);
	assert_float_equal(number_at(curve, "/points/0/size_bytes"), sizes[0], 0);
	assert_true(
	        fabs(number_at(curve, "/points/0/misses_per_second") / (LINES / PERIOD) - 1) < 0.1);
	assert_true(number_at(curve, "/points/1/misses_per_second") < 0.03 * LINES / PERIOD);
	assert_float_equal(number_at(curve, "/pid"), 7, 0);
	assert_string_equal(fixture->errors, "");
	json_object_put(curve);
}

static void a_saved_scan_is_told_in_a_sentence(void **state)
{
	struct fixture *fixture = *state;
	struct options options;

	options_init(&options);
	save_scan(fixture->file, N_MAX);
	assert_int_equal(run(fixture, &options), MTL_DONE);
	assert_non_null(strstr(fixture->output, "scan (pid 7)"));
	assert_non_null(strstr(fixture->output, "holds its working set"));
}

static void too_few_saved_observations_are_status_3(void **state)
{
	struct fixture *fixture = *state;
	struct options options;

	options_init(&options);
	save_scan(fixture->file, 12);
	assert_int_equal(run(fixture, &options), MTL_NOT_ENOUGH);
	assert_string_equal(fixture->errors, "mtl: not enough: 12 of about 60 observations\n");
	assert_string_equal(fixture->output, "");
}

static void write_file(const char *file, const char *text)
{
	FILE *f = fopen(file, "we");

	fputs(text, f);
	fclose(f);
}

static void what_is_no_record_is_refused(void **state)
{
	static const struct {
		const char *text, *where;
	} cases[] = {
	        {"", "it is empty"},
	        {"hello", "it is no JSON from byte 1 on"},
	        {"{\"pid\":1,,}", "it is no JSON from byte 10 on"},
	        {"{\"pid\":1", "it breaks off after byte 8"},
	        {"null", "it is null"},
	        {"[]", "expected an object"},
	        {"{}", "format"},
	        {"{\"format\":\"mtl-observations-1\"}", "pid"},
	};
	struct fixture *fixture = *state;
	struct options options;

	options_init(&options);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file(fixture->file, cases[i].text);
		assert_int_equal(run(fixture, &options), MTL_FAILED);
		assert_non_null(strstr(fixture->errors, fixture->file));
		assert_non_null(strstr(fixture->errors, "is not a file of `mtl run --record` or"));
		assert_non_null(strstr(fixture->errors, cases[i].where));
		assert_null(strstr(fixture->errors, "json_"));
		assert_string_equal(fixture->output, "");
	}
}

static void a_file_that_is_not_there_is_said(void **state)
{
	struct fixture *fixture = *state, missing = {.file = "/nonexistent/record"};
	struct options options;

	(void)fixture;
	options_init(&options);
	assert_int_equal(run(&missing, &options), MTL_FAILED);
	assert_string_equal(missing.errors, "mtl: cannot read observations from "
	                                    "/nonexistent/record: No such file or directory\n");
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        FILE_TEST(a_saved_scan_gives_its_curve),
	        FILE_TEST(a_saved_scan_is_told_in_a_sentence),
	        FILE_TEST(too_few_saved_observations_are_status_3),
	        FILE_TEST(what_is_no_record_is_refused),
	        FILE_TEST(a_file_that_is_not_there_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * `mtl trace --emit`: every emission in every form on the trace of the textbook, and its numbers on
 * a random trace against counting.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "simulate.h"
#include "trace_command_fixture.h"

#define ACCESSES 300
#define DATA 40

struct expected {
	const char *words, *output;
};

static void said_of_long_windows(void)
{
	static const char note[] = "windows longer than the trace, 9 accesses, have no footprint";
	struct said *said = say_trace("--emit footprint --csv --windows 9,0.01k abc");

	assert_non_null(strstr(said->errors, note));
	assert_non_null(strstr(said->output, "\n9,3,3,3,5,3,0\n10,,,,,,\n"));
	assert_non_null(strstr(say_trace("--emit footprint --windows 10 abc")->output, note));
	assert_null(strstr(say_trace("--emit footprint abc")->output, "longer"));
}

static void the_textbook_in_every_form(void **state)
{
	static const struct expected expected[] = {
	        {"--emit ai abc", "1\n2\n3\n1\n2\n3\n1\n2\n3\n"},
	        {"--emit rt abc", "inf\ninf\ninf\n3\n3\n3\n3\n3\n3\n"},
	        {"--emit rd --csv abc", "rd\n\n\n\n3\n3\n3\n3\n3\n3\n"},
	        {"--emit rt --json abc",
	                "{\"accesses\":9,\"distinct\":3,\"cold\":3,\"line_bytes\":1,\"emit\":"
	                "\"rt\",\"values\":[null,null,null,3,3,3,3,3,3]}\n"},
	        {"--emit pd-rt abc", "1 1 3 3\n2 2 3 3\n3 3 3 3\n"},
	        {"--emit pd-rd --json ab",
	                "{\"accesses\":5,\"distinct\":3,\"cold\":3,\"line_bytes\":1,\"emit\":"
	                "\"pd-rd\",\"values\":[[1,3],[2,2],[3]]}\n"},
	        {"--emit pd-rt --csv ab",
	                "datum,access,value\n1,1,1\n1,2,4\n2,1,2\n2,2,2\n3,1,3\n"},
	        {"--emit rt-hist --csv abc", "low,high,count,mean\n3,3,6,3\n,,3,\n"},
	        {"--emit rd-hist --csv ab", "low,high,count,mean\n2,2,1,2\n3,3,1,3\n,,3,\n"},
	        {"--emit rd-hist --json abc",
	                "{\"accesses\":9,\"distinct\":3,\"cold\":3,\"line_bytes\":1,\"emit\":"
	                "\"rd-hist\",\"infinite\":3,\"points\":[{\"low\":3,\"high\":3,\"count\":6,"
	                "\"mean\":3}]}\n"},
	        {"--emit fill-time --csv --sizes 1,2,3 abc",
	                "size_bytes,xiang,additive,incremental,denning_schwartz,steady_state\n"
	                "1,1,1,1,1,0\n2,2,2,2,2,1.5\n3,,,,,\n"},
	        {"--emit aet --csv abc", "size_bytes,eviction_time,miss_ratio\n1,1,1\n2,2,1\n"
	                                 "3,,0.333333333333\n"},
	        {"--emit inter-miss --csv abc",
	                "size_bytes,inter_miss_time,miss_ratio\n1,1,1\n2,1,1\n"
	                "3,3,0.333333333333\n"},
	        {"--emit residence --method exact --csv abc",
	                "size_bytes,residence_time,miss_ratio\n1,1,1\n2,2,1\n"
	                "3,9,0.333333333333\n"},
	        {"--emit easton-fagin --method aet --json --sizes 2,3 abc",
	                "{\"accesses\":9,\"distinct\":3,\"cold\":3,\"line_bytes\":1,\"method\":"
	                "\"aet\",\"emit\":\"easton-fagin\",\"points\":[{\"size_bytes\":2,"
	                "\"fill_time\":2,\"miss_ratio\":1},{\"size_bytes\":3,\"fill_time\":null,"
	                "\"miss_ratio\":0.33333333333333331}]}\n"},
	        {"--emit footprint --csv --windows 2,9,5 abc",
	                "window,xiang,additive,incremental,denning_schwartz,steady_state,error\n"
	                "2,2,2,2,2,2.33333333333,0\n5,3,3,3,3.66666666667,3,0\n9,3,3,3,5,3,0\n"},
	};

	(void)state;
	fake_file("abc", "a b c a b c a b c\n");
	fake_file("ab", "e1 e2 e3 e2 e1\n");
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct said *said;
		char words[256];

		snprintf(words, sizeof(words), "--format tokens %s", expected[i].words);
		said = say_trace(words);
		if (strcmp(said->output, expected[i].output) != 0)
			print_message("%s\n", expected[i].words);
		assert_string_equal(said->output, expected[i].output);
		assert_string_equal(said->errors, "");
		assert_int_equal(said->status, MTL_DONE);
	}
	said_of_long_windows();
}

static void tables_for_people(void **state)
{
	struct said *said;

	(void)state;
	fake_file("abc", "a b c a b c a b c\n");
	said = say_trace("--emit rt-hist abc");
	assert_non_null(strstr(said->output, "\n  3     3      6     3\nnever: 3\n"));
	said = say_trace("--emit fill-time abc");
	assert_non_null(strstr(said->output, "3  never     never"));
	said = say_trace("--emit footprint abc");
	assert_non_null(strstr(said->output, "     9      3         3"));
	said = say_trace("--emit residence abc");
	assert_non_null(strstr(said->output, "method exact; 3 cold misses"));
}

static void make_tokens(const char *name, unsigned *ret_data)
{
	FILE *file = fdopen(fake_open(name), "w");
	uint64_t random = 3;

	for (int i = 0; i < ACCESSES; i++) {
		double u = sim_uniform(&random);

		ret_data[i] = (unsigned)(u * u * DATA);
		fprintf(file, "d%u\n", ret_data[i]);
	}
	fclose(file);
}

static struct json_object *say_points(const char *words, struct json_object **ret_object)
{
	struct said *said = say_trace(words);
	struct json_object *points;

	assert_string_equal(said->errors, "");
	*ret_object = json_tokener_parse(said->output);
	assert_true(json_object_object_get_ex(*ret_object, "points", &points));
	return points;
}

/* Mean number of distinct data over all windows, counted. */
static double count_footprint(const unsigned *data, int window)
{
	double sum = 0;

	for (int start = 0; start + window <= ACCESSES; start++) {
		bool seen[DATA] = {false};

		for (int i = start; i < start + window; i++) {
			sum += !seen[data[i]];
			seen[data[i]] = true;
		}
	}
	return sum / (ACCESSES - window + 1);
}

static void footprints_are_those_counted(void **state)
{
	unsigned data[ACCESSES];
	struct json_object *object, *points;

	(void)state;
	make_tokens("t", data);
	points = say_points("--format tokens --emit footprint --json t", &object);
	assert_int_equal(json_object_array_length(points), 9);
	for (size_t i = 0; i < 9; i++) {
		struct json_object *point = json_object_array_get_idx(points, i);
		int window = (int)json_number(point, "window");
		double counted = count_footprint(data, window);

		assert_int_equal(window, ((int[]){1, 2, 5, 10, 20, 50, 100, 200, 300})[i]);
		assert_true(fabs(json_number(point, "xiang") - counted) < 1e-9);
		assert_true(fabs(json_number(point, "additive") - counted) < 1e-9);
		assert_true(fabs(json_number(point, "incremental") - counted) < 1e-9);
		assert_true(json_number(point, "error") < 1e-9);
	}
	json_object_put(object);
}

static void histograms_are_those_counted(void **state)
{
	unsigned data[ACCESSES];
	int last[DATA] = {0}, count[ACCESSES + 1] = {0};
	struct json_object *object, *points;
	double finite = 0;

	(void)state;
	make_tokens("t", data);
	for (int t = 1; t <= ACCESSES; t++) {
		count[last[data[t - 1]] ? t - last[data[t - 1]] : 0]++;
		last[data[t - 1]] = t;
	}
	points = say_points("--format tokens --emit rt-hist --json t", &object);
	for (size_t i = 0; i < json_object_array_length(points); i++) {
		struct json_object *point = json_object_array_get_idx(points, i);
		int low = (int)json_number(point, "low");

		assert_int_equal(low, (int)json_number(point, "high"));
		assert_int_equal(count[low], (int)json_number(point, "count"));
		finite += count[low];
	}
	assert_int_equal((int)json_number(object, "infinite"), count[0]);
	assert_int_equal((int)finite, ACCESSES - count[0]);
	json_object_put(object);
}

#define ROOTED(name) cmocka_unit_test_setup_teardown(name, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        ROOTED(the_textbook_in_every_form),
	        ROOTED(tables_for_people),
	        ROOTED(footprints_are_those_counted),
	        ROOTED(histograms_are_those_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * `mtl trace` from command line to output: curves and caches against LRU by the book on random
 * lackey traces, the shape of every form, and what is said when something is wrong.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "../../cli/size.h"
#include "simulate.h"
#include "trace_command_fixture.h"

#define ACCESSES (RUNNING_ON_VALGRIND ? 1500 : 9000)
#define LINES_MAX 4096

struct reference {
	bool instructions;
	uint64_t line_bytes, sets, ways; /* sets 0: fully associative */
	uint64_t accesses, distinct, misses;
	uint64_t by_distance[LINES_MAX + 1];
	struct lru *sets_of;
};

static void reference_init(struct reference *reference)
{
	uint64_t sets = reference->sets ?: 1;

	reference->sets_of = calloc(sets, sizeof(struct lru));
	for (uint64_t i = 0; i < sets; i++) {
		reference->sets_of[i].room = reference->sets ? reference->ways : LINES_MAX;
		reference->sets_of[i].lines =
		        calloc(reference->sets_of[i].room + 1, sizeof(uint64_t));
	}
}

static void reference_done(struct reference *reference)
{
	for (uint64_t i = 0; i < (reference->sets ?: 1); i++)
		free(reference->sets_of[i].lines);
	free(reference->sets_of);
}

static void reference_line(struct reference *reference, uint64_t line)
{
	size_t distance =
	        lru_access(&reference->sets_of[reference->sets ? line % reference->sets : 0], line);

	reference->accesses++;
	reference->misses += distance == 0;
	reference->by_distance[distance]++;
}

/* All lines from the first byte to the last; M twice. */
static void reference_access(
        struct reference *reference, char kind, uint64_t address, uint64_t size)
{
	if (kind == 'I' && !reference->instructions)
		return;
	for (int time = 0; time < (kind == 'M' ? 2 : 1); time++) {
		for (uint64_t line = address / reference->line_bytes;
		        line <= (address + size - 1) / reference->line_bytes; line++)
			reference_line(reference, line);
	}
}

static double reference_ratio(const struct reference *reference, double lines)
{
	uint64_t misses = reference->misses;

	for (uint64_t d = 1; d <= LINES_MAX; d++)
		misses += (double)d > lines ? reference->by_distance[d] : 0;
	return (double)misses / (double)reference->accesses;
}

/* Some lines often, many rarely, some accesses across lines; the same into both references. */
static void make_trace(const char *name, struct reference *references, size_t n)
{
	static const char *const lines[] = {
	        "I  %llx,%llu\n", " L %llx,%llu\n", " S %llx,%llu\n", " M %llx,%llu\n"};
	FILE *file = fdopen(fake_open(name), "w");
	uint64_t random = 7;

	for (size_t i = 0; i < n; i++)
		reference_init(&references[i]);
	for (int i = 0; i < ACCESSES; i++) {
		int kind = (int)(sim_uniform(&random) * 4);
		double place = sim_uniform(&random);
		uint64_t address = 0x10000 + (uint64_t)(place * place * place * 60000);
		uint64_t size = 1 + (uint64_t)(sim_uniform(&random) * 40);

		fprintf(file, lines[kind], (unsigned long long)address, (unsigned long long)size);
		for (size_t r = 0; r < n; r++)
			reference_access(&references[r], "ILSM"[kind], address, size);
	}
	fclose(file);
}

static struct json_object *say_json(const char *words)
{
	struct said *said = say_trace(words);
	struct json_object *object = json_tokener_parse(said->output);

	if (said->status != MTL_DONE)
		print_message("%s", said->errors);
	assert_int_equal(said->status, MTL_DONE);
	assert_string_equal(said->errors, "");
	assert_non_null(object);
	return object;
}

static struct json_object *points_of(struct json_object *object)
{
	struct json_object *points;

	assert_true(json_object_object_get_ex(object, "points", &points));
	return points;
}

/* Easton and Fagin in unit steps, where steps are units; where they are not, a little less. */
static double fill_time(const struct reference *reference, double lines)
{
	double time = 0;

	for (double i = 0; i < lines; i++)
		time += i ? 1 / reference_ratio(reference, i) : 1;
	return time;
}

static void assert_curve(const struct reference *reference, const char *words)
{
	struct json_object *object = say_json(words), *points = points_of(object);
	double distinct = (double)reference->misses;
	size_t n = json_object_array_length(points);

	assert_true(json_number(object, "accesses") == (double)reference->accesses);
	assert_true(json_number(object, "distinct") == distinct);
	assert_true(json_number(object, "cold") == distinct);
	assert_true(json_number(object, "line_bytes") == (double)reference->line_bytes);
	assert_true(n > 10);
	for (size_t i = 0; i < n; i++) {
		struct json_object *point = json_object_array_get_idx(points, i);
		double lines = json_number(point, "size_bytes") / (double)reference->line_bytes;
		double filled = json_number(point, "fill_time_accesses");

		assert_true(fabs(json_number(point, "miss_ratio") -
		                    reference_ratio(reference, lines)) < 1e-12);
		assert_true(lines == round(lines));
		assert_true(lines >= distinct || i + 1 < n);
		if (lines >= distinct)
			assert_true(isinf(filled));
		else if (lines <= 1024)
			assert_true(fabs(filled / fill_time(reference, lines) - 1) < 1e-9);
	}
	json_object_put(object);
}

static void curves_are_those_of_lru_by_the_book(void **state)
{
	struct reference references[] = {
	        {.line_bytes = 64}, {.line_bytes = 16}, {.line_bytes = 64, .instructions = true}};
	static const char *const words[] = {
	        "--json t", "--line-size 16 --json t", "--instructions --json t"};

	(void)state;
	make_trace("t", references, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_curve(&references[i], words[i]);
		reference_done(&references[i]);
	}
}

static void caches_are_simulated_beside_their_predictions(void **state)
{
	struct reference references[] = {
	        {.line_bytes = 64, .sets = 16, .ways = 4},
	        {.line_bytes = 16, .sets = 24, .ways = 1},
	};
	struct json_object *object, *caches;

	(void)state;
	make_trace("t", references, 2);
	object = say_json("--cache 4K:4:64 --method aet --cache 384:1:16 --json t");
	assert_true(json_object_object_get_ex(object, "caches", &caches));
	assert_int_equal(json_object_array_length(caches), 2);
	for (size_t i = 0; i < 2; i++) {
		struct json_object *cache = json_object_array_get_idx(caches, i);
		const struct reference *reference = &references[i];
		double ratio = (double)reference->misses / (double)reference->accesses;

		assert_true(json_number(cache, "sets") == (double)reference->sets);
		assert_true(json_number(cache, "ways") == (double)reference->ways);
		assert_true(json_number(cache, "accesses") == (double)reference->accesses);
		assert_true(json_number(cache, "misses") == (double)reference->misses);
		assert_true(fabs(json_number(cache, "miss_ratio") - ratio) < 1e-12);
		assert_true(fabs(json_number(cache, "predicted_miss_ratio") - ratio) < 0.03);
		assert_true(fabs(json_number(cache, "predicted_miss_ratio_measured_sets") - ratio) <
		            0.03);
		assert_true(json_number(cache, "predicted_miss_ratio_patent") > ratio - 0.03);
		assert_true(isinf(json_number(cache, "predicted_miss_ratio_distances")));
		reference_done(&references[i]);
	}
	json_object_put(object);
	object = say_json("--cache 4K:4:64 --json t");
	assert_true(json_object_object_get_ex(object, "caches", &caches));
	assert_true(json_number(json_object_array_get_idx(caches, 0),
	                    "predicted_miss_ratio_distances") < 1);
	json_object_put(object);
}

static void statistical_methods_are_close(void **state)
{
	static const char *const methods[] = {
	        "footprint", "aet", "statstack", "shards:1", "shards-size:100000"};
	struct reference reference = {.line_bytes = 64};

	(void)state;
	make_trace("t", &reference, 1);
	for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++) {
		char words[128];
		struct json_object *object, *points, *last;
		double before = 1;

		snprintf(words, sizeof(words), "--method %s --json t", methods[m]);
		object = say_json(words);
		points = points_of(object);
		for (size_t i = 0; i < json_object_array_length(points); i++) {
			struct json_object *point = json_object_array_get_idx(points, i);
			double ratio = json_number(point, "miss_ratio");
			double lines = json_number(point, "size_bytes") / 64;

			assert_true(fabs(ratio - reference_ratio(&reference, lines)) <
			            0.03 * sim_slack());
			assert_true(ratio <= before + 1e-12);
			before = ratio;
		}
		last = json_object_array_get_idx(points, json_object_array_length(points) - 1);
		assert_true(isinf(json_number(last, "fill_time_accesses")));
		assert_true(fabs(before - (double)reference.misses / (double)reference.accesses) <
		            1e-9);
		json_object_put(object);
	}
	reference_done(&reference);
}

static void an_access_touches_all_lines_it_spans(void **state)
{
	struct json_object *object;

	(void)state;
	fake_file("t", " L 1000,4096\n S ffe,4\n M 103f,2\n");
	object = say_json("--line-size 1 --json t");
	assert_true(json_number(object, "accesses") == 4096 + 4 + 4);
	assert_true(json_number(object, "distinct") == 4096 + 2);
	json_object_put(object);
	object = say_json("--json t");
	assert_true(json_number(object, "accesses") == 64 + 2 + 4);
	assert_true(json_number(object, "distinct") == 65);
	json_object_put(object);
	fake_file("t", " L 1000,65536\n S fff,65536\n L 1000,1\n M 20000,8192\n");
	object = say_json("--line-size 1 --json t");
	assert_true(json_number(object, "accesses") == 2 * 65536 + 1 + 2 * 8192);
	assert_true(json_number(object, "distinct") == 65537 + 8192);
	json_object_put(object);
}

static void a_curve_has_this_shape(void **state)
{
	(void)state;
	fake_file("abc", "a b c a b c a b c\n");
	assert_string_equal(say_trace("--json abc")->output,
	        "{\"accesses\":9,\"distinct\":3,\"cold\":3,\"line_bytes\":1,\"method\":\"exact\","
	        "\"points\":[{\"size_bytes\":1,\"fill_time_accesses\":1,\"miss_ratio\":1},"
	        "{\"size_bytes\":2,\"fill_time_accesses\":2,\"miss_ratio\":1},"
	        "{\"size_bytes\":3,\"fill_time_accesses\":null,\"miss_ratio\":"
	        "0.33333333333333331}],\"format\":\"tokens\",\"skipped\":0}\n");
	assert_string_equal(say_trace("--csv --sizes 2,4 abc")->output,
	        "size_bytes,fill_time_accesses,miss_ratio\n2,2,1\n4,,0.333333333333\n");
	assert_string_equal(say_trace("--csv --sizes 64,96,192 --line-size 64 abc")->output,
	        "size_bytes,fill_time_accesses,miss_ratio\n64,1,1\n96,1.5,1\n"
	        "192,,0.333333333333\n");
}

static void a_curve_is_told_to_people(void **state)
{
	struct said *said;

	(void)state;
	fake_file("abc", "a b c a b c a b c\n");
	said = say_trace("--cache 2:1:1 abc");
	assert_non_null(
	        strstr(said->output, "abc (tokens): 9 accesses to 3 data\nmethod exact; 3"));
	assert_non_null(strstr(said->output, "   3     never    0.333333\n"));
	assert_non_null(strstr(said->output, "2:1:1 "));
	assert_non_null(strstr(said->output, "miss ratio\n"));
	assert_non_null(strstr(said->output,
	        "\n3 data hold its working set, with a miss ratio of "
	        "0.333; of these sizes it falls most from 2 data to 3 data, from 1 "
	        "to 0.333; at 3 data only first accesses miss.\n"));
	fake_file("one", "a\n");
	said = say_trace("one");
	assert_int_equal(said->status, MTL_DONE);
	assert_non_null(strstr(said->output, "one (tokens): 1 access to 1 datum\nmethod exact; 1 "
	                                     "cold miss, 100 % of the accesses\n"));
	assert_non_null(strstr(said->output, "Nothing is accessed twice"));
	assert_non_null(strstr(say_trace("--sizes 1,2 abc")->output,
	        "\nThe miss ratio is 1 at all of these sizes; 3 data hold its working set, with a "
	        "miss ratio of 0.333.\n"));
	assert_non_null(
	        strstr(say_trace("--sizes 2 abc")->output, "The miss ratio is 1 at this size; 3"));
	assert_non_null(strstr(say_trace("--sizes 8,9 abc")->output,
	        "\nAt 8 data it holds all that is accessed: only first accesses miss, 0.333.\n"));
}

static void a_sample_says_what_it_cannot_tell(void **state)
{
	struct reference reference = {.line_bytes = 64};
	struct json_object *object;
	struct said *said;

	(void)state;
	make_trace("t", &reference, 1);
	reference_done(&reference);
	object = say_json("--method shards:0.25 --json t");
	assert_true(fabs(json_number(object, "resolution_bytes") - 256) < 1);
	json_object_put(object);
	object = say_json("--method shards:1 --json t");
	assert_true(json_number(object, "resolution_bytes") < 0);
	json_object_put(object);
	said = say_trace("--method shards:0.25 t");
	assert_non_null(strstr(said->output, " accesses to about "));
	assert_non_null(strstr(said->output, "\nbelow 256B this sample cannot tell\n"));
	assert_null(strstr(say_trace("t")->output, "about"));
}

/* The smallest size with 5 % of the misses of one line, first accesses apart; whatever sizes are
 * listed. */
static void the_working_set_is_of_the_trace(void **state)
{
	static const char *const words[] = {"t", "--sizes 1K,1M t", "--sizes 100 t"};
	struct reference reference = {.line_bytes = 64};
	char expected[NUMBER_TEXT + 32], size[NUMBER_TEXT];
	double cold, lines = 1;

	(void)state;
	make_trace("t", &reference, 1);
	cold = (double)reference.misses / (double)reference.accesses;
	while (reference_ratio(&reference, lines) - cold >
	        0.05 * (reference_ratio(&reference, 1) - cold))
		lines++;
	assert_true(lines > 20);
	snprintf(expected, sizeof(expected), "%s holds its working set",
	        size_format(64 * lines, size));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_non_null(strstr(say_trace(words[i])->output, expected));
	reference_done(&reference);
}

/* A column of the drawn curve is what the method says at its size, not what lies between points. */
static void the_drawn_curve_is_the_curve(void **state)
{
	FILE *file = fdopen(fake_open("loop"), "w");
	const char *row;
	size_t full = 0;

	(void)state;
	for (int i = 0; i < 20 * 64; i++)
		fprintf(file, "d%d\n", i % 64);
	fclose(file);
	/* a loop over 64: all miss below, none above; 34 of 68 columns are below 64 of 1 ... 4096
	 */
	row = strstr(say_trace("--sizes 1,4096 loop")->output, "1 +");
	assert_non_null(row);
	for (const char *c = row; *c != '\n'; c++)
		full += *c == '#';
	assert_int_equal(full, 34);
}

static void how_it_fills_in_is_said(void **state)
{
	static const struct {
		const char *words, *text;
	} cases[] = {
	        {"abc", "a lower bound by Easton and Fagin"},
	        {"--method shards:1 abc", "a lower bound by Easton and Fagin"},
	        {"--method footprint abc", "the inverse of the mean footprint"},
	        {"--method aet abc", "the average eviction time"},
	        {"--method statstack abc", "the average eviction time"},
	};

	(void)state;
	fake_file("abc", "a b c a b c a b c\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_non_null(strstr(say_trace(cases[i].words)->output, cases[i].text));
}

static void sizes_that_differ_look_different(void **state)
{
	struct said *said;

	(void)state;
	fake_file("t", " L 1000,4\n L 1040,4\n L 1000,4\n");
	said = say_trace("--sizes 1000000,1000001,2M t");
	assert_non_null(strstr(said->output, "\n1000000B "));
	assert_non_null(strstr(said->output, "\n1000001B "));
	assert_non_null(strstr(said->output, "\n      2M "));
	assert_non_null(strstr(say_trace("--sizes 5000,7000 t")->output, "  4.88K "));
}

/* SHARDS are judged by what their samples can tell. */
static void samples_are_compared_where_they_can_tell(void **state)
{
	struct reference reference = {.line_bytes = 64};
	struct json_object *object, *methods;

	(void)state;
	make_trace("t", &reference, 1);
	reference_done(&reference);
	object = say_json("--compare --json --sizes 64,128,639,1K,6401,8K t");
	assert_true(json_object_object_get_ex(object, "methods", &methods));
	for (size_t i = 0; i < 7; i++) {
		struct json_object *method = json_object_array_get_idx(methods, i);

		assert_true(json_number(method, "compared_sizes") ==
		            ((double[]){6, 6, 6, 6, 2, 3, 6})[i]);
	}
	json_object_put(object);
	assert_non_null(strstr(say_trace("--compare --sizes 64,128,639,1K,6401,8K t")->output,
	        "\nof these, 2 for shards:0.01, 3 for shards:0.1; smaller ones"));
	object = say_json("--compare --json --sizes 64 t");
	assert_true(json_object_object_get_ex(object, "methods", &methods));
	assert_true(
	        isinf(json_number(json_object_array_get_idx(methods, 4), "mean_absolute_error")));
	json_object_put(object);
}

static void comparing_has_every_method(void **state)
{
	struct json_object *object, *methods;
	struct reference reference = {.line_bytes = 64};

	(void)state;
	make_trace("t", &reference, 1);
	reference_done(&reference);
	object = say_json("--compare --json t");
	assert_true(json_object_object_get_ex(object, "methods", &methods));
	assert_int_equal(json_object_array_length(methods), 7);
	for (size_t i = 0; i < 7; i++) {
		struct json_object *method = json_object_array_get_idx(methods, i);
		double mean = json_number(method, "mean_absolute_error");
		double most = json_number(method, "max_absolute_error");

		assert_true(mean <= most && (i ? most > 0 || i == 6 : most == 0));
		assert_true(json_number(method, "memory_bytes") > 1000);
		assert_true(json_number(method, "wall_seconds") > 0);
	}
	json_object_put(object);
	assert_non_null(strstr(say_trace("--compare t")->output, "\nshards-size:8192 "));
	assert_int_equal(
	        strncmp(say_trace("--compare --csv t")->output, "method,mean_absolute", 20), 0);
	assert_int_equal(say_trace("--compare -")->status, MTL_USAGE);
	fake_file("abc", "a b c a b c a b c\n");
	object = say_json("--compare --format tokens --json abc");
	assert_true(json_object_object_get_ex(object, "methods", &methods));
	methods = json_object_array_get_idx(methods, 4);
	assert_true(isinf(json_number(methods, "mean_absolute_error")));
	json_object_put(object);
	assert_non_null(strstr(say_trace("--compare --csv abc")->output, "\nshards:0.01,,,,"));
	assert_non_null(strstr(say_trace("--compare abc")->output, "- "));
}

static void more_data_than_memory_is_a_clear_limit(void **state)
{
	FILE *file;
	struct said *said;

	(void)state;
	file = fdopen(fake_open("t"), "w");
	for (int i = 0; i < 20000; i++)
		fprintf(file, " L %x,1\n", 64 * i);
	fclose(file);
	said = say_trace("--memory 200K t");
	assert_int_equal(said->status, MTL_FAILED);
	assert_string_equal(said->output, "");
	assert_non_null(strstr(said->errors, "more than the 200K of memory"));
	assert_non_null(strstr(said->errors, "distinct lines"));
	assert_non_null(strstr(said->errors, "shards-size:N"));
	assert_int_equal(say_trace("--memory 200K --method shards-size:100 t")->status, MTL_DONE);
	assert_int_equal(say_trace("--memory 4M t")->status, MTL_DONE);
	assert_int_equal(say_trace("--memory 200K --emit rt t")->status, MTL_FAILED);
}

/* The least --memory that a message names is enough to begin, and it is the least. */
static void too_little_to_begin_says_what_is_enough(void **state)
{
	static const char *const words[] = {"--method exact", "--method aet", "--method shards:0.1",
	        "--method shards-size:100", "--cache 1M:16:64",
	        "--method aet --cache 1K:4:64 --cache 64K:4:16"};

	(void)state;
	fake_file("t", " L 1000,4\n");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char line[128];
		const char *least;
		unsigned k;

		snprintf(line, sizeof(line), "%s --memory 1 t", words[i]);
		least = strstr(say_trace(line)->errors, "; --memory ");
		assert_non_null(least);
		assert_int_equal(sscanf(least, "; --memory %uK", &k), 1);
		snprintf(line, sizeof(line), "%s --memory %uK t", words[i], k - 1);
		assert_non_null(strstr(say_trace(line)->errors, "even to begin"));
		snprintf(line, sizeof(line), "%s --memory %uK t", words[i], k);
		assert_null(strstr(say_trace(line)->errors, "even to begin"));
	}
	assert_non_null(strstr(say_trace("--memory 1M --cache 1T:16:64 t")->errors,
	        "--cache 1T:16:64 needs 144G, and 1M may be used"));
	assert_non_null(strstr(say_trace("--memory 1 t")->errors, "exact LRU needs "));
}

/* Any text is tokens: whoever did not ask for them is told. */
static void guessed_tokens_are_said(void **state)
{
	static const char note[] = "note: taken as tokens: each different word is a datum";
	static const char hint[] = "--format perf-script takes one a line with 0x";
	struct said *said;

	(void)state;
	fake_file("abc", "a b c a b c a b c\n");
	fake_file("hex", "0x7f1000\n0x7f1008\n0x7f1000\nend\n");
	fake_file("lackey", "L 1000,4\r\n");
	said = say_trace("abc");
	assert_non_null(strstr(said->output, note));
	assert_null(strstr(said->output, hint));
	assert_string_equal(said->errors, "");
	assert_non_null(strstr(say_trace("--json abc")->errors, note));
	assert_non_null(strstr(say_trace("--csv abc")->errors, note));
	assert_non_null(strstr(say_trace("--emit rt abc")->errors, note));
	assert_non_null(strstr(say_trace("--emit footprint abc")->output, note));
	assert_non_null(strstr(say_trace("--compare abc")->output, note));
	assert_null(strstr(say_trace("--format tokens abc")->output, "note"));
	said = say_trace("hex");
	assert_non_null(strstr(said->output, note));
	assert_non_null(strstr(said->output, hint));
	said = say_trace("--format perf-script hex");
	assert_non_null(strstr(said->output, "3 accesses to 1 line of 64 bytes"));
	assert_null(strstr(say_trace("lackey")->output, "note"));
}

static void data_counted_as_bytes_are_no_lines(void **state)
{
	(void)state;
	fake_file("abc", "a b c a b c a b c\n");
	assert_non_null(strstr(say_trace("--line-size 64 abc")->output,
	        ": 9 accesses to 3 data, each counted as 64 bytes, 192B in all\n"));
}

static void caches_are_another_table(void **state)
{
	const char *line;
	struct said *said;
	int commas = 0;

	(void)state;
	fake_file("t", " L 1000,4\n L 1040,4\n L 1000,4\n");
	said = say_trace("--csv --cache 512:2:64 --cache 64:1:16 --method aet t");
	assert_string_equal(said->errors, "");
	assert_ptr_equal(strstr(said->output, "size_bytes,ways,line_bytes,sets,accesses,misses,"
	                                      "miss_ratio,predicted_miss_ratio,"),
	        said->output);
	line = strchr(said->output, '\n') + 1;
	assert_int_equal(strncmp(line, "512,2,64,4,3,2,0.666666666667,", 30), 0);
	for (const char *c = line; *c != '\n'; c++)
		commas += *c == ',';
	assert_int_equal(commas, 11);
	line = strchr(line, '\n') + 1;
	assert_int_equal(strncmp(line, "64,1,16,4,3,3,1,", 16), 0);
	assert_non_null(strstr(line, ",,")); /* no exact distances */
}

struct mistake {
	const char *words;
	int status;
	const char *said;
};

static void mistakes_are_explained(void **state)
{
	static const struct mistake mistakes[] = {
	        {"empty", MTL_FAILED, "empty is empty"},
	        {"missing", MTL_FAILED, "No such file"},
	        {"--method shards:0.000001 abc", MTL_FAILED, "has sampled nothing of"},
	        {"code", MTL_FAILED, "--instructions"},
	        {"--format lackey abc", MTL_FAILED, "1"},
	        {"--sizes 1M,32 --line-size 64 abc", MTL_USAGE,
	                "--sizes: 32 is less than one line of 64 bytes"},
	        {"--sizes 0 abc", MTL_USAGE, "size '0' is out of range"},
	        {"--method fast abc", MTL_USAGE, "exact, footprint, aet, statstack, shards:R or"},
	        {"--method shards:0 abc", MTL_USAGE, "shards:0.01"},
	        {"--method shards:2 abc", MTL_USAGE, "0 < R <= 1"},
	        {"--method shards-size:0 abc", MTL_USAGE, "shards-size:8192"},
	        {"--method exactly abc", MTL_USAGE, "there is no method 'exactly'"},
	        {"--format elf abc", MTL_USAGE, "lackey, perf-script, tokens, u64 and oracle"},
	        {"--emit all abc", MTL_USAGE, "ai, rt, rd, pd-rt, pd-rd, rt-hist"},
	        {"--line-size 48 abc", MTL_USAGE, "power of two"},
	        {"--line-size 128K abc", MTL_USAGE, "power of two"},
	        {"--cache 32K abc", MTL_USAGE, "SIZE:WAYS:LINE"},
	        {"--cache 32K:8:64:1 abc", MTL_USAGE, "SIZE:WAYS:LINE"},
	        {"--cache 32K:0:64 abc", MTL_USAGE, "ways"},
	        {"--cache 1000:8:64 abc", MTL_USAGE, "sets x WAYS x LINE, a multiple of 512"},
	        {"--plot curve.gif abc", MTL_USAGE, ".svg, .png or .pdf"},
	        {"--windows 5 abc", MTL_USAGE, "--emit footprint"},
	        {"--emit rt --sizes 5 abc", MTL_USAGE, "--sizes does not go with --emit rt"},
	        {"--emit aet --windows 5 abc", MTL_USAGE, "--windows does not go with"},
	        {"--emit aet --method exact abc", MTL_USAGE, "--method does not go with"},
	        {"--emit footprint --windows 0 abc", MTL_USAGE, "'0' is out of range"},
	        {"--emit footprint --windows 1.5 abc", MTL_USAGE, "'1.5' is no whole number"},
	        {"--emit footprint --windows 1.0005k abc", MTL_USAGE, "no whole number"},
	        {"--emit footprint --windows 1m abc", MTL_USAGE, "k, M or G as written"},
	        {"--method shards-size:1K abc", MTL_USAGE, "shards-size:8192"},
	        {"--instructions abc", MTL_USAGE, "format tokens does not tell"},
	        {"--instructions --format u64 abc", MTL_USAGE, "format u64 does not tell"},
	        {"--instructions --format oracle abc", MTL_USAGE, "oracle does not tell"},
	        {"--instructions --format perf-script abc", MTL_USAGE, "perf-script does not"},
	        {"--compare fifo", MTL_USAGE, "fifo cannot give: name a regular file"},
	        {"--compare missing", MTL_FAILED, "No such file"},
	        {"--emit footprint --windows x abc", MTL_USAGE, "'x' is not a number"},
	        {"--compare --method aet abc", MTL_USAGE, "do not go together"},
	        {"--compare --emit rt abc", MTL_USAGE, "do not go together"},
	        {"--json --csv abc", MTL_USAGE, "do not go together"},
	};

	(void)state;
	fake_file("empty", "");
	fake_file("fifo", "");
	unlink(fake_path("fifo"));
	assert_int_equal(mkfifo(fake_path("fifo"), 0600), 0);
	fake_file("code", "I  1000,4\nI  1004,4\n");
	fake_file("abc", "a b c a b c a b c\n");
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct said *said = say_trace(mistakes[i].words);

		if (said->status != mistakes[i].status || !strstr(said->errors, mistakes[i].said))
			print_message(
			        "%s: %d, %s\n", mistakes[i].words, said->status, said->errors);
		assert_int_equal(said->status, mistakes[i].status);
		assert_string_equal(said->output, "");
		assert_non_null(strstr(said->errors, mistakes[i].said));
	}
}

#define ROOTED(name) cmocka_unit_test_setup_teardown(name, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        ROOTED(curves_are_those_of_lru_by_the_book),
	        ROOTED(caches_are_simulated_beside_their_predictions),
	        ROOTED(statistical_methods_are_close),
	        ROOTED(an_access_touches_all_lines_it_spans),
	        ROOTED(a_curve_has_this_shape),
	        ROOTED(a_curve_is_told_to_people),
	        ROOTED(a_sample_says_what_it_cannot_tell),
	        ROOTED(the_working_set_is_of_the_trace),
	        ROOTED(the_drawn_curve_is_the_curve),
	        ROOTED(how_it_fills_in_is_said),
	        ROOTED(sizes_that_differ_look_different),
	        ROOTED(samples_are_compared_where_they_can_tell),
	        ROOTED(comparing_has_every_method),
	        ROOTED(more_data_than_memory_is_a_clear_limit),
	        ROOTED(too_little_to_begin_says_what_is_enough),
	        ROOTED(guessed_tokens_are_said),
	        ROOTED(data_counted_as_bytes_are_no_lines),
	        ROOTED(caches_are_another_table),
	        ROOTED(mistakes_are_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

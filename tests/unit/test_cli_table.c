/* SPDX-License-Identifier: MIT */
/*
 * Tables, the whole report and CSV, on curves whose cells are known; and the options that ask for
 * them.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../cli/curve_report.h"
#include "../../cli/options.h"
#include "../../cli/table.h"
#include "../../cli/terminal.h"
#include "cleanup.h"
#include "curve_fixture.h"

static const struct terminal plain = {.width = 80};

static FILE *open_text(char **text)
{
	static size_t size;

	return open_memstream(text, &size);
}

static char *table_of(const struct mtl_curve *curve, const struct terminal *terminal)
{
	char *text = NULL;
	FILE *file = open_text(&text);

	assert_int_equal(curve_table(file, curve, terminal), 0);
	fclose(file);
	return text;
}

/* The n-th line, words separated by one blank. */
static char *line_words(const char *text, int n, char *ret_line, size_t size)
{
	size_t length = 0;

	for (; n > 0; n--)
		text = strchr(text, '\n') + 1;
	for (; *text && *text != '\n' && length + 1 < size; text++) {
		if (*text != ' ' || (length && ret_line[length - 1] != ' '))
			ret_line[length++] = *text;
	}
	while (length && ret_line[length - 1] == ' ')
		length--;
	ret_line[length] = '\0';
	return ret_line;
}

static void every_point_has_its_line(void **state)
{
	struct curve_fixture fixture;
	_cleanup_free_ char *text = NULL;
	char line[200];

	(void)state;
	curve_fixture_fill(&fixture, random_misses, FIXTURE_MI);
	text = table_of(&fixture.curve, &plain);
	assert_string_equal(line_words(text, 0, line, sizeof(line)),
	        "SIZE FILLS IN MISSES/s 90 % INTERVAL OF MISSES AT 1M");
	assert_string_equal(line_words(text, 1, line, sizeof(line)),
	        "128K 13.1 us 39.4 M 35.4 M .. 43.3 M 1.12 below resolution");
	assert_string_equal(
	        line_words(text, 4, line, sizeof(line)), "1M 105 us 35 M 31.5 M .. 38.5 M 1");
	assert_string_equal(line_words(text, 10, line, sizeof(line)), "64M > 1 s 0 0 .. 0 0");
}

static void misses_per_access_only_when_counted(void **state)
{
	struct curve_fixture fixture;
	_cleanup_free_ char *text = NULL;
	char line[200];

	(void)state;
	curve_fixture_fill(&fixture, random_misses, 0);
	fixture.points[3].miss_ratio = 0.0425;
	text = table_of(&fixture.curve, &plain);
	assert_non_null(strstr(text, "MISSES/ACCESS"));
	assert_string_equal(line_words(text, 4, line, sizeof(line)),
	        "1M 105 us 35 M 31.5 M .. 38.5 M 1 0.0425");
	assert_string_equal(
	        line_words(text, 5, line, sizeof(line)), "2M 210 us 30 M 27 M .. 33 M 0.857 -");
}

static void an_undefined_ratio_is_a_dash(void **state)
{
	struct curve_fixture fixture;
	_cleanup_free_ char *text = NULL;
	char line[200];

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, 0);
	fixture.points[9].relative_miss_ratio = NAN;
	text = table_of(&fixture.curve, &plain);
	assert_string_equal(line_words(text, 10, line, sizeof(line)), "64M > 1 s 0 0 .. 0 -");
}

static void lines_below_the_resolution_are_faint(void **state)
{
	struct terminal coloured = {.width = 80, .colours = true};
	struct curve_fixture fixture;
	_cleanup_free_ char *without = NULL, *with = NULL;

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, FIXTURE_MI);
	without = table_of(&fixture.curve, &plain);
	with = table_of(&fixture.curve, &coloured);
	assert_null(strchr(without, '\033'));
	assert_non_null(strstr(with, "\033[2m"));
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
	static const struct table_column columns[] = {{"NAME", LEFT, 0}, {"VALUE", RIGHT, 0}};
	static const char *const cells[] = {"a\033[2Jb", "c\nd"};
	_cleanup_(table_freep) struct table *table = NULL;
	_cleanup_free_ char *text = NULL;
	FILE *file = open_text(&text);
	char safe[16];

	(void)state;
	assert_int_equal(table_new(columns, 2, &plain, &table), 0);
	assert_int_equal(table_add(table, cells, false), 0);
	assert_int_equal(table_print(table, file), 0);
	fclose(file);
	assert_null(strchr(text, '\033'));
	assert_string_equal(printable("a\033[2J\xc3\xa9 b", safe, sizeof(safe)), "a?[2J?? b");
	assert_string_equal(printable("longer than that buffer", safe, 7), "longer");
}

static void words_are_wrapped_whole(void **state)
{
	char text[] = "one two three four", tight[] = "longword a", single[] = "longword",
	     units[] = "it costs 210 k misses (+6.01 %), or 30 ms";

	(void)state;
	wrap_words(text, 9);
	assert_string_equal(text, "one two\nthree\nfour");
	wrap_words(units, 13);
	assert_string_equal(units, "it costs\n210 k misses\n(+6.01 %), or\n30 ms");
	wrap_words(tight, 4);
	assert_string_equal(tight, "longword\na");
	wrap_words(single, 4);
	assert_string_equal(single, "longword");
}

static void a_wide_cell_is_wrapped_on_a_terminal_only(void **state)
{
	static const struct table_column columns[] = {{"A", LEFT, 0}, {"B", LEFT, 10}};
	static const char *const cells[] = {"x", "some words that do not fit"};
	struct terminal kinds[] = {{.width = 30}, {.width = 30, .is_terminal = true}};
	static const char *const expected[] = {
	        "some words that do not fit\n", "some words that do"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		_cleanup_(table_freep) struct table *table = NULL;
		_cleanup_free_ char *text = NULL;
		FILE *file = open_text(&text);

		assert_int_equal(table_new(columns, 2, &kinds[i], &table), 0);
		assert_int_equal(table_add(table, cells, false), 0);
		assert_int_equal(table_print(table, file), 0);
		fclose(file);
		assert_non_null(strstr(text, expected[i]));
		assert_null(strstr(text, "\\x"));
		assert_int_equal(strstr(text, "that do not fit") != NULL, i == 0);
	}
}

static char *report_of(struct curve_fixture *fixture, unsigned parts)
{
	char *text = NULL;
	FILE *file = open_text(&text);

	assert_int_equal(curve_report(file, &fixture->curve, &fixture->origin, &plain, parts), 0);
	fclose(file);
	return text;
}

static void a_change_of_phase_is_said(void **state)
{
	static const char once[] =
	        "changed 3.1 s ago (it grew): the window holds what came since\n";
	struct curve_fixture fixture;
	_cleanup_free_ char *one = NULL, *often = NULL, *old = NULL;

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, FIXTURE_MI);
	fixture.origin.phase_seconds = 3.1;
	fixture.origin.phase_changes = 1;
	strcpy(fixture.origin.phase_reason, "it grew");
	one = report_of(&fixture, CURVE_TABLE);
	assert_non_null(strstr(one, once));
	assert_null(strstr(one, "times in"));
	fixture.origin.phase_changes = 5;
	often = report_of(&fixture, CURVE_TABLE);
	assert_non_null(strstr(often, once));
	assert_non_null(strstr(often, "it has changed 5 times in 29.8 s of CPU time"));
	fixture.origin.phase_seconds = 4 * fixture.origin.window_seconds;
	old = report_of(&fixture, CURVE_TABLE);
	assert_null(strstr(old, "changed"));
}

static void a_report_says_what_it_rests_on(void **state)
{
	struct curve_fixture fixture;
	_cleanup_free_ char *text = NULL;

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, FIXTURE_MI);
	fixture.origin.lost = 3;
	strcpy(fixture.origin.note, "three slots only");
	text = report_of(&fixture, CURVE_TABLE);
	assert_non_null(strstr(text, "fixture (pid 77), 17M resident"));
	assert_non_null(strstr(text, "rung watchpoints"));
	assert_non_null(strstr(text, "881 observations"));
	assert_non_null(strstr(text, ", 3 lost, in 29.8 s"));
	assert_non_null(strstr(text, "overhead 0.4 % of its CPU time; mtld takes unknown"));
	assert_non_null(strstr(text, "note: three slots only"));
	assert_non_null(strstr(text, "4M in 1 ms"));
	assert_non_null(
	        strstr(text, "16M (90 % interval 15M .. 17M) within 1 s, the longest window"));
	assert_non_null(strstr(text, "16M holds its working set"));
	assert_non_null(strstr(text, "sizes: K = 1024 bytes; rates: k, M = 10^3, 10^6\n"));
	assert_non_null(strstr(text, "> 1 s: not filled within the longest window watched"));
	assert_null(strstr(text, "never"));
	assert_non_null(strstr(text, "below resolution"));
}

static void a_report_may_go_without_the_table(void **state)
{
	struct curve_fixture fixture;
	_cleanup_free_ char *with = NULL, *without = NULL;

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, 0);
	with = report_of(&fixture, CURVE_TABLE);
	without = report_of(&fixture, 0);
	assert_non_null(strstr(with, "FILLS IN"));
	assert_null(strstr(without, "FILLS IN"));
	assert_non_null(strstr(without, "working set"));
}

/* Windows that were asked for may be longer than any that was watched. */
static void a_footprint_claims_no_window_it_has_not_seen(void **state)
{
	struct curve_fixture fixture;
	_cleanup_free_ char *longer = NULL, *nearly = NULL, *alone = NULL;

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, 0);
	fixture.curve.footprint_window_seconds = 0.5;
	longer = report_of(&fixture, 0);
	assert_non_null(strstr(longer, "footprint: 4M in 1 ms,"));
	assert_non_null(strstr(longer, " 16M within 500 ms, the longest window watched\n"));
	assert_null(strstr(longer, "in 1 s"));
	fixture.curve.footprint_window_seconds = 1.5e-3;
	nearly = report_of(&fixture, 0);
	assert_null(strstr(nearly, "in 1 ms"));
	fixture.curve.n_footprint = 0;
	alone = report_of(&fixture, 0);
	assert_non_null(
	        strstr(alone, "footprint: 16M within 1.5 ms, the longest window watched\n"));
}

/* Those that were asked for are all told, longer ones by what they are known not to be below. */
static void a_footprint_has_all_windows_asked_for(void **state)
{
	struct curve_fixture fixture;
	_cleanup_free_ char *all = NULL, *nearly = NULL, *between = NULL;

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, 0);
	all = report_of(&fixture, CURVE_ALL_WINDOWS);
	assert_non_null(strstr(all, "footprint: 4M in 1 ms,"));
	assert_non_null(strstr(all, " 16M (90 % interval 15M .. 17M) within 1 s, the longest"));
	assert_null(strstr(all, "at least"));
	fixture.curve.footprint_window_seconds = 1.5e-3;
	nearly = report_of(&fixture, CURVE_ALL_WINDOWS);
	assert_non_null(strstr(nearly, "footprint: 4M in 1 ms, 16M within 1.5 ms"));
	fixture.curve.footprint_window_seconds = 0.5;
	between = report_of(&fixture, CURVE_ALL_WINDOWS);
	assert_non_null(strstr(between, " 16M within 500 ms, the longest window watched"));
	assert_non_null(strstr(between, "; at least 16M (90 % interval 15M .. 17M) in 1 s\n"));
}

static void csv_keeps_the_digits(void **state)
{
	struct json_object *curve = json_tokener_parse(
	        "{\"points\":[{\"size_bytes\":32768.0,\"fill_time_seconds\":1.25e-05,"
	        "\"misses_per_second\":12345678.901,\"low\":1.0,\"high\":2e7,\"miss_ratio\":null,"
	        "\"relative_miss_ratio\":0.3333333333333333,\"below_resolution\":true},"
	        "{\"size_bytes\":65536}]}");
	_cleanup_free_ char *text = NULL;
	FILE *file = open_text(&text);

	(void)state;
	assert_int_equal(curve_csv(file, curve), 0);
	fclose(file);
	assert_string_equal(text,
	        "size_bytes,fill_time_seconds,misses_per_second,low,high,miss_ratio,"
	        "relative_miss_ratio,below_resolution\n"
	        "32768.0,1.25e-05,12345678.901,1.0,2e7,,0.3333333333333333,true\n"
	        "65536,,,,,,,\n");
	json_object_put(curve);
}

static void csv_of_something_else_is_refused(void **state)
{
	struct json_object *curve = json_tokener_parse("{\"points\":3}");

	(void)state;
	assert_int_equal(curve_csv(stdout, curve), -EBADMSG);
	json_object_put(curve);
}

/* Parses a line of words; the result and the message are left for the test. */
static int parse(
        enum command_bit command, const char *line, struct options *ret_options, char *ret_error)
{
	static char copy[256];
	char *argv[16], *rest = copy;
	int argc = 0;

	snprintf(copy, sizeof(copy), "mtl %s", line);
	while (rest && argc < 15)
		argv[argc++] = strsep(&rest, " ");
	argv[argc] = NULL;
	options_init(ret_options);
	return options_parse(command, argc, argv, ret_options, ret_error, 256);
}

static void options_are_read(void **state)
{
	struct options options;
	char error[256];

	(void)state;
	assert_int_equal(
	        parse(COMMAND_CURVE, "77 --json --sizes 8M,512K,8M,64 --reference 2M --wait 3",
	                &options, error),
	        8);
	assert_true(options.json);
	assert_int_equal(options.sizes.n, 3);
	assert_float_equal(options.sizes.values[0], 64, 0);
	assert_float_equal(options.sizes.values[2], 8 * FIXTURE_MI, 0);
	assert_float_equal(options.reference, 2 * FIXTURE_MI, 0);
	assert_float_equal(options.wait, 3, 0);
	assert_true(isnan(options.duration));
	options_done(&options);
}

static void the_options_of_the_command_are_its_own(void **state)
{
	struct options options;
	char error[256];

	(void)state;
	assert_int_equal(parse(COMMAND_RUN, "--duration 5 prog --json -x", &options, error), 3);
	assert_false(options.json);
	assert_int_equal(parse(COMMAND_RUN, "--json -- --strange", &options, error), 3);
	assert_true(options.json);
}

static void wrong_usage_is_named(void **state)
{
	static const struct {
		enum command_bit command;
		const char *line, *words;
	} cases[] = {
	        {COMMAND_CURVE, "--nope", "--nope is not known"},
	        {COMMAND_LIST, "--csv", "--csv is not known"},
	        {COMMAND_CURVE, "--sizes", "--sizes needs a value"},
	        {COMMAND_CURVE, "--sizes 1M,", "'' is not a size"},
	        {COMMAND_CURVE, "--sizes 1M,2Q", "'2Q' is not a size"},
	        {COMMAND_CURVE, "--sizes 8M,3", "3 is less than one line of 64 bytes"},
	        {COMMAND_EXPORT, "--sizes 63", "for kilobytes write 63K"},
	        {COMMAND_RUN, "--reference 3 x", "less than one line"},
	        {COMMAND_CURVE, "--windows 0", "too short"},
	        {COMMAND_CURVE, "--json --csv", "--json and --csv do not go together"},
	        {COMMAND_CURVE, "--watch --csv", "--json for a stream"},
	        {COMMAND_CURVE, "--from a --record b", "FILE is the record already"},
	        {COMMAND_RUN, "--duration 0 x", "too short"},
	        {COMMAND_RUN, "--duration soon x", "'soon' is not a time"},
	        {COMMAND_RUN, "--json=yes x", "--json=yes: --json takes no value"},
	        {COMMAND_LIST, "-hx", "option -x is not known"},
	        {COMMAND_TRACE, "--me exact x", "--me could be any of --method, --memory"},
	        {COMMAND_TRACE, "--li x", "--line-size: 'x' is not"},
	        {COMMAND_CURVE, "--me x", "--me is not known"},
	        {COMMAND_TRACE, "--method aet --method aet x", "--method is given twice"},
	        {COMMAND_TRACE, "--format u64 --format=tokens x", "--format is given twice"},
	        {COMMAND_TRACE, "--emit rt --emit rd x", "--emit is given twice"},
	        {COMMAND_TRACE, "--sizes 1 --sizes 2 x", "--sizes is given twice"},
	        {COMMAND_TRACE, "--line-size 1.5 x", "no whole number of bytes"},
	        {COMMAND_TRACE, "--sizes 1,1.5 x", "no whole number of bytes"},
	        {COMMAND_TRACE, "--method shards:0x1p-2 x", "does not fit"},
	        {COMMAND_TRACE, "--method shards:-1 x", "does not fit"},
	        {COMMAND_TRACE, "--method shards: x", "does not fit"},
	        {COMMAND_TRACE, "--method shards-size:0.6 x", "does not fit"},
	        {COMMAND_TRACK, "--idle -1", "'-1' is not a time"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct options options;
		char error[256] = "";

		assert_int_equal(parse(cases[i].command, cases[i].line, &options, error), -EINVAL);
		assert_non_null(strstr(error, cases[i].words));
		options_done(&options);
	}
}

static void what_may_be_repeated(void **state)
{
	struct options options;
	char error[256] = "";

	(void)state;
	assert_true(parse(COMMAND_TRACE, "--cache 1K:2:64 --cache 2K:2:64 --json --json x",
	                    &options, error) > 0);
	assert_int_equal(options.caches.n, 2);
	options_done(&options);
	assert_true(parse(COMMAND_TRACE, "--method shards:1e-3 x", &options, error) > 0);
	assert_true(parse(COMMAND_CURVE, "--wait 1 --wait 2 x", &options, error) > 0);
	assert_float_equal(options.wait, 2, 0);
}

/* However long what it is about. */
static void what_is_wrong_stays_whole(void **state)
{
	static const struct {
		const char *option, *words;
	} cases[] = {
	        {"sizes", "not a size: give bytes"},
	        {"method", "there are exact"},
	        {"emit", "rt-hist"},
	        {"format", "there are lackey"},
	        {"cache", "not SIZE:WAYS:LINE"},
	        {"line-size", "not a size: give bytes"},
	        {"memory", "not a size: give bytes"},
	        {"windows", "not a number of accesses"},
	        {"plot", "that ends in .svg"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[256], error[256] = "";
		struct options options;

		snprintf(line, sizeof(line), "--%s=%0200d x", cases[i].option, 0);
		line[strcspn(line, "=") + 1] = 'x';
		assert_int_equal(parse(COMMAND_TRACE, line, &options, error), -EINVAL);
		if (!strstr(error, cases[i].words))
			fail_msg("'%s' is not in '%s'", cases[i].words, error);
		options_done(&options);
	}
}

static void the_socket_comes_from_the_environment(void **state)
{
	struct options options;
	char error[256];

	(void)state;
	unsetenv("MTL_SOCKET");
	assert_int_equal(parse(COMMAND_LIST, "--json", &options, error), 2);
	assert_string_equal(options.socket, "/run/mtld/io.mtld");
	setenv("MTL_SOCKET", "/run/other", 1);
	assert_int_equal(parse(COMMAND_LIST, "--json", &options, error), 2);
	assert_string_equal(options.socket, "/run/other");
	assert_int_equal(parse(COMMAND_LIST, "--socket /run/third", &options, error), 3);
	assert_string_equal(options.socket, "/run/third");
	unsetenv("MTL_SOCKET");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_point_has_its_line),
	        cmocka_unit_test(misses_per_access_only_when_counted),
	        cmocka_unit_test(an_undefined_ratio_is_a_dash),
	        cmocka_unit_test(lines_below_the_resolution_are_faint),
	        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
	        cmocka_unit_test(words_are_wrapped_whole),
	        cmocka_unit_test(a_wide_cell_is_wrapped_on_a_terminal_only),
	        cmocka_unit_test(a_change_of_phase_is_said),
	        cmocka_unit_test(a_report_says_what_it_rests_on),
	        cmocka_unit_test(a_report_may_go_without_the_table),
	        cmocka_unit_test(a_footprint_claims_no_window_it_has_not_seen),
	        cmocka_unit_test(a_footprint_has_all_windows_asked_for),
	        cmocka_unit_test(csv_keeps_the_digits),
	        cmocka_unit_test(csv_of_something_else_is_refused),
	        cmocka_unit_test(options_are_read),
	        cmocka_unit_test(the_options_of_the_command_are_its_own),
	        cmocka_unit_test(wrong_usage_is_named),
	        cmocka_unit_test(what_may_be_repeated),
	        cmocka_unit_test(what_is_wrong_stays_whole),
	        cmocka_unit_test(the_socket_comes_from_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

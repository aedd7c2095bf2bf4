/* SPDX-License-Identifier: MIT */
/*
 * The drawn curve and the sentence, on curves whose shape is known: heights, widths, the zone below
 * the resolution, the axis; and which sentence is said when.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "../../cli/curve_report.h"
#include "../../cli/size.h"
#include "cleanup.h"
#include "curve_fixture.h"

#define MARGIN 11
#define LINES_MAX 40

struct drawing {
	char *text;
	char *lines[LINES_MAX];
	int n;
};

static void drawing_done(struct drawing *drawing)
{
	free(drawing->text);
}

static struct drawing draw(const struct mtl_curve *curve, struct terminal terminal)
{
	struct drawing drawing = {0};
	size_t size;
	FILE *file = open_memstream(&drawing.text, &size);
	char *rest;

	assert_int_equal(curve_plot(file, curve, &terminal), 0);
	fclose(file);
	rest = drawing.text;
	while (*rest && drawing.n < LINES_MAX)
		drawing.lines[drawing.n++] = strsep(&rest, "\n");
	return drawing;
}

/* Rows from the top whose column shows one of these characters. */
static int height(const struct drawing *drawing, int column, const char *characters)
{
	int n = 0;

	for (int row = 0; row < 12; row++)
		n += strchr(characters, drawing->lines[row][MARGIN + column]) != NULL;
	return n;
}

static void a_scan_is_a_cliff(void **state)
{
	struct curve_fixture fixture;
	_cleanup_(drawing_done) struct drawing drawing = {0};

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, 0);
	drawing = draw(&fixture.curve, (struct terminal){.width = 80});
	assert_int_equal(drawing.n, 15);
	/* 128 KiB .. 64 MiB over 68 columns: 8 MiB is at column 45, 16 MiB at 52 */
	assert_true(height(&drawing, 0, "#+") >= 10);
	assert_int_equal(height(&drawing, 44, "#+"), height(&drawing, 0, "#+"));
	assert_int_equal(height(&drawing, 53, "#+.=_"), 0);
	assert_int_equal(height(&drawing, 67, "#+.=_"), 0);
	assert_non_null(strstr(drawing.lines[14], "90 % interval"));
	assert_null(strstr(drawing.lines[14], "below resolution"));
}

static void a_curve_never_rises_on_paper(void **state)
{
	struct curve_fixture fixture;
	_cleanup_(drawing_done) struct drawing drawing = {0};

	(void)state;
	curve_fixture_fill(&fixture, random_misses, 0);
	drawing = draw(&fixture.curve, (struct terminal){.width = 80});
	for (int column = 1; column < 68; column++)
		assert_true(height(&drawing, column, "#+") <= height(&drawing, column - 1, "#+"));
	assert_true(height(&drawing, 0, "#+") > 8);
	assert_int_equal(height(&drawing, 60, "#+._="), 0);
}

static void the_untrusted_zone_is_marked(void **state)
{
	struct curve_fixture fixture;
	_cleanup_(drawing_done) struct drawing drawing = {0};

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, FIXTURE_MI);
	drawing = draw(&fixture.curve, (struct terminal){.width = 80});
	/* 1 MiB is at column 22 */
	assert_true(height(&drawing, 10, ":") >= 10);
	assert_int_equal(height(&drawing, 10, "#"), 0);
	assert_int_equal(height(&drawing, 30, ":"), 0);
	assert_true(height(&drawing, 30, "#") >= 9);
	assert_int_equal(drawing.lines[12][MARGIN + 10], '~');
	assert_int_equal(drawing.lines[12][MARGIN + 30], '-');
	assert_non_null(strstr(drawing.lines[14], "below resolution"));
}

static double spike(double size)
{
	return size < FIXTURE_MI ? 1e12 : 1e6;
}

static void the_scale_follows_what_is_trusted(void **state)
{
	struct curve_fixture fixture;
	_cleanup_(drawing_done) struct drawing drawing = {0};

	(void)state;
	curve_fixture_fill(&fixture, spike, FIXTURE_MI);
	drawing = draw(&fixture.curve, (struct terminal){.width = 80});
	assert_int_equal(drawing.lines[0][MARGIN + 3], '^');
	assert_non_null(strstr(drawing.lines[0], "1.12 M"));
	assert_true(height(&drawing, 60, "#+") >= 10);
	assert_non_null(strstr(drawing.lines[14], "goes on above"));
}

static void sizes_stand_below_the_axis(void **state)
{
	struct curve_fixture fixture;
	_cleanup_(drawing_done) struct drawing drawing = {0};

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, 0);
	drawing = draw(&fixture.curve, (struct terminal){.width = 120});
	for (const char *label = strtok(drawing.lines[13], " "); label; label = strtok(NULL, " ")) {
		static const char *const known[] = {
		        "128K", "256K", "512K", "1M", "2M", "4M", "8M", "16M", "32M", "64M"};
		bool found = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			found |= strcmp(known[i], label) == 0;
		assert_true(found);
	}
}

static size_t columns_of(const char *utf8)
{
	size_t n = 0;

	for (; *utf8; utf8++)
		n += (*utf8 & 0xc0) != 0x80;
	return n;
}

static void nothing_is_wider_than_the_terminal(void **state)
{
	struct curve_fixture fixture;

	(void)state;
	curve_fixture_fill(&fixture, random_misses, FIXTURE_MI);
	for (unsigned width = 40; width <= 120; width++) {
		for (int utf8 = 0; utf8 < 2; utf8++) {
			_cleanup_(drawing_done) struct drawing drawing = draw(
			        &fixture.curve, (struct terminal){.width = width, .utf8 = utf8});

			for (int i = 0; i < 14; i++)
				assert_true(columns_of(drawing.lines[i]) <= width);
		}
	}
}

static void unicode_only_where_the_locale_has_it(void **state)
{
	struct curve_fixture fixture;
	_cleanup_(drawing_done) struct drawing ascii = {0}, unicode = {0};

	(void)state;
	curve_fixture_fill(&fixture, random_misses, FIXTURE_MI);
	ascii = draw(&fixture.curve, (struct terminal){.width = 80});
	unicode = draw(&fixture.curve, (struct terminal){.width = 80, .utf8 = true});
	for (int i = 0; i < ascii.n; i++) {
		for (const char *c = ascii.lines[i]; *c; c++)
			assert_true(*c >= ' ' && *c <= '~');
	}
	assert_non_null(strstr(unicode.lines[11], "█"));
	assert_non_null(strstr(unicode.lines[11], "▒"));
}

static void colours_only_where_wanted(void **state)
{
	struct curve_fixture fixture;
	_cleanup_(drawing_done) struct drawing plain = {0}, coloured = {0};

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, FIXTURE_MI);
	plain = draw(&fixture.curve, (struct terminal){.width = 80});
	coloured = draw(&fixture.curve, (struct terminal){.width = 80, .colours = true});
	assert_null(strchr(plain.lines[5], '\033'));
	assert_non_null(strstr(coloured.lines[5], "\033[2m"));
	assert_non_null(strstr(coloured.lines[5], "\033[0m"));
}

static void one_size_is_no_curve(void **state)
{
	struct curve_fixture fixture;
	_cleanup_(drawing_done) struct drawing drawing = {0};

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, 0);
	fixture.curve.n_points = 1;
	drawing = draw(&fixture.curve, (struct terminal){.width = 80});
	assert_int_equal(drawing.n, 0);
	fixture.curve.n_points = 0;
	drawing_done(&drawing);
	drawing = draw(&fixture.curve, (struct terminal){.width = 80});
	assert_int_equal(drawing.n, 0);
}

static void assert_sentence(double (*misses)(double size), double resolution, const char *expected)
{
	struct curve_fixture fixture;
	char text[512];

	curve_fixture_fill(&fixture, misses, resolution);
	curve_sentence(&fixture.curve, text, sizeof(text));
	assert_string_equal(text, expected);
}

static double stairs(double size)
{
	return size < 4 * FIXTURE_MI ? 60 : size < 8 * FIXTURE_MI ? 30 : 2;
}

static double half_held(double size)
{
	return size < FIXTURE_MI ? 1e6 : 4e5;
}

static double nothing(double size)
{
	(void)size;
	return 0;
}

static void sentences_say_what_curves_say(void **state)
{
	(void)state;
	assert_sentence(scan_misses, 0,
	        "16M holds its working set (as seen within 1 s of CPU time); from 16M down to 8M "
	        "misses rise from 0 to 400 M/s.");
	assert_sentence(scan_misses, 1.5 * FIXTURE_MI,
	        "16M holds its working set (as seen within 1 s of CPU time); from 16M down to 8M "
	        "misses rise from 0 to 400 M/s; cannot tell below 2M.");
	assert_sentence(stairs, 0,
	        "8M holds its working set (as seen within 1 s of CPU time); from 4M down to 2M "
	        "misses rise from 30/s to 60/s (2x).");
	assert_sentence(
	        flat_misses, 0, "From 128K to 64M the size makes little difference: 1 M misses/s.");
	assert_sentence(half_held, 0,
	        "Even 64M does not hold its working set: 40 % of the misses at 128K remain, those "
	        "of new pages; from 1M down to 512K misses rise from 400 k/s to 1 M/s (2.5x).");
	assert_sentence(nothing, 0, "With 128K or more it does not miss.");
	assert_sentence(scan_misses, 32 * FIXTURE_MI,
	        "32M holds all it touches within 1 s of CPU time: 0 misses/s, of new pages; cannot "
	        "tell below 32M.");
	assert_sentence(scan_misses, 1e12,
	        "All of these sizes are below the resolution; cannot tell below 931G.");
}

static void an_uncertain_working_set_has_its_interval(void **state)
{
	struct curve_fixture fixture;
	char text[512];

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, 0);
	fixture.points[6].low = 1e7; /* 8 MiB might do */
	curve_sentence(&fixture.curve, text, sizeof(text));
	assert_non_null(strstr(text, "16M holds its working set (as seen within 1 s of CPU time), "
	                             "which is uncertain: 90 % interval 10 M .. 440 M/s at 8M, run "
	                             "longer; from 16M down to 8M "));
	fixture.points[7].high = 1e8; /* 16 MiB might not */
	curve_sentence(&fixture.curve, text, sizeof(text));
	assert_non_null(strstr(text, "90 % interval 0 .. 100 M/s at 16M, run longer"));
}

/* What is said to hold misses less than a twentieth, what is listed before it does not. */
static void a_sentence_never_contradicts_its_table(void **state)
{
	(void)state;
	for (int i = 1; i < FIXTURE_POINTS; i++) {
		struct curve_fixture fixture;
		char text[512], expected[64], size[NUMBER_TEXT];

		curve_fixture_fill(&fixture, half_held, 0);
		for (int j = 0; j < FIXTURE_POINTS; j++)
			fixture.points[j].misses_per_second = j < i - 1 ? 1e6
			                                      : j < i   ? 5.1e4
			                                                : 4.9e4;
		curve_sentence(&fixture.curve, text, sizeof(text));
		snprintf(expected, sizeof(expected), "%s holds its working set",
		        size_format(fixture.points[i].size_bytes, size));
		if (i > 1)
			assert_non_null(strstr(text, expected));
		else
			assert_null(strstr(text, "holds"));
	}
}

static void a_sentence_fits_into_its_text(void **state)
{
	struct curve_fixture fixture;
	char text[16];

	(void)state;
	curve_fixture_fill(&fixture, scan_misses, FIXTURE_MI);
	curve_sentence(&fixture.curve, text, sizeof(text));
	assert_int_equal(strlen(text), sizeof(text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_scan_is_a_cliff),
	        cmocka_unit_test(a_curve_never_rises_on_paper),
	        cmocka_unit_test(the_untrusted_zone_is_marked),
	        cmocka_unit_test(the_scale_follows_what_is_trusted),
	        cmocka_unit_test(sizes_stand_below_the_axis),
	        cmocka_unit_test(nothing_is_wider_than_the_terminal),
	        cmocka_unit_test(unicode_only_where_the_locale_has_it),
	        cmocka_unit_test(colours_only_where_wanted),
	        cmocka_unit_test(one_size_is_no_curve),
	        cmocka_unit_test(sentences_say_what_curves_say),
	        cmocka_unit_test(an_uncertain_working_set_has_its_interval),
	        cmocka_unit_test(a_sentence_never_contradicts_its_table),
	        cmocka_unit_test(a_sentence_fits_into_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

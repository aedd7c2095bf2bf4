/* SPDX-License-Identifier: MIT */
/*
 * The last hour of a process: a row an entry, newest last, and plots with time to the right.
 *
 * curve_plot_as() has a logarithmic axis. Time in minutes before now (of a short history in tens of
 * seconds) goes in as a power of two, so that the axis is linear in them and ticks stand at whole
 * ones. What is not known is NAN and
 * leaves a gap, and so is what was not looked at: it stands beside each entry.
 */

#include "history_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "curve_report.h"
#include "history.h"
#include "plot_file.h"
#include "size.h"
#include "table.h"

DEFINE_CLEANUP(struct mtl_history, mtl_history_free)

#define CELL 96
#define SIZES_SHOWN 16
#define FIXED 3 /* columns before those of the sizes */
#define GAP 1e-6
#define MINUTE 60.0
#define TEN_SECONDS 10.0
#define SHORT_SECONDS 150 /* has too few whole minutes to stand on an axis */

/* --- CSV */

static void print_number(double number)
{
	isnan(number) ? (void)fputc(',', stdout) : (void)printf(",%.10g", number);
}

static void print_value(const struct mtl_history_value *value)
{
	print_number(value->value);
	print_number(value->low);
	print_number(value->high);
}

static void csv(const struct mtl_history *history)
{
	puts("seconds_ago,wall_seconds,cpu_seconds,changed,reason,footprint_bytes,footprint_low,"
	     "footprint_high,size_bytes,misses_per_second,low,high");
	for (size_t i = 0; i < history->n_entries; i++) {
		const struct mtl_history_entry *entry = &history->entries[i];

		for (size_t k = 0; k < history->n_sizes; k++) {
			printf("%.10g,%.10g,%.10g,%s,%s", entry->seconds_ago, entry->wall_seconds,
			        entry->cpu_seconds, entry->changed ? "true" : "false",
			        entry->reason);
			print_value(&entry->footprint);
			print_number(history->sizes[k]);
			print_value(&entry->misses[k]);
			putchar('\n');
		}
	}
}

/* --- table */

static void value_cell(const struct mtl_history_value *value,
        char *(*format)(double number, char *ret_text), char *ret_text)
{
	char number[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT];

	if (isnan(value->value))
		snprintf(ret_text, CELL, "-");
	else
		snprintf(ret_text, CELL, "%s (%s .. %s)", format(value->value, number),
		        format(value->low, low), format(value->high, high));
}

static int add_row(
        struct table *table, const struct mtl_history *history, const struct mtl_history_entry *e)
{
	char texts[FIXED + SIZES_SHOWN][CELL];
	const char *cells[FIXED + SIZES_SHOWN + 1];

	duration_format(e->seconds_ago, texts[0]);
	seconds_format(e->cpu_seconds, texts[1]);
	value_cell(&e->footprint, size_format, texts[2]);
	for (size_t i = 0; i < history->n_sizes; i++)
		value_cell(&e->misses[i], count_format, texts[FIXED + i]);
	for (size_t i = 0; i < FIXED + history->n_sizes; i++)
		cells[i] = texts[i];
	cells[FIXED + history->n_sizes] = e->reason[0] ? e->reason : e->changed ? "changed" : "";
	return table_add(table, cells, false);
}

static int show_table(const struct mtl_history *history, const struct terminal *terminal)
{
	_cleanup_(table_freep) struct table *table = NULL;
	struct table_column heads[FIXED + SIZES_SHOWN + 1] = {
	        {"AGO", RIGHT, 0}, {"CPU TIME", RIGHT, 0}, {"FOOTPRINT", RIGHT, 0}};
	char titles[SIZES_SHOWN][CELL], size[NUMBER_TEXT];
	int r;

	for (size_t i = 0; i < history->n_sizes; i++) {
		snprintf(titles[i], CELL, "MISSES/s AT %s", size_format(history->sizes[i], size));
		heads[FIXED + i] = (struct table_column){titles[i], RIGHT, 0};
	}
	heads[FIXED + history->n_sizes] = (struct table_column){"", LEFT, 0};
	r = table_new(heads, FIXED + history->n_sizes + 1, terminal, &table);
	for (size_t i = 0; r == 0 && i < history->n_entries; i++)
		r = add_row(table, history, &history->entries[i]);
	return r ?: table_print(table, stdout);
}

/* --- plots over time */

static const struct mtl_history_value *value_of(
        const struct mtl_history_entry *entry, size_t which, bool footprint)
{
	return footprint ? &entry->footprint : &entry->misses[which];
}

/* Anything at all: there is something to draw. */
static bool is_known(const struct mtl_history *history, size_t which, bool footprint)
{
	for (size_t i = 0; i < history->n_entries; i++)
		if (!isnan(value_of(&history->entries[i], which, footprint)->value))
			return true;
	return false;
}

static bool is_any_known(const struct mtl_history *history)
{
	bool known = is_known(history, 0, true);

	for (size_t i = 0; i < history->n_sizes; i++)
		known = known || is_known(history, i, false);
	return known;
}

/* No misses at all, for sure: an empty frame would not say so. */
static bool is_nothing(const struct mtl_history *history, size_t which, bool footprint)
{
	for (size_t i = 0; i < history->n_entries; i++)
		if (value_of(&history->entries[i], which, footprint)->high > 0)
			return false;
	return true;
}

static bool is_short(const struct mtl_history *history)
{
	const struct mtl_history_entry *first = history->entries;

	return first->seconds_ago + first->wall_seconds < SHORT_SECONDS;
}

static char *minutes_text(double size, char *ret_text)
{
	snprintf(ret_text, NUMBER_TEXT, "%.0f min", round(log2(size)) + 0.0);
	return ret_text;
}

static char *seconds_text(double size, char *ret_text)
{
	snprintf(ret_text, NUMBER_TEXT, "%.0f s", round(log2(size)) * TEN_SECONDS + 0.0);
	return ret_text;
}

static struct mtl_curve_point point_at(double time, const struct mtl_history_value *value)
{
	return (struct mtl_curve_point){
	        .size_bytes = exp2(time),
	        .misses_per_second = value->value,
	        .low = value->low,
	        .high = value->high,
	};
}

/* An entry is as wide as its time; what lies between two of them is unknown. which: of the sizes,
 * or all of them for the footprint. unit: seconds that are 1 on the axis. */
static size_t points_of(const struct mtl_history *history, size_t which, bool footprint,
        double unit, struct mtl_curve_point *ret_points)
{
	static const struct mtl_history_value unknown = {NAN, NAN, NAN};
	size_t n = 0;

	for (size_t i = 0; i < history->n_entries; i++) {
		const struct mtl_history_entry *e = &history->entries[i];
		const struct mtl_history_value *value = value_of(e, which, footprint);
		double end = -e->seconds_ago / unit, begin = end - e->wall_seconds / unit;

		if (n > 0 && begin > log2(ret_points[n - 1].size_bytes) + 1 / unit)
			ret_points[n++] = point_at(begin - GAP, &unknown);
		ret_points[n++] = point_at(begin + GAP, value);
		ret_points[n++] = point_at(end, value);
	}
	return n;
}

static int plot_one(const struct mtl_history *history, size_t which, bool footprint,
        const struct terminal *terminal)
{
	_cleanup_free_ struct mtl_curve_point *points =
	        calloc(3 * history->n_entries + 1, sizeof(*points));
	bool brief = is_short(history);
	char caption[CELL], size[NUMBER_TEXT];
	struct curve_look look = {
	        .caption = caption,
	        .size_text = brief ? seconds_text : minutes_text,
	        .value_text = footprint ? size_format : NULL,
	};
	struct mtl_curve curve = {.points = points};

	if (!points)
		return -ENOMEM;
	if (!is_known(history, which, footprint))
		return 0;
	putchar('\n');
	curve.n_points = points_of(history, which, footprint, brief ? TEN_SECONDS : MINUTE, points);
	if (footprint)
		snprintf(caption, sizeof(caption), "footprint (%s before now)",
		        brief ? "seconds" : "minutes");
	else
		snprintf(caption, sizeof(caption), "misses per second of CPU time at %s",
		        size_format(history->sizes[which], size));
	if (is_nothing(history, which, footprint)) {
		printf("%s: none in all of these times\n", caption);
		return 0;
	}
	return curve_plot_as(stdout, &curve, &look, terminal);
}

static int show(const struct mtl_history *history)
{
	struct terminal terminal = terminal_describe(stdout);
	char name[sizeof(history->comm)], window[NUMBER_TEXT];
	int r;

	printf("%s (pid %d): each row is the curve as it was then, of a window of %s of CPU time "
	       "or "
	       "of what came since it changed; 90 %% intervals\n",
	        printable(history->comm, name, sizeof(name)), (int)history->pid,
	        seconds_format(history->window_seconds, window));
	if (history->n_entries == 0) {
		puts("nothing yet: the first row comes after 10 to 60 s");
		return 0;
	}
	r = show_table(history, &terminal);
	for (size_t i = 0; r == 0 && i <= history->n_sizes; i++)
		r = plot_one(history, i ? i - 1 : 0, i == 0, &terminal);
	if (r == 0 && !is_any_known(history))
		puts("\nnothing to draw: in none of these times was there a curve");
	return r;
}

/* --- picture */

static int fill_series(const struct mtl_history *history, size_t which, struct plot_series *series,
        char name[NUMBER_TEXT])
{
	size_t n = 3 * history->n_entries + 1;
	_cleanup_free_ struct mtl_curve_point *points = calloc(n, sizeof(*points));
	double *numbers = calloc(n, 2 * sizeof(*numbers)); /* times, then values */

	series->sizes = numbers;
	if (!points || !numbers)
		return -ENOMEM;
	series->n = points_of(history, which, false, MINUTE, points);
	for (size_t i = 0; i < series->n; i++) {
		numbers[i] = log2(points[i].size_bytes);
		numbers[n + i] = points[i].misses_per_second;
	}
	series->values = numbers + n;
	series->name = size_format(history->sizes[which], name);
	return 0;
}

static int picture(const struct mtl_history *history, const char *path)
{
	struct plot_series series[SIZES_SHOWN] = {0};
	char names[SIZES_SHOWN][NUMBER_TEXT], name[sizeof(history->comm)], title[CELL];
	char error[512] = "out of memory";
	struct plot_request request = {
	        .title = title,
	        .size_title = "minutes before now",
	        .value_title = "misses per second of CPU time",
	        .linear = true,
	        .series = series,
	        .n_series = history->n_sizes,
	};
	int r = 0;

	snprintf(title, sizeof(title), "%s (pid %d)", printable(history->comm, name, sizeof(name)),
	        (int)history->pid);
	for (size_t i = 0; r == 0 && i < history->n_sizes; i++)
		r = fill_series(history, i, &series[i], names[i]);
	r = r ?: plot_file_write(path, &request, error, sizeof(error));
	for (size_t i = 0; i < SIZES_SHOWN; i++)
		free((void *)series[i].sizes);
	return r < 0 ? complain(MTL_FAILED, "%s", error) : MTL_DONE;
}

int history_output(struct json_object *object, const struct options *options)
{
	_cleanup_(mtl_history_freep) struct mtl_history *history = NULL;
	int code = MTL_DONE, r;
	char error[256];

	r = mtl_history_from_json(object, &history, error, sizeof(error));
	if (r < 0 || history->n_sizes > SIZES_SHOWN)
		return complain(MTL_FAILED, "the history cannot be read: %s",
		        r < 0 ? error : "too many sizes");
	if (options->plot)
		code = is_any_known(history)
		               ? picture(history, options->plot)
		               : complain(MTL_NOT_ENOUGH, "nothing to draw yet: there has been no "
		                                          "curve, and the first "
		                                          "entry comes after 10 to 60 s");
	if (code != MTL_DONE)
		return code;
	if (options->json)
		json_output(stdout, object);
	else if (options->csv)
		csv(history);
	else if (!options->plot && (r = show(history)) < 0)
		code = complain(MTL_FAILED, "the history cannot be shown: %s", strerror(-r));
	if (fflush(stdout) != 0)
		code = complain(MTL_FAILED, "cannot write the history: %s", strerror(errno));
	return code;
}

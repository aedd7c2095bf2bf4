/* SPDX-License-Identifier: MIT */
/*
 * The curve as a table: one line a size. A column is a title and a function that prints its cell,
 * so that heading and content stay together. Points below the resolution are faint and say so.
 */

#include "curve_report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "size.h"
#include "table.h"

#define CELL 80
#define COLUMNS_MAX 8

typedef void (*cell_function)(
        const struct mtl_curve *curve, const struct mtl_curve_point *point, char *ret_text);

struct curve_column {
	const char *title; /* %s: the reference size */
	enum alignment alignment;
	cell_function cell;
	bool only_with_accesses;
};

static void cell_size(
        const struct mtl_curve *curve, const struct mtl_curve_point *point, char *ret_text)
{
	(void)curve;
	size_format(point->size_bytes, ret_text);
}

static void cell_fill_time(
        const struct mtl_curve *curve, const struct mtl_curve_point *point, char *ret_text)
{
	char longest[NUMBER_TEXT];

	if (isfinite(point->fill_time_seconds))
		seconds_format(point->fill_time_seconds, ret_text);
	else
		snprintf(ret_text, CELL, "> %s",
		        seconds_format(curve->footprint_window_seconds, longest));
}

static void cell_misses(
        const struct mtl_curve *curve, const struct mtl_curve_point *point, char *ret_text)
{
	(void)curve;
	count_format(point->misses_per_second, ret_text);
}

static void cell_interval(
        const struct mtl_curve *curve, const struct mtl_curve_point *point, char *ret_text)
{
	char low[NUMBER_TEXT], high[NUMBER_TEXT];

	(void)curve;
	snprintf(ret_text, CELL, "%s .. %s", count_format(point->low, low),
	        count_format(point->high, high));
}

static void cell_relative(
        const struct mtl_curve *curve, const struct mtl_curve_point *point, char *ret_text)
{
	(void)curve;
	ratio_format(point->relative_miss_ratio, ret_text);
}

static void cell_ratio(
        const struct mtl_curve *curve, const struct mtl_curve_point *point, char *ret_text)
{
	(void)curve;
	ratio_format(point->miss_ratio, ret_text);
}

static void cell_note(
        const struct mtl_curve *curve, const struct mtl_curve_point *point, char *ret_text)
{
	(void)curve;
	strcpy(ret_text, point->below_resolution ? "below resolution" : "");
}

static const struct curve_column columns[] = {
        {"SIZE", RIGHT, cell_size, false},
        {"FILLS IN", RIGHT, cell_fill_time, false},
        {"MISSES/s", RIGHT, cell_misses, false},
        {"90 %% INTERVAL", RIGHT, cell_interval, false},
        {"OF MISSES AT %s", RIGHT, cell_relative, false},
        {"MISSES/ACCESS", RIGHT, cell_ratio, true},
        {"", LEFT, cell_note, false},
};

static bool accesses_known(const struct mtl_curve *curve)
{
	for (size_t i = 0; i < curve->n_points; i++) {
		if (!isnan(curve->points[i].miss_ratio))
			return true;
	}
	return false;
}

static size_t choose_columns(const struct mtl_curve *curve, const struct curve_column **ret_chosen)
{
	bool accesses = accesses_known(curve);
	size_t n = 0;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (accesses || !columns[i].only_with_accesses)
			ret_chosen[n++] = &columns[i];
	}
	return n;
}

static int add_point(struct table *table, const struct mtl_curve *curve,
        const struct mtl_curve_point *point, const struct curve_column **chosen, size_t n)
{
	char texts[COLUMNS_MAX][CELL];
	const char *cells[COLUMNS_MAX];

	for (size_t i = 0; i < n; i++) {
		chosen[i]->cell(curve, point, texts[i]);
		cells[i] = texts[i];
	}
	return table_add(table, cells, point->below_resolution);
}

int curve_table(FILE *file, const struct mtl_curve *curve, const struct terminal *terminal)
{
	_cleanup_(table_freep) struct table *table = NULL;
	const struct curve_column *chosen[COLUMNS_MAX];
	struct table_column heads[COLUMNS_MAX];
	char titles[COLUMNS_MAX][CELL], reference[NUMBER_TEXT];
	size_t n = choose_columns(curve, chosen);
	int r;

	size_format(curve->reference_bytes, reference);
	for (size_t i = 0; i < n; i++) {
		snprintf(titles[i], CELL, chosen[i]->title, reference);
		heads[i] = (struct table_column){titles[i], chosen[i]->alignment, 0};
	}
	r = table_new(heads, n, terminal, &table);
	for (size_t i = 0; r == 0 && i < curve->n_points; i++)
		r = add_point(table, curve, &curve->points[i], chosen, n);
	return r ?: table_print(table, file);
}

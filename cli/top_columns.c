/* SPDX-License-Identifier: MIT */
/*
 * Columns of `mtl top`: one table that the screen, --sort, the keys and the help go by.
 */

#include "top_columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "size.h"

#define VALUE(name, field)                                                                         \
	static double name(const struct top_row *row)                                              \
	{                                                                                          \
		return row->field;                                                                 \
	}

VALUE(value_pid, pid)
VALUE(value_cpu, cpu)
VALUE(value_resident, resident_bytes)
VALUE(value_footprint, footprint_bytes)
VALUE(value_l2, l2_misses)
VALUE(value_llc, llc_misses)
VALUE(value_fill, llc_fill_seconds)
VALUE(value_width, width)

static void text_pid(const struct top_row *row, char *ret_text)
{
	snprintf(ret_text, NUMBER_TEXT, "%d", row->pid);
}

static void text_command(const struct top_row *row, char *ret_text)
{
	snprintf(ret_text, NUMBER_TEXT, "%s", row->comm);
}

static void text_cpu(const struct top_row *row, char *ret_text)
{
	if (isnan(row->cpu))
		strcpy(ret_text, "-");
	else
		snprintf(ret_text, NUMBER_TEXT, "%.0f", row->cpu * 100);
}

static void text_resident(const struct top_row *row, char *ret_text)
{
	size_format(row->resident_bytes, ret_text);
}

static void text_footprint(const struct top_row *row, char *ret_text)
{
	size_format(row->footprint_bytes, ret_text);
}

static void text_l2(const struct top_row *row, char *ret_text)
{
	count_format(row->l2_misses, ret_text);
}

static void text_llc(const struct top_row *row, char *ret_text)
{
	count_format(row->llc_misses, ret_text);
}

static void text_fill(const struct top_row *row, char *ret_text)
{
	seconds_format(row->llc_fill_seconds, ret_text);
}

/* Beyond three digits a number has no meaning left. */
static void text_width(const struct top_row *row, char *ret_text)
{
	if (isnan(row->width))
		strcpy(ret_text, "-");
	else if (row->width > 9.99)
		strcpy(ret_text, ">999%");
	else
		snprintf(ret_text, NUMBER_TEXT, "%.0f%%", row->width * 100);
}

const struct top_column top_columns[] = {
        {"pid", "PID", 7, RIGHT, 0, false, "process", value_pid, text_pid},
        {"command", "COMMAND", 11, LEFT, 0, false, "its name", NULL, text_command},
        {"cpu", "CPU%", 5, RIGHT, 0, true, "of one core, since the look before", value_cpu,
                text_cpu},
        {"resident", "RES", 6, RIGHT, 62, true, "memory it has", value_resident, text_resident},
        {"footprint", "TOUCHED", 7, RIGHT, 0, true,
                "memory it uses: touched within the longest window watched", value_footprint,
                text_footprint},
        {"l2", "MISS@L2", 7, RIGHT, 48, true, "misses per CPU second in a cache as large as the L2",
                value_l2, text_l2},
        {"llc", "MISS@LL", 7, RIGHT, 56, true,
                "the same in a cache as large as the last level, all its own", value_llc, text_llc},
        {"fill", "FILL LL", 7, RIGHT, 70, false,
                "CPU time in which it touches as much as the last level holds", value_fill,
                text_fill},
        {"error", "+-", 5, RIGHT, 40, false,
                "half the 90 % interval of its misses, in the median over the curve", value_width,
                text_width},
};

const size_t top_columns_n = sizeof(top_columns) / sizeof(top_columns[0]);

int top_column_parse(const char *name, size_t *ret_column, char *ret_error, size_t error_size)
{
	size_t length = 0;

	for (size_t i = 0; i < top_columns_n; i++) {
		if (strcmp(top_columns[i].name, name) == 0) {
			*ret_column = i;
			return 0;
		}
	}
	snprintf(ret_error, error_size, "there is no such column; there are");
	for (size_t i = 0; i < top_columns_n && (length = strlen(ret_error)) < error_size; i++)
		snprintf(ret_error + length, error_size - length, "%s %s", i ? "," : "",
		        top_columns[i].name);
	return -EINVAL;
}

bool top_matches(const struct top_row *row, const char *filter)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", row->pid);
	return !*filter || strcasestr(row->comm, filter) ||
	       strncmp(pid, filter, strlen(filter)) == 0;
}

struct order {
	const struct top_column *column;
	bool descending;
};

/* By value or name, unknown ones last either way; ties by process number, so that lines keep still.
 */
static int compare(const void *a, const void *b, void *argument)
{
	const struct top_row *x = *(const struct top_row *const *)a;
	const struct top_row *y = *(const struct top_row *const *)b;
	const struct order *order = argument;
	int sign = order->descending ? -1 : 1, by_pid = (x->pid > y->pid) - (x->pid < y->pid);

	if (!order->column->value)
		return sign * strcasecmp(x->comm, y->comm) ?: by_pid;
	double v = order->column->value(x), w = order->column->value(y);

	if (isnan(v) || isnan(w))
		return isnan(v) - isnan(w) ?: by_pid;
	return sign * ((v > w) - (v < w)) ?: by_pid;
}

size_t top_order(const struct top_rows *rows, size_t column, bool reversed, const char *filter,
        const struct top_row **ret_order)
{
	struct order order = {&top_columns[column], top_columns[column].descending != reversed};
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (top_matches(&rows->rows[i], filter))
			ret_order[n++] = &rows->rows[i];
	}
	qsort_r(ret_order, n, sizeof(*ret_order), compare, &order);
	return n;
}

/* SPDX-License-Identifier: MIT */
/*
 * Rows of `mtl top` from what mtld answers.
 *
 * A List brings every process with its counters; the CPU use between two of them is what both
 * clocks did since. A curve brings what is read off it at this machine's cache sizes, which it
 * names itself: the reference of its relative ratios (L2) and the size its agreement is about (the
 * last level). What is below a curve's resolution is unknown here: a table has no room to say how
 * unsure a number is.
 */

#include "top_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "object.h"
#include "terminal.h"

#define SPARK_FROM 32768.0

static void row_done(struct top_row *row)
{
	row->curve = mtl_curve_free(row->curve);
}

void top_rows_done(struct top_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		row_done(&rows->rows[i]);
	free(rows->rows);
	*rows = (struct top_rows){.l2_bytes = NAN, .llc_bytes = NAN};
}

struct top_row *top_rows_find(const struct top_rows *rows, int pid)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->rows[i].pid == pid)
			return &rows->rows[i];
	}
	return NULL;
}

/* CPU time over wall-clock time since the row before; the same moment twice says nothing new. */
static double cpu_use(const struct top_row *before, const struct top_row *row)
{
	double wall = row->wall_seconds - before->wall_seconds;

	if (!(wall > 0))
		return before->cpu;
	return fmax(row->cpu_seconds - before->cpu_seconds, 0) / wall;
}

/* What stays of a process that was there before. */
static void inherit(struct top_row *row, struct top_row *before)
{
	row->cpu = cpu_use(before, row);
	row->footprint_bytes = before->footprint_bytes;
	row->l2_misses = before->l2_misses;
	row->llc_misses = before->llc_misses;
	row->llc_fill_seconds = before->llc_fill_seconds;
	row->width = before->width;
	row->curve = TAKE_PTR(before->curve);
	row->origin = before->origin;
	row->asked = before->asked;
	row->unreadable = before->unreadable;
}

static struct top_row read_row(struct json_object *process)
{
	const char *reason = object_text(process, "reason");
	struct top_row row = {
	        .pid = (int)object_number(process, "pid"),
	        .cpu = NAN,
	        .resident_bytes = object_number(process, "resident_bytes"),
	        .observations = object_number(process, "observations"),
	        .needed = object_number(process, "observations_needed"),
	        .cpu_seconds = object_number(process, "cpu_seconds"),
	        .wall_seconds = object_number(process, "wall_seconds"),
	        .footprint_bytes = NAN,
	        .l2_misses = NAN,
	        .llc_misses = NAN,
	        .llc_fill_seconds = NAN,
	        .width = NAN,
	};

	printable(object_text(process, "comm"), row.comm, sizeof(row.comm));
	printable(object_text(process, "state"), row.state, sizeof(row.state));
	if (strcmp(reason, "-") != 0)
		printable(reason, row.reason, sizeof(row.reason));
	return row;
}

int top_rows_list(struct top_rows *rows, struct json_object *answer)
{
	struct json_object *processes;
	struct top_row *fresh;
	size_t n;

	if (!json_object_object_get_ex(answer, "processes", &processes) ||
	        !json_object_is_type(processes, json_type_array))
		return -EBADMSG;
	n = json_object_array_length(processes);
	fresh = calloc(n + 1, sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct top_row *before;

		fresh[i] = read_row(json_object_array_get_idx(processes, i));
		before = top_rows_find(rows, fresh[i].pid);
		if (before)
			inherit(&fresh[i], before);
	}
	for (size_t i = 0; i < rows->n; i++)
		row_done(&rows->rows[i]);
	free(rows->rows);
	rows->rows = fresh;
	rows->n = n;
	return 0;
}

double top_misses(const struct mtl_curve *curve, double size_bytes)
{
	const struct mtl_curve_point *points = curve->points;
	size_t i = 0;

	if (curve->n_points == 0 || !(size_bytes >= points[0].size_bytes))
		return NAN;
	while (i + 1 < curve->n_points && points[i + 1].size_bytes <= size_bytes)
		i++;
	if (points[i].below_resolution)
		return NAN;
	if (i + 1 == curve->n_points)
		return size_bytes > points[i].size_bytes ? NAN : points[i].misses_per_second;
	double share = (size_bytes - points[i].size_bytes) /
	               (points[i + 1].size_bytes - points[i].size_bytes);

	return (1 - share) * points[i].misses_per_second + share * points[i + 1].misses_per_second;
}

/* In which so much is touched; INFINITY: not within the longest window. */
static double fill_time(const struct mtl_curve *curve, double size_bytes)
{
	for (size_t i = 0; i < curve->n_points; i++) {
		if (curve->points[i].size_bytes >= size_bytes)
			return curve->points[i].below_resolution
			               ? NAN
			               : curve->points[i].fill_time_seconds;
	}
	return NAN;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_width(const struct mtl_curve *curve)
{
	_cleanup_free_ double *widths = calloc(curve->n_points + 1, sizeof(*widths));
	size_t n = 0;

	for (size_t i = 0; widths && i < curve->n_points; i++) {
		const struct mtl_curve_point *point = &curve->points[i];

		if (!point->below_resolution && point->misses_per_second > 0)
			widths[n++] = (point->high - point->low) / 2 / point->misses_per_second;
	}
	if (n == 0)
		return NAN;
	qsort(widths, n, sizeof(*widths), compare_doubles);
	return widths[n / 2];
}

int top_rows_curve(struct top_rows *rows, struct json_object *object)
{
	struct mtl_curve_origin origin;
	struct mtl_curve *curve;
	struct top_row *row;
	char error[160];

	if (mtl_curve_from_json(object, &curve, &origin, error, sizeof(error)) < 0)
		return -EBADMSG;
	row = top_rows_find(rows, origin.pid);
	if (!row) {
		mtl_curve_free(curve);
		return -ESRCH;
	}
	row_done(row);
	row->unreadable = false;
	row->curve = curve;
	row->origin = origin;
	rows->llc_bytes = curve->cache_bytes > 0 ? curve->cache_bytes : NAN;
	rows->l2_bytes = curve->reference_bytes > 0 ? curve->reference_bytes : NAN;
	row->footprint_bytes = curve->footprint_bytes;
	row->l2_misses = top_misses(curve, rows->l2_bytes);
	row->llc_misses = top_misses(curve, rows->llc_bytes);
	row->llc_fill_seconds = fill_time(curve, rows->llc_bytes);
	row->width = median_width(curve);
	return 0;
}

void top_spark_range(const struct top_rows *rows, double *ret_from, double *ret_to)
{
	double to = 2 * SPARK_FROM;

	for (size_t i = 0; i < rows->n; i++) {
		const struct mtl_curve *curve = rows->rows[i].curve;

		if (curve && curve->n_points)
			to = fmax(to, curve->points[curve->n_points - 1].size_bytes);
	}
	*ret_from = SPARK_FROM;
	*ret_to = rows->llc_bytes > SPARK_FROM ? 2 * rows->llc_bytes : to;
}

void top_spark(const struct mtl_curve *curve, double from, double to, size_t n, double *ret_heights)
{
	double top = 0;

	for (size_t i = 0; i < n; i++) {
		double share = n > 1 ? (double)i / (double)(n - 1) : 0;

		ret_heights[i] = top_misses(curve, from * pow(to / from, share) * (1 - 1e-12));
		if (i == 0)
			ret_heights[i] = top_misses(curve, from);
		if (ret_heights[i] > top)
			top = ret_heights[i];
	}
	for (size_t i = 0; i < n; i++)
		ret_heights[i] = top > 0 ? ret_heights[i] / top : ret_heights[i];
}

/* SPDX-License-Identifier: MIT */
/*
 * Curve objects as plot_file.h wants them. A curve is straight from point to point, as it is in the
 * terminal and for `mtl share`. What is marked comes with the curve, not from this machine, since
 * it may be of another: the size its relative ratios refer to, and the last-level cache.
 */

#include "curve_picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "curve_report.h"
#include "mtl.h"
#include "options.h"
#include "plot_file.h"
#include "size.h"
#include "terminal.h"

#define TITLE 160
#define NAME 64

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

enum column { SIZES, VALUES, LOWS, HIGHS, COLUMNS };

struct drawn {
	char name[NAME];
	double *numbers; /* COLUMNS of n */
};

struct drawing {
	struct plot_series *series;
	struct drawn *drawn;
	size_t n;
	struct plot_mark marks[2];
	char title[TITLE];
};

static void drawing_done(struct drawing *drawing)
{
	for (size_t i = 0; drawing->drawn && i < drawing->n; i++)
		free(drawing->drawn[i].numbers);
	free(drawing->drawn);
	free(drawing->series);
}

static void name_it(const struct mtl_curve_origin *origin, char *ret_name)
{
	char comm[sizeof(origin->comm)];

	snprintf(ret_name, NAME, "%s (%d)", printable(origin->comm, comm, sizeof(comm)),
	        (int)origin->pid);
}

static int fill(const struct mtl_curve *curve, struct drawn *drawn, struct plot_series *ret_series)
{
	size_t n = curve->n_points, faint = 0;
	double *numbers = drawn->numbers = calloc(n, COLUMNS * sizeof(double));

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct mtl_curve_point *point = &curve->points[i];

		numbers[SIZES * n + i] = point->size_bytes;
		numbers[VALUES * n + i] = point->misses_per_second;
		numbers[LOWS * n + i] = point->low;
		numbers[HIGHS * n + i] = point->high;
		faint += point->below_resolution;
	}
	*ret_series = (struct plot_series){
	        .name = drawn->name,
	        .sizes = numbers + SIZES * n,
	        .values = numbers + VALUES * n,
	        .n = n,
	        .straight = true,
	        .low = numbers + LOWS * n,
	        .high = numbers + HIGHS * n,
	        .n_faint = faint,
	};
	return 0;
}

static void mark(struct drawing *drawing, const struct mtl_curve *curve)
{
	char size[NUMBER_TEXT];

	drawing->marks[0].size = curve->reference_bytes;
	snprintf(drawing->marks[0].name, sizeof(drawing->marks[0].name), "%.10s",
	        size_format(curve->reference_bytes, size));
	drawing->marks[1].size = curve->cache_bytes;
	snprintf(drawing->marks[1].name, sizeof(drawing->marks[1].name), "LLC %.10s",
	        size_format(curve->cache_bytes, size));
}

static int take(struct drawing *drawing, struct json_object *object, size_t i)
{
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	struct mtl_curve_origin origin;
	char error[TITLE];
	int r = mtl_curve_from_json(object, &curve, &origin, error, sizeof(error));

	if (r < 0)
		return r;
	if (curve->n_points == 0)
		return -ENODATA;
	curve_sort(curve);
	name_it(&origin, drawing->drawn[i].name);
	if (i == 0)
		mark(drawing, curve);
	if (i == 0 && drawing->n == 1)
		snprintf(drawing->title, TITLE, "%s: %llu observations in %.3g s of CPU time",
		        drawing->drawn[i].name, (unsigned long long)curve->observations,
		        origin.cpu_seconds);
	return fill(curve, &drawing->drawn[i], &drawing->series[i]);
}

int curve_picture(const char *path, struct json_object *const *curves, size_t n)
{
	struct drawing drawing = {
	        .series = calloc(n, sizeof(*drawing.series)),
	        .drawn = calloc(n, sizeof(*drawing.drawn)),
	        .n = n,
	        .title = "misses per second of each one's CPU time",
	};
	struct plot_request request = {
	        .title = drawing.title,
	        .size_title = "cache size",
	        .value_title = "misses per second of CPU time",
	        .bytes = true,
	        .series = drawing.series,
	        .n_series = n,
	        .marks = drawing.marks,
	        .n_marks = 2,
	};
	char error[512] = "";
	int r = drawing.series && drawing.drawn ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = take(&drawing, curves[i], i);
	r = r ?: plot_file_write(path, &request, error, sizeof(error));
	drawing_done(&drawing);
	return r < 0 ? complain(MTL_FAILED, "%s", *error ? error : strerror(-r)) : MTL_DONE;
}

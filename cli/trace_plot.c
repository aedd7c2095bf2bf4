/* SPDX-License-Identifier: MIT */
/*
 * Curves of a trace into one picture: what trace_curve.h has, as plot_file.h wants it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "plot_file.h"
#include "trace_curve.h"

static void series_done(struct plot_series *series, size_t n)
{
	for (size_t i = 0; series && i < n; i++)
		free((double *)series[i].sizes);
	free(series);
}

/* Sizes and ratios in one allocation. */
static int fill(const struct trace_curve *curve, struct plot_series *ret_series)
{
	double *numbers = calloc(curve->n_points, 2 * sizeof(double));

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < curve->n_points; i++) {
		numbers[i] = curve->points[i].size_bytes;
		numbers[curve->n_points + i] = curve->points[i].miss_ratio;
	}
	*ret_series = (struct plot_series){
	        .name = curve->method,
	        .sizes = numbers,
	        .values = numbers + curve->n_points,
	        .n = curve->n_points,
	};
	return 0;
}

int trace_curves_plot(const char *path, const struct trace_curve *const *curves, size_t n)
{
	const struct trace_facts *facts = curves[0]->facts;
	struct plot_series *series = calloc(n, sizeof(*series));
	const char *base = strrchr(facts->name, '/');
	char error[512] = "out of memory", title[512];
	struct plot_request request = {
	        .title = title,
	        .size_title = facts->bytes ? "cache size" : "cache size (data)",
	        .value_title = "miss ratio",
	        .bytes = facts->bytes,
	        .series = series,
	        .n_series = n,
	};
	int r = series ? 0 : -ENOMEM;

	snprintf(title, sizeof(title), "%s: %llu accesses, %.0f %s",
	        base && base[1] ? base + 1 : facts->name, (unsigned long long)facts->accesses,
	        facts->distinct, facts->bytes ? "lines" : "data");
	for (size_t i = 0; r == 0 && i < n; i++)
		r = fill(curves[i], &series[i]);
	r = r ?: plot_file_write(path, &request, error, sizeof(error));
	series_done(series, n);
	return r < 0 ? complain(MTL_FAILED, "%s", error) : MTL_DONE;
}

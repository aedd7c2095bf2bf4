/* SPDX-License-Identifier: MIT */
/*
 * Curves of a trace into one picture: what trace_curve.h has, as plot_file.h wants it. The curve is
 * drawn in fine steps, the sizes that were asked for are marked on it, caches are points beside it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "plot_file.h"
#include "size.h"
#include "trace_curve.h"

static void series_done(struct plot_series *series, size_t n)
{
	for (size_t i = 0; series && i < n; i++)
		free((double *)series[i].marked_sizes);
	free(series);
}

/* The points' sizes and ratios in one allocation; the curve in between is the curve's own. */
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
	        .sizes = curve->fine,
	        .values = curve->fine_ratios,
	        .n = curve->n_fine,
	        .marked_sizes = numbers,
	        .marked_values = numbers + curve->n_points,
	        .n_marked = curve->n_points,
	};
	return 0;
}

/* Where it belongs among sizes: data are counted whatever their size. */
static struct plot_label label_of(
        const struct trace_facts *facts, const struct trace_cache_result *result)
{
	const struct trace_cache *cache = &result->cache;
	double lines = (double)cache->sets * (double)cache->ways;
	struct plot_label label = {
	        .size = facts->addresses ? cache->size_bytes : lines * facts->line_bytes,
	        .value = result->simulated,
	};
	char size[NUMBER_TEXT];

	snprintf(label.name, sizeof(label.name), "%s:%llu:%u",
	        cache->line_bytes > 1 ? size_format(cache->size_bytes, size)
	                              : trace_size_text(facts, cache->size_bytes, size),
	        (unsigned long long)cache->ways, cache->line_bytes);
	for (char *blank; (blank = strchr(label.name, ' '));)
		memmove(blank, blank + 1, strlen(blank));
	return label;
}

static void title_of(const struct trace_facts *facts, char *ret_text, size_t size)
{
	const char *base = strrchr(facts->name, '/');
	char line[64] = "";

	if (facts->bytes)
		snprintf(line, sizeof(line), "%s %u bytes",
		        facts->addresses ? " of" : ", each counted as", facts->line_bytes);
	snprintf(ret_text, size, "%s: %llu %s, %.0f %s%s", base && base[1] ? base + 1 : facts->name,
	        (unsigned long long)facts->accesses,
	        facts->format == TRACE_PERF_SCRIPT ? "samples, not all accesses" : "accesses",
	        facts->distinct, facts->addresses ? "lines" : "data", line);
}

int trace_curves_plot(const char *path, const struct trace_curve *const *curves, size_t n)
{
	const struct trace_facts *facts = curves[0]->facts;
	struct plot_series *series = calloc(n, sizeof(*series));
	_cleanup_free_ struct plot_label *labels = calloc(curves[0]->n_caches + 1, sizeof(*labels));
	char error[512] = "out of memory", title[512];
	struct plot_request request = {
	        .title = title,
	        .size_title = facts->bytes ? "cache size" : "cache size (data)",
	        .value_title = "miss ratio",
	        .bytes = facts->bytes,
	        .series = series,
	        .n_series = n,
	        .labels = labels,
	        .n_labels = curves[0]->n_caches,
	        .labels_title = "set-associative",
	};
	int r = series && labels ? 0 : -ENOMEM;

	title_of(facts, title, sizeof(title));
	for (size_t i = 0; r == 0 && i < n; i++)
		r = fill(curves[i], &series[i]);
	for (size_t i = 0; r == 0 && i < request.n_labels; i++)
		labels[i] = label_of(facts, &curves[0]->caches[i]);
	r = r ?: plot_file_write(path, &request, error, sizeof(error));
	series_done(series, n);
	return r < 0 ? complain(MTL_FAILED, "%s", error) : MTL_DONE;
}

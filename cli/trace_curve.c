/* SPDX-License-Identifier: MIT */
/*
 * The miss-ratio curve of a trace: computed from the engine that has seen it, and written as JSON
 * and CSV. trace_report.c has the words.
 */

#include "trace_curve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "json_fields.h"

void trace_curve_done(struct trace_curve *curve)
{
	free(curve->points);
	free(curve->fine);
	free(curve->fine_ratios);
	free(curve->caches);
	*curve = (struct trace_curve){0};
}

int trace_curve_new(const struct trace_facts *facts, const struct trace_method *method,
        struct trace_engine *engine, const struct number_list *sizes, struct trace_curve *ret_curve)
{
	_cleanup_free_ double *lines = trace_sizes_in_lines(facts, sizes);
	_cleanup_free_ double *ratios = calloc(sizes->n, sizeof(double));
	_cleanup_free_ double *times = calloc(sizes->n, sizeof(double));
	_cleanup_(trace_curve_done) struct trace_curve curve = {
	        .facts = facts, .by = *method, .engine = engine, .n_points = sizes->n};
	int r;

	if (!lines || !ratios || !times)
		return -ENOMEM;
	r = trace_method_miss_ratios(method, engine, lines, sizes->n, ratios);
	r = r ?: trace_method_fill_times(method, engine, lines, sizes->n, times);
	if (r < 0)
		return r;
	curve.points = calloc(sizes->n, sizeof(*curve.points));
	if (!curve.points)
		return -ENOMEM;
	for (size_t i = 0; i < sizes->n; i++)
		curve.points[i] = (struct trace_point){sizes->values[i], times[i], ratios[i]};
	curve.resolution_bytes = facts->line_bytes * trace_method_resolution(method, engine);
	memcpy(curve.method, method->name, sizeof(curve.method));
	r = trace_curve_refine(&curve);
	if (r < 0)
		return r;
	*ret_curve = curve;
	curve = (struct trace_curve){0};
	return 0;
}

int trace_curve_at(
        const struct trace_curve *curve, const double *sizes, size_t n, double *ret_ratios)
{
	const struct number_list list = {(double *)sizes, n};
	_cleanup_free_ double *lines = trace_sizes_in_lines(curve->facts, &list);

	return lines ? trace_method_miss_ratios(&curve->by, curve->engine, lines, n, ret_ratios)
	             : -ENOMEM;
}

/* Null is a NULL in json-c, which mtl_json_put() takes for lack of memory. */
int trace_put_number(struct json_object *object, const char *name, double value)
{
	if (!isfinite(value))
		return json_object_object_add(object, name, NULL) < 0 ? -ENOMEM : 0;
	return mtl_json_put(object, name, mtl_json_number_new(value));
}

int trace_put_count(struct json_object *object, const char *name, double value)
{
	return mtl_json_put(object, name, json_object_new_int64((int64_t)round(value)));
}

int trace_facts_to_json(const struct trace_facts *facts, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	int r = object ? 0 : -ENOMEM;

	r = r ?: trace_put_count(object, "accesses", (double)facts->accesses);
	r = r ?: trace_put_count(object, "distinct", facts->distinct);
	r = r ?: trace_put_count(object, "cold", facts->distinct);
	r = r ?: trace_put_count(object, "line_bytes", facts->line_bytes);
	if (r < 0)
		return r;
	*ret_object = TAKE_PTR(object);
	return 0;
}

static int add_point(struct json_object *array, const struct trace_point *point)
{
	struct json_object *object = json_object_new_object();
	int r = mtl_json_append(array, object);

	r = r ?: trace_put_number(object, "size_bytes", point->size_bytes);
	r = r ?: trace_put_number(object, "fill_time_accesses", point->fill_time);
	return r ?: trace_put_number(object, "miss_ratio", point->miss_ratio);
}

static int put_points(struct json_object *object, const struct trace_curve *curve)
{
	struct json_object *array = json_object_new_array();
	int r = mtl_json_put(object, "points", array);

	for (size_t i = 0; r == 0 && i < curve->n_points; i++)
		r = add_point(array, &curve->points[i]);
	return r;
}

/* The members of a cache in JSON, its columns in CSV. */
static const char *const cache_names[] = {"size_bytes", "ways", "line_bytes", "sets", "accesses",
        "misses", "miss_ratio", "predicted_miss_ratio", "predicted_miss_ratio_measured_sets",
        "predicted_miss_ratio_patent", "predicted_miss_ratio_distances", "set_probability"};

#define N_CACHE_NAMES (sizeof(cache_names) / sizeof(cache_names[0]))

static void cache_numbers(const struct trace_cache_result *result, double *ret_numbers)
{
	const struct trace_cache *cache = &result->cache;
	const double numbers[N_CACHE_NAMES] = {cache->size_bytes, (double)cache->ways,
	        cache->line_bytes, (double)cache->sets, (double)result->accesses,
	        (double)result->misses, result->simulated, result->uniform, result->measured,
	        result->patent, result->distances, result->set_probability};

	memcpy(ret_numbers, numbers, sizeof(numbers));
}

static int add_cache(struct json_object *array, const struct trace_cache_result *result)
{
	struct json_object *object = json_object_new_object();
	double numbers[N_CACHE_NAMES];
	int r = mtl_json_append(array, object);

	cache_numbers(result, numbers);
	for (size_t i = 0; r == 0 && i < N_CACHE_NAMES; i++)
		r = trace_put_number(object, cache_names[i], numbers[i]);
	return r;
}

static int put_caches(struct json_object *object, const struct trace_curve *curve)
{
	struct json_object *array = json_object_new_array();
	int r = mtl_json_put(object, "caches", array);

	for (size_t i = 0; r == 0 && i < curve->n_caches; i++)
		r = add_cache(array, &curve->caches[i]);
	return r;
}

int trace_curve_to_json(const struct trace_curve *curve, struct json_object **ret_object)
{
	const struct trace_facts *facts = curve->facts;
	_cleanup_json_ struct json_object *object = NULL;
	int r = trace_facts_to_json(facts, &object);

	r = r ?: mtl_json_put(object, "method", json_object_new_string(curve->method));
	r = r ?: put_points(object, curve);
	r = r
	            ?: mtl_json_put(object, "format",
	                       json_object_new_string(trace_format_name(facts->format)));
	r = r ?: trace_put_count(object, "skipped", (double)facts->skipped);
	if (r == 0 && curve->resolution_bytes > 0)
		r = trace_put_number(object, "resolution_bytes", curve->resolution_bytes);
	if (r == 0 && curve->n_caches)
		r = put_caches(object, curve);
	if (r < 0)
		return r;
	*ret_object = TAKE_PTR(object);
	return 0;
}

static void caches_csv(FILE *file, const struct trace_curve *curve)
{
	for (size_t i = 0; i < N_CACHE_NAMES; i++)
		fprintf(file, "%s%s", i ? "," : "", cache_names[i]);
	fputc('\n', file);
	for (size_t i = 0; i < curve->n_caches; i++) {
		double numbers[N_CACHE_NAMES];

		cache_numbers(&curve->caches[i], numbers);
		for (size_t j = 0; j < N_CACHE_NAMES; j++) {
			fputs(j ? "," : "", file);
			if (isfinite(numbers[j]))
				fprintf(file, "%.12g", numbers[j]);
		}
		fputc('\n', file);
	}
}

static void points_csv(FILE *file, const struct trace_curve *curve)
{
	fputs("size_bytes,fill_time_accesses,miss_ratio\n", file);
	for (size_t i = 0; i < curve->n_points; i++) {
		const struct trace_point *point = &curve->points[i];

		fprintf(file, "%.17g,", point->size_bytes);
		if (isfinite(point->fill_time))
			fprintf(file, "%.12g", point->fill_time);
		fprintf(file, ",%.12g\n", point->miss_ratio);
	}
}

void trace_curve_csv(FILE *file, const struct trace_curve *curve)
{
	if (curve->n_caches)
		caches_csv(file, curve);
	else
		points_csv(file, curve);
}

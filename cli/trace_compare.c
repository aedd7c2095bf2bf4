/* SPDX-License-Identifier: MIT */
/*
 * `mtl trace --compare`: all methods, one pass each, against the exact one.
 *
 * The errors are those of the miss ratios at the sizes of the exact curve (or of --sizes): their
 * mean and greatest absolute difference. Times are of the whole pass, reading and decompressing the
 * file included, as nobody has one without the other; memory is what the method's own engine
 * allocated at most.
 */

#include "trace_compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "curve_report.h"
#include "json_fields.h"
#include "plot_file.h"
#include "size.h"
#include "table.h"
#include "trace_curve.h"
#include "trace_session.h"

#define CELL 48

static const char *const methods[] = {
        "exact", "footprint", "aet", "statstack", "shards:0.01", "shards:0.1", "shards-size:8192"};

#define N_METHODS (sizeof(methods) / sizeof(methods[0]))

struct result {
	struct trace_curve curve;
	double mean_error, max_error, max_at; /* max_at: that size */
	double cpu_seconds, wall_seconds;
	double memory_bytes;
};

struct comparison {
	const struct options *options;
	const char *path;
	struct trace_facts facts;
	struct number_list sizes;
	struct result results[N_METHODS];
};

static void comparison_done(struct comparison *comparison)
{
	for (size_t i = 0; i < N_METHODS; i++)
		trace_curve_done(&comparison->results[i].curve);
	free(comparison->sizes.values);
}

static double clock_seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void measure_errors(struct result *result, const struct trace_curve *exact)
{
	double sum = 0;

	for (size_t i = 0; i < exact->n_points; i++) {
		double error =
		        fabs(result->curve.points[i].miss_ratio - exact->points[i].miss_ratio);

		sum += error;
		if (error > result->max_error || i == 0) {
			result->max_error = error;
			result->max_at = exact->points[i].size_bytes;
		}
	}
	result->mean_error = sum / (double)exact->n_points;
}

/* The first method is exact: its trace is what the others are compared on. */
static int take_curve(struct comparison *comparison, struct trace_session *session,
        const struct trace_method *method, struct result *result)
{
	struct trace_engine *engine = trace_pass_engine(session->pass, 0);
	int r = 0;

	if (!comparison->sizes.n) {
		comparison->facts = session->facts;
		r = trace_sizes(
		        &comparison->facts, &comparison->options->sizes, &comparison->sizes);
	}
	result->memory_bytes = (double)trace_engine_bytes(engine);
	return r
	               ?: trace_curve_new(&comparison->facts, method, engine, &comparison->sizes,
	                          &result->curve);
}

static int run_method(struct comparison *comparison, size_t i)
{
	_cleanup_(trace_session_done) struct trace_session session = {0};
	struct result *result = &comparison->results[i];
	double cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID), wall = clock_seconds(CLOCK_MONOTONIC);
	struct trace_method method;
	struct engine_wish wish;
	char error[256];
	int code = trace_session_open(comparison->options, comparison->path, &session), r;

	if (code != MTL_DONE)
		return code;
	r = trace_method_parse(methods[i], &method, error, sizeof(error));
	wish = trace_method_wish(&method, session.facts.line_bytes);
	code = trace_session_run(&session, &wish, 1);
	if (code != MTL_DONE)
		return code;
	r = r ?: take_curve(comparison, &session, &method, result);
	if (r < 0)
		return complain(MTL_FAILED, "method %s: %s", methods[i], strerror(-r));
	result->cpu_seconds = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	result->wall_seconds = clock_seconds(CLOCK_MONOTONIC) - wall;
	measure_errors(result, &comparison->results[0].curve);
	return MTL_DONE;
}

/* --- writing */

static int add_method(struct json_object *array, const struct result *result)
{
	struct json_object *object = json_object_new_object(), *ratios;
	int r = mtl_json_append(array, object);

	r = r ?: mtl_json_put(object, "method", json_object_new_string(result->curve.method));
	r = r ?: trace_put_number(object, "mean_absolute_error", result->mean_error);
	r = r ?: trace_put_number(object, "max_absolute_error", result->max_error);
	r = r ?: trace_put_number(object, "max_absolute_error_size_bytes", result->max_at);
	r = r ?: trace_put_number(object, "cpu_seconds", result->cpu_seconds);
	r = r ?: trace_put_number(object, "wall_seconds", result->wall_seconds);
	r = r ?: trace_put_number(object, "memory_bytes", result->memory_bytes);
	if (r < 0)
		return r;
	ratios = json_object_new_array();
	r = mtl_json_put(object, "miss_ratios", ratios);
	for (size_t i = 0; r == 0 && i < result->curve.n_points; i++)
		r = mtl_json_append(
		        ratios, mtl_json_number_new(result->curve.points[i].miss_ratio));
	return r;
}

static int put_sizes(struct json_object *object, const struct number_list *sizes)
{
	struct json_object *array = json_object_new_array();
	int r = mtl_json_put(object, "sizes", array);

	for (size_t i = 0; r == 0 && i < sizes->n; i++)
		r = mtl_json_append(array, mtl_json_number_new(sizes->values[i]));
	return r;
}

static int write_json(FILE *file, const struct comparison *comparison)
{
	_cleanup_json_ struct json_object *object = NULL;
	struct json_object *array;
	int r = trace_facts_to_json(&comparison->facts, &object);

	r = r ?: put_sizes(object, &comparison->sizes);
	if (r < 0)
		return r;
	array = json_object_new_array();
	r = mtl_json_put(object, "methods", array);
	for (size_t i = 0; r == 0 && i < N_METHODS; i++)
		r = add_method(array, &comparison->results[i]);
	if (r == 0)
		json_output(file, object);
	return r;
}

static int write_csv(FILE *file, const struct comparison *comparison)
{
	fputs("method,mean_absolute_error,max_absolute_error,max_absolute_error_size_bytes,"
	      "cpu_seconds,wall_seconds,memory_bytes\n",
	        file);
	for (size_t i = 0; i < N_METHODS; i++) {
		const struct result *result = &comparison->results[i];

		fprintf(file, "%s,%.9g,%.9g,%.17g,%.6g,%.6g,%.0f\n", result->curve.method,
		        result->mean_error, result->max_error, result->max_at, result->cpu_seconds,
		        result->wall_seconds, result->memory_bytes);
	}
	return 0;
}

static int add_row(
        struct table *table, const struct comparison *comparison, const struct result *result)
{
	char mean[CELL], max[CELL], at[NUMBER_TEXT], cpu[NUMBER_TEXT], wall[NUMBER_TEXT],
	        speed[NUMBER_TEXT], memory[NUMBER_TEXT];
	const char *cells[] = {result->curve.method, mean, max, at, cpu, wall, speed, memory};

	snprintf(mean, sizeof(mean), "%.6f", result->mean_error);
	snprintf(max, sizeof(max), "%.6f", result->max_error);
	if (result->max_error > 0)
		trace_size_text(&comparison->facts, result->max_at, at);
	else
		strcpy(at, "-");
	seconds_format(result->cpu_seconds, cpu);
	seconds_format(result->wall_seconds, wall);
	count_format((double)comparison->facts.accesses / result->wall_seconds, speed);
	size_format(result->memory_bytes, memory);
	return table_add(table, cells, false);
}

static int write_table(FILE *file, const struct comparison *comparison)
{
	static const struct table_column columns[] = {
	        {"METHOD", LEFT, 0},
	        {"MEAN ERROR", RIGHT, 0},
	        {"MAXIMUM", RIGHT, 0},
	        {"AT", RIGHT, 0},
	        {"CPU TIME", RIGHT, 0},
	        {"TIME", RIGHT, 0},
	        {"ACCESSES/s", RIGHT, 0},
	        {"MEMORY", RIGHT, 0},
	};
	_cleanup_(table_freep) struct table *table = NULL;
	struct terminal terminal = terminal_describe(file);
	int r;

	trace_header(file, &comparison->facts, NULL, &terminal);
	fputc('\n', file);
	r = table_new(columns, sizeof(columns) / sizeof(columns[0]), &terminal, &table);
	for (size_t i = 0; r == 0 && i < N_METHODS; i++)
		r = add_row(table, comparison, &comparison->results[i]);
	r = r ?: table_print(table, file);
	fprintf(file,
	        "absolute errors of the miss ratio against exact, over %zu sizes; times of a "
	        "whole pass,\nreading the file included; memory of the method alone\n",
	        comparison->sizes.n);
	return r;
}

static int write_all(const struct comparison *comparison)
{
	const struct options *options = comparison->options;
	int r = options->json  ? write_json(stdout, comparison)
	        : options->csv ? write_csv(stdout, comparison)
	                       : write_table(stdout, comparison);

	return r < 0 ? complain(MTL_FAILED, "cannot show the comparison: %s", strerror(-r))
	             : MTL_DONE;
}

static int plot_all(const struct comparison *comparison)
{
	const struct trace_curve *curves[N_METHODS];

	for (size_t i = 0; i < N_METHODS; i++)
		curves[i] = &comparison->results[i].curve;
	return trace_curves_plot(comparison->options->plot, curves, N_METHODS);
}

int trace_compare(const struct options *options, const char *path)
{
	_cleanup_(comparison_done) struct comparison comparison = {
	        .options = options, .path = path};
	int code = MTL_DONE;

	if (strcmp(path, "-") == 0)
		return complain(MTL_USAGE, "trace: --compare reads the trace once for each method, "
		                           "which standard input cannot give: name a file");
	for (size_t i = 0; code == MTL_DONE && i < N_METHODS; i++)
		code = run_method(&comparison, i);
	if (code == MTL_DONE && options->plot)
		code = plot_all(&comparison);
	if (code == MTL_DONE && (options->json || options->csv))
		trace_say_note(&comparison.facts);
	return code == MTL_DONE ? write_all(&comparison) : code;
}

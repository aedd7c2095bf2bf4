/* SPDX-License-Identifier: MIT */
/*
 * A comparison of methods as JSON, CSV or a table.
 */

#include "trace_comparison.h"

#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "curve_report.h"
#include "json_fields.h"
#include "size.h"
#include "table.h"

#define CELL 48

static int add_method(struct json_object *array, const struct compared *result)
{
	struct json_object *object = json_object_new_object(), *ratios;
	int r = mtl_json_append(array, object);

	r = r ?: mtl_json_put(object, "method", json_object_new_string(result->curve.method));
	r = r ?: trace_put_number(object, "mean_absolute_error", result->mean_error);
	r = r ?: trace_put_number(object, "max_absolute_error", result->max_error);
	r = r ?: trace_put_number(object, "max_absolute_error_size_bytes", result->max_at);
	r = r ?: trace_put_count(object, "compared_sizes", (double)result->n_sizes);
	r = r ?: trace_put_number(object, "cpu_seconds", result->cpu_seconds);
	r = r ?: trace_put_number(object, "wall_seconds", result->wall_seconds);
	r = r ?: trace_put_number(object, "memory_bytes", result->memory_bytes);
	if (r < 0)
		return r;
	ratios = json_object_new_array();
	r = mtl_json_put(object, "miss_ratios", ratios);
	for (size_t i = 0; r == 0 && i < result->curve.n_points; i++) {
		double ratio = result->curve.points[i].miss_ratio;

		r = isnan(ratio) ? json_object_array_add(ratios, NULL)
		                 : mtl_json_append(ratios, mtl_json_number_new(ratio));
	}
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

static int write_json(FILE *file, const struct trace_comparison *comparison)
{
	_cleanup_json_ struct json_object *object = NULL;
	struct json_object *array;
	int r = trace_facts_to_json(&comparison->facts, &object);

	r = r ?: put_sizes(object, &comparison->sizes);
	if (r < 0)
		return r;
	array = json_object_new_array();
	r = mtl_json_put(object, "methods", array);
	for (size_t i = 0; r == 0 && i < COMPARED; i++)
		r = add_method(array, &comparison->results[i]);
	if (r == 0)
		json_output(file, object);
	return r;
}

static int write_csv(FILE *file, const struct trace_comparison *comparison)
{
	fputs("method,mean_absolute_error,max_absolute_error,max_absolute_error_size_bytes,"
	      "compared_sizes,cpu_seconds,wall_seconds,memory_bytes\n",
	        file);
	for (size_t i = 0; i < COMPARED; i++) {
		const struct compared *result = &comparison->results[i];

		fprintf(file, "%s,", result->curve.method);
		if (isnan(result->mean_error))
			fputs(",,", file);
		else
			fprintf(file, "%.9g,%.9g,%.17g", result->mean_error, result->max_error,
			        result->max_at);
		fprintf(file, ",%zu,%.6g,%.6g,%.0f\n", result->n_sizes, result->cpu_seconds,
		        result->wall_seconds, result->memory_bytes);
	}
	return 0;
}

static void error_text(double error, char *ret_text)
{
	if (isnan(error))
		strcpy(ret_text, "-");
	else
		snprintf(ret_text, CELL, "%.6f", error);
}

static int add_row(struct table *table, const struct trace_comparison *comparison,
        const struct compared *result)
{
	char mean[CELL], max[CELL], at[NUMBER_TEXT], cpu[NUMBER_TEXT], wall[NUMBER_TEXT],
	        speed[NUMBER_TEXT], memory[NUMBER_TEXT];
	const char *cells[] = {result->curve.method, mean, max, at, cpu, wall, speed, memory};

	error_text(result->mean_error, mean);
	error_text(result->max_error, max);
	if (result->max_error >= 0.5e-6)
		trace_size_text(&comparison->facts, result->max_at, at);
	else
		strcpy(at, "-");
	seconds_format(result->cpu_seconds, cpu);
	seconds_format(result->wall_seconds, wall);
	count_format((double)comparison->facts.accesses / result->wall_seconds, speed);
	size_format(result->memory_bytes, memory);
	return table_add(table, cells, false);
}

/* Which methods are judged by fewer sizes. */
static void print_fewer(FILE *file, const struct trace_comparison *comparison)
{
	const char *between = "of these, ";

	for (size_t i = 0; i < COMPARED; i++) {
		const struct compared *result = &comparison->results[i];

		if (result->n_sizes == comparison->sizes.n)
			continue;
		fprintf(file, "%s%zu for %s", between, result->n_sizes, result->curve.method);
		between = ", ";
	}
	if (*between == ',')
		fputs("; smaller ones\nare beyond their samples\n", file);
}

static int write_table(FILE *file, const struct trace_comparison *comparison)
{
	static const struct table_column columns[] = {
	        {"METHOD", LEFT, 0},
	        {"MEAN", RIGHT, 0},
	        {"MOST", RIGHT, 0},
	        {"AT", RIGHT, 0},
	        {"CPU", RIGHT, 0},
	        {"TIME", RIGHT, 0},
	        {"RATE", RIGHT, 0},
	        {"MEMORY", RIGHT, 0},
	};
	_cleanup_(table_freep) struct table *table = NULL;
	struct terminal terminal = terminal_describe(file);
	int r;

	trace_header(file, &comparison->facts, NULL, &terminal);
	fputc('\n', file);
	r = table_new(columns, sizeof(columns) / sizeof(columns[0]), &terminal, &table);
	for (size_t i = 0; r == 0 && i < COMPARED; i++)
		r = add_row(table, comparison, &comparison->results[i]);
	r = r ?: table_print(table, file);
	fprintf(file,
	        "mean, most: absolute errors of the miss ratio against exact, over %zu sizes\n",
	        comparison->sizes.n);
	print_fewer(file, comparison);
	fputs("CPU, time, rate: of a whole pass, reading the file included\n"
	      "rate: accesses a second, k, M = 10^3, 10^6; memory: K = 1024 bytes\n",
	        file);
	return r;
}

int trace_comparison_write(const struct trace_comparison *comparison)
{
	const struct options *options = comparison->options;
	int r = options->json  ? write_json(stdout, comparison)
	        : options->csv ? write_csv(stdout, comparison)
	                       : write_table(stdout, comparison);

	if (r < 0 && ferror(stdout))
		return MTL_FAILED;
	return r < 0 ? complain(MTL_FAILED, "cannot show the comparison: %s", strerror(-r))
	             : MTL_DONE;
}

/* SPDX-License-Identifier: MIT */
/*
 * Rows of numbers about a trace as JSON, CSV or a table: what is not finite is null, nothing, and
 * "never" or "-". A histogram ends with how many values are infinite.
 */

#include "trace_numbers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "curve_report.h"
#include "json_fields.h"
#include "table.h"
#include "trace_curve.h"

#define CELL 40

static int add_row(struct json_object *array, const struct trace_numbers *numbers, size_t i)
{
	struct json_object *point = json_object_new_object();
	int r = mtl_json_append(array, point);

	for (size_t c = 0; r == 0 && c < numbers->n_columns; c++)
		r = trace_put_number(
		        point, numbers->columns[c], numbers->cells[i * numbers->n_columns + c]);
	return r;
}

static int write_json(FILE *file, const struct trace_numbers *numbers)
{
	_cleanup_json_ struct json_object *object = NULL;
	struct json_object *array;
	int r = trace_facts_to_json(numbers->facts, &object);

	if (r == 0 && numbers->method)
		r = mtl_json_put(object, "method", json_object_new_string(numbers->method));
	r = r ?: mtl_json_put(object, "emit", json_object_new_string(numbers->name));
	if (r == 0 && !isnan(numbers->infinite))
		r = trace_put_count(object, "infinite", numbers->infinite);
	if (r < 0)
		return r;
	array = json_object_new_array();
	r = mtl_json_put(object, "points", array);
	for (size_t i = 0; r == 0 && i < numbers->n_rows; i++)
		r = add_row(array, numbers, i);
	if (r == 0)
		json_output(file, object);
	return r;
}

static int write_csv(FILE *file, const struct trace_numbers *numbers)
{
	for (size_t c = 0; c < numbers->n_columns; c++)
		fprintf(file, "%s%s", c ? "," : "", numbers->columns[c]);
	fputc('\n', file);
	for (size_t i = 0; i < numbers->n_rows * numbers->n_columns; i++) {
		if (isfinite(numbers->cells[i]))
			fprintf(file, "%.12g", numbers->cells[i]);
		fputc((i + 1) % numbers->n_columns ? ',' : '\n', file);
	}
	if (!isnan(numbers->infinite))
		fprintf(file, ",,%.0f,\n", numbers->infinite);
	return 0;
}

static void number_text(double number, char *ret_text)
{
	bool whole = number == round(number) && fabs(number) < 1e15;

	if (isnan(number))
		strcpy(ret_text, "-");
	else if (isinf(number))
		strcpy(ret_text, "never");
	else if (whole)
		snprintf(ret_text, CELL, "%.0f", number);
	else
		snprintf(ret_text, CELL, "%.6g", number);
}

static void print_header(
        FILE *file, const struct trace_numbers *numbers, const struct terminal *terminal)
{
	char method[64];

	snprintf(method, sizeof(method), "method %s; ", numbers->method ?: "");
	trace_header(file, numbers->facts, numbers->method ? method : NULL, terminal);
	fputc('\n', file);
}

/* Names of columns as a table has room for them. */
static const char *head_of(const char *column)
{
	static const char *const heads[][2] = {
	        {"size_bytes", "size"},
	        {"incremental", "increment"},
	        {"denning_schwartz", "denning"},
	        {"steady_state", "steady"},
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (strcmp(heads[i][0], column) == 0)
			return heads[i][1];
	return column;
}

static int write_table(FILE *file, const struct trace_numbers *numbers)
{
	_cleanup_(table_freep) struct table *table = NULL;
	struct terminal terminal = terminal_describe(file);
	struct table_column heads[NUMBERS_COLUMNS_MAX];
	char texts[NUMBERS_COLUMNS_MAX][CELL];
	const char *cells[NUMBERS_COLUMNS_MAX];
	int r;

	print_header(file, numbers, &terminal);
	for (size_t c = 0; c < numbers->n_columns; c++) {
		heads[c] = (struct table_column){head_of(numbers->columns[c]), RIGHT, 0};
		cells[c] = texts[c];
	}
	r = table_new(heads, numbers->n_columns, &terminal, &table);
	for (size_t i = 0; r == 0 && i < numbers->n_rows; i++) {
		for (size_t c = 0; c < numbers->n_columns; c++)
			number_text(numbers->cells[i * numbers->n_columns + c], texts[c]);
		r = table_add(table, cells, false);
	}
	r = r ?: table_print(table, file);
	if (!isnan(numbers->infinite))
		fprintf(file, "never: %.0f\n", numbers->infinite);
	if (numbers->note)
		fprintf(file, "%s\n", numbers->note);
	return r;
}

int trace_numbers_write(
        FILE *file, const struct trace_numbers *numbers, const struct options *options)
{
	int r;

	if (numbers->note && (options->json || options->csv))
		complain(MTL_DONE, "note: %s", numbers->note);
	r = options->json  ? write_json(file, numbers)
	    : options->csv ? write_csv(file, numbers)
	                   : write_table(file, numbers);

	return r < 0 ? r : ferror(file) ? -EIO : 0;
}

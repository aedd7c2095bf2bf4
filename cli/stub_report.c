/* SPDX-License-Identifier: MIT */
/*
 * What became of a data file: at each point what was requested and what was measured.
 *
 * Stack and heap are totals after the point's changes; times are CPU time since the start. Where a
 * phase has no time of its own, neither side counts how long it took. Of a file that is repeated
 * the points are those of the last time, measured from its first one on.
 */

#include "stub_report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "cleanup.h"
#include "json_fields.h"
#include "size.h"
#include "table.h"
#include "terminal.h"

#define CELL 40
#define COLUMNS 8

/* What a row asks for in all, with all rows before it. */
struct request {
	double seconds;
	int64_t stack_bytes, heap_bytes;
};

static void add_row(struct request *request, const struct stub_row *row)
{
	request->seconds += row->seconds;
	request->stack_bytes += row->stack_bytes;
	request->heap_bytes += row->heap_bytes;
}

static double all_seconds(const struct stub_file *file)
{
	struct request all = {0};

	for (size_t i = 0; i < file->n; i++)
		add_row(&all, &file->rows[i]);
	return all.seconds;
}

/* Before the last time that the rows were run. */
static double seconds_before(const struct stub_result *result)
{
	return all_seconds(result->file) * (double)(result->repeat - 1);
}

/* How far the measures are from what was requested: bytes, and part of the time of all rows. */
struct deviation {
	double stack_bytes, heap_bytes, time_fraction;
};

static double largest(double one, double other)
{
	return fabs(other) > fabs(one) ? other : one;
}

static struct deviation largest_deviation(const struct stub_result *result)
{
	struct request request = {.seconds = seconds_before(result)};
	double all = all_seconds(result->file) * (double)result->repeat;
	struct deviation deviation = {0};

	for (size_t i = 0; i < result->file->n; i++) {
		const struct stub_measure *measure = &result->measures[i];

		add_row(&request, &result->file->rows[i]);
		deviation.stack_bytes = largest(deviation.stack_bytes,
		        (double)(measure->stack_bytes - request.stack_bytes));
		deviation.heap_bytes = largest(
		        deviation.heap_bytes, (double)(measure->heap_bytes - request.heap_bytes));
		deviation.time_fraction = largest(
		        deviation.time_fraction, (measure->seconds - request.seconds) / all);
	}
	if (!(all > 0))
		deviation.time_fraction = NAN;
	return deviation;
}

/* Of all rows together: what is measured at the last one. */
static double total_fraction(const struct stub_result *result)
{
	double all = all_seconds(result->file) * (double)result->repeat;

	return all > 0 ? result->measures[result->file->n - 1].seconds / all - 1 : NAN;
}

/* --- JSON */

static int add_point(struct json_object *array, const struct stub_result *result, size_t i,
        const struct request *request)
{
	const struct stub_measure *measure = &result->measures[i];
	struct json_object *point = json_object_new_object();
	const struct json_number numbers[] = {
	        {"line", result->file->json ? NAN : (double)result->file->rows[i].place},
	        {"requested_seconds", request->seconds},
	        {"measured_seconds", measure->seconds},
	        {"requested_stack_bytes", (double)request->stack_bytes},
	        {"measured_stack_bytes", (double)measure->stack_bytes},
	        {"requested_heap_bytes", (double)request->heap_bytes},
	        {"measured_heap_bytes", (double)measure->heap_bytes},
	        {"phase_seconds",
	                result->file->rows[i].pattern == STUB_REST ? NAN : measure->phase_seconds},
	};
	int r = mtl_json_append(array, point);

	return r ?: mtl_json_put_numbers(point, numbers, sizeof(numbers) / sizeof(numbers[0]));
}

static int put_points(struct json_object *object, const struct stub_result *result)
{
	struct request request = {.seconds = seconds_before(result)};
	struct json_object *array = json_object_new_array();
	int r = mtl_json_put(object, "points", array);

	for (size_t i = 0; r == 0 && i < result->file->n; i++) {
		add_row(&request, &result->file->rows[i]);
		r = add_point(array, result, i, &request);
	}
	return r;
}

static int put_deviation(struct json_object *object, const struct stub_result *result)
{
	struct deviation deviation = largest_deviation(result);
	struct json_object *member = json_object_new_object();
	const struct json_number numbers[] = {
	        {"stack_bytes", deviation.stack_bytes},
	        {"heap_bytes", deviation.heap_bytes},
	        {"time_fraction", deviation.time_fraction},
	};
	int r = mtl_json_put(object, "max_deviation", member);

	return r ?: mtl_json_put_numbers(member, numbers, sizeof(numbers) / sizeof(numbers[0]));
}

static int put_calibration(struct json_object *object, const struct stub_result *result)
{
	struct json_object *calibration = NULL;
	int r;

	if (!result->calibration)
		return json_object_object_add(object, "calibration", NULL) < 0 ? -ENOMEM : 0;
	r = stub_calibration_to_json(result->calibration, &calibration);
	return r ?: mtl_json_put(object, "calibration", calibration);
}

int stub_result_to_json(const struct stub_result *result, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	int r = object ? 0 : -ENOMEM;

	r = r ?: put_points(object, result);
	r = r ?: put_deviation(object, result);
	r = r ?: mtl_json_put_number(object, "total_time_fraction", total_fraction(result));
	r = r ?: mtl_json_put(object, "clock", json_object_new_string("cpu"));
	r = r ?: mtl_json_put_number(object, "cpu_seconds", result->times.cpu_seconds);
	r = r ?: mtl_json_put_number(object, "wall_seconds", result->times.wall_seconds);
	r = r ?: put_calibration(object, result);
	if (r == 0)
		*ret_object = TAKE_PTR(object);
	return r;
}

/* --- for people */

static char *time_cell(double seconds, char *ret_text)
{
	snprintf(ret_text, CELL, "%.1f", seconds * 1e6);
	return ret_text;
}

static char *bytes_cell(int64_t bytes, char *ret_text)
{
	snprintf(ret_text, CELL, "%" PRId64, bytes);
	return ret_text;
}

static int add_line(struct table *table, const struct stub_result *result, size_t i,
        const struct request *request)
{
	const struct stub_measure *measure = &result->measures[i];
	char texts[COLUMNS][CELL];
	const char *cells[COLUMNS] = {
	        stub_place_text(result->file, i, texts[0], CELL),
	        time_cell(request->seconds, texts[1]),
	        time_cell(measure->seconds, texts[2]),
	        bytes_cell(request->stack_bytes, texts[3]),
	        bytes_cell(measure->stack_bytes, texts[4]),
	        bytes_cell(request->heap_bytes, texts[5]),
	        bytes_cell(measure->heap_bytes, texts[6]),
	        time_cell(measure->phase_seconds, texts[7]),
	};

	return table_add(table, cells, false);
}

static int show_points(FILE *file, const struct stub_result *result)
{
	static const struct table_column columns[COLUMNS] = {
	        {"POINT", LEFT, 0},
	        {"TIME", RIGHT, 0},
	        {"MEASURED", RIGHT, 0},
	        {"STACK", RIGHT, 0},
	        {"MEASURED", RIGHT, 0},
	        {"HEAP", RIGHT, 0},
	        {"MEASURED", RIGHT, 0},
	        {"PHASE", RIGHT, 0},
	};
	struct request request = {.seconds = seconds_before(result)};
	struct terminal terminal = terminal_describe(file);
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(columns, COLUMNS, &terminal, &table);

	for (size_t i = 0; r == 0 && i < result->file->n; i++) {
		add_row(&request, &result->file->rows[i]);
		r = add_line(table, result, i, &request);
	}
	r = r ?: table_print(table, file);
	fprintf(file, "times: us of CPU time since the start; stack and heap: bytes\n");
	return r;
}

int stub_result_show(FILE *file, const struct stub_result *result, bool points)
{
	struct deviation deviation = largest_deviation(result);
	char cpu[NUMBER_TEXT], wall[NUMBER_TEXT];
	int r = points ? show_points(file, result) : 0;

	fprintf(file, "%zu point%s in %s of CPU time (%s by the clock)", result->file->n,
	        result->file->n == 1 ? "" : "s", seconds_format(result->times.cpu_seconds, cpu),
	        seconds_format(result->times.wall_seconds, wall));
	if (result->repeat > 1)
		fprintf(file, ", %" PRIu64 " times over", result->repeat);
	fprintf(file, ";\noff by at most %.0f bytes of stack, %.0f bytes of heap",
	        deviation.stack_bytes, deviation.heap_bytes);
	if (isfinite(deviation.time_fraction))
		fprintf(file, ",\n%.3f %% of the time at a point and %.3f %% in all",
		        100 * deviation.time_fraction, 100 * total_fraction(result));
	fprintf(file, "%s.\n", result->calibration ? "" : ", not calibrated");
	return r < 0 ? r : ferror(file) ? -EIO : 0;
}

int stub_calibration_show(
        FILE *file, const struct stub_calibration *calibration, const char *kept_in)
{
	const struct stub_overhead *overhead = &calibration->overhead;
	const struct stub_costs *costs = &calibration->costs;
	const struct {
		const char *name;
		double seconds;
	} times[] = {
	        {"a point", costs->base_seconds},
	        {"a stack step", costs->stack_step_seconds},
	        {"a page of new stack", costs->stack_fault_seconds},
	        {"a heap step", costs->heap_step_seconds},
	        {"moving the program break", costs->heap_break_seconds},
	        {"a page of new heap", costs->heap_fault_seconds},
	        {"a page of heap given back", costs->heap_release_seconds},
	        {"touching 1K", costs->touch_seconds * 1024},
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		fprintf(file, "%-26s %.3f us\n", times[i].name, times[i].seconds * 1e6);
	fprintf(file, "%-26s %u bytes\n%-26s %u bytes\n%-26s %u bytes, and no fewer than %u\n%-26s",
	        "a call takes", overhead->stack.call_bytes, "alloca() again takes",
	        overhead->stack.alloca_bytes, "malloc takes", overhead->heap.header_bytes,
	        overhead->heap.smallest_bytes, "and for sizes modulo 16");
	for (size_t i = 0; i < STUB_HEAP_GRAIN; i++)
		fprintf(file, " %u", overhead->heap.padding_bytes[i]);
	fprintf(file, "\nkept in %s\n", kept_in);
	return ferror(file) ? -EIO : 0;
}

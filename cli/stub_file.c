/* SPDX-License-Identifier: MIT */
/*
 * Data files of `mtl stub`, CSV and JSON, and whether their sums can be run.
 *
 *     time_us,stack_bytes,heap_bytes         {"points": [
 *     129,300,0                                  {"time_us": 129, "stack_bytes": 300},
 *     223,100,200                                {"time_us": 223, "stack_bytes": 100, ...
 *
 * The first line, and the members of a point, name columns with their units (stub_columns.c), in
 * any order; what is left out, or empty, is 0. A CSV file is one as RFC 4180 and those who do
 * without have it: carriage returns before line feeds, quotes around cells and the last line's end
 * may be there or not; so may a byte order mark. What is wrong is said with its line.
 */

#include "stub_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "json_fields.h"
#include "json_file.h"
#include "size.h"
#include "stub_columns.h"

#define COLUMNS_MAX 16
#define REASON 160
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void stub_file_done(struct stub_file *file)
{
	free(file->rows);
	*file = (struct stub_file){0};
}

char *stub_place_text(const struct stub_file *file, size_t row, char *ret_text, size_t size)
{
	snprintf(ret_text, size, file->json ? "points[%zu]" : "line %zu", file->rows[row].place);
	return ret_text;
}

struct said {
	char *error;
	size_t size;
};

static int refuse_line(struct said said, size_t line, const char *reason)
{
	snprintf(said.error, said.size, "line %zu: %s", line, reason);
	return -EBADMSG;
}

int stub_file_add(struct stub_file *file, const struct stub_row *row)
{
	struct stub_row *rows = file->rows;

	if ((file->n & (file->n - 1)) == 0) {
		rows = reallocarray(rows, file->n ? 2 * file->n : 1, sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		file->rows = rows;
	}
	rows[file->n++] = *row;
	return 0;
}

/* --- CSV */

struct columns {
	struct stub_column columns[COLUMNS_MAX];
	size_t n;
};

/* The next cell, without blanks and quotes around it: none that is right has a comma in it. */
static char *next_cell(char **rest)
{
	char *cell = strsep(rest, ",");
	size_t length;

	if (!cell)
		return NULL;
	cell += strspn(cell, " \t");
	length = strlen(cell);
	while (length && strchr(" \t", cell[length - 1]))
		cell[--length] = '\0';
	if (length < 2 || *cell != '"' || cell[length - 1] != '"')
		return cell;
	cell[length - 1] = '\0';
	return cell + 1;
}

static int add_column(struct columns *columns, const char *name, struct said said)
{
	struct stub_column column;
	char reason[REASON];

	if (stub_column_find(name, &column) < 0) {
		snprintf(reason, sizeof(reason),
		        "there is no column '%.40s'; there are " STUB_COLUMNS, name);
		return refuse_line(said, 1, reason);
	}
	for (size_t i = 0; i < columns->n; i++)
		if (stub_columns_alike(&columns->columns[i], &column)) {
			snprintf(reason, sizeof(reason), "'%.40s' is there already", name);
			return refuse_line(said, 1, reason);
		}
	columns->columns[columns->n++] = column; /* there are fewer kinds than COLUMNS_MAX */
	return 0;
}

static int read_header(char *text, struct columns *columns, struct said said)
{
	int r = 0;

	for (char *cell; r == 0 && (cell = next_cell(&text));)
		r = add_column(columns, cell, said);
	return r;
}

static int read_cells(char *text, const struct columns *columns, struct stub_row *row,
        char *ret_reason, size_t size)
{
	size_t n = 0;

	if (!text[strspn(text, " \t")]) {
		snprintf(ret_reason, size, "it is empty");
		return -EBADMSG;
	}
	for (char *cell; (cell = next_cell(&text)); n++) {
		int r = n < columns->n
		                ? stub_column_set(&columns->columns[n], cell, row, ret_reason, size)
		                : 0;

		if (r < 0)
			return r;
	}
	if (n != columns->n) {
		snprintf(ret_reason, size, "it has %zu columns, line 1 has %zu", n, columns->n);
		return -EBADMSG;
	}
	return stub_row_complete(row, ret_reason, size);
}

static int read_line(char *text, size_t line, const struct columns *columns, struct stub_file *file,
        struct said said)
{
	struct stub_row row = {.place = line};
	char reason[REASON];

	if (read_cells(text, columns, &row, reason, sizeof(reason)) < 0)
		return refuse_line(said, line, reason);
	if (file->n == STUB_ROWS_MAX)
		return refuse_line(said, line, "more than 10^6 points");
	return stub_file_add(file, &row);
}

/* Why a line is none that a CSV file of ours has, or NULL. */
static const char *bad_line(const char *text, size_t length)
{
	if (memchr(text, '\0', length))
		return "it has a NUL byte";
	if (memchr(text, '\r', length))
		return "it has a carriage return that does not end it";
	return NULL;
}

/* Without what ends it, which is changed for a NUL byte; returns where the next one begins. */
static char *end_line(char *text, char *end, size_t *ret_length)
{
	char *feed = memchr(text, '\n', (size_t)(end - text));
	char *stop = feed ?: end;

	if (stop > text && stop[-1] == '\r')
		stop--;
	*stop = '\0';
	*ret_length = (size_t)(stop - text);
	return feed ? feed + 1 : end;
}

static int read_csv(char *text, size_t length, struct stub_file *file, struct said said)
{
	struct columns columns = {0};
	size_t line = 1;
	int r = 0;

	for (char *end = text + length; r == 0 && text < end; line++) {
		char *next = end_line(text, end, &length);
		const char *bad = bad_line(text, length);

		if (bad)
			return refuse_line(said, line, bad);
		r = line == 1 ? read_header(text, &columns, said)
		              : read_line(text, line, &columns, file, said);
		text = next;
	}
	if (r == 0 && file->n == 0)
		return refuse_line(
		        said, line, line == 1 ? "the file is empty" : "there is no point");
	return r;
}

/* --- JSON */

static int refuse_member(struct said said, size_t i, const char *name, const char *reason)
{
	snprintf(said.error, said.size, "points[%zu]%s%.40s: %s", i, name ? "." : "", name ?: "",
	        reason);
	return -EBADMSG;
}

static int read_members(struct json_object *point, size_t i, struct stub_row *row, struct said said)
{
	struct columns seen = {0};
	char reason[REASON];

	json_object_object_foreach (point, name, value) {
		struct stub_column column;

		if (stub_column_find(name, &column) < 0)
			return refuse_member(
			        said, i, name, "there is no such member; there are " STUB_COLUMNS);
		for (size_t k = 0; k < seen.n; k++)
			if (stub_columns_alike(&seen.columns[k], &column))
				return refuse_member(said, i, name, "it is there already");
		seen.columns[seen.n++] = column;
		if (stub_column_set_json(&column, value, row, reason, sizeof(reason)) < 0)
			return refuse_member(said, i, name, reason);
	}
	return stub_row_complete(row, reason, sizeof(reason)) < 0
	               ? refuse_member(said, i, NULL, reason)
	               : 0;
}

static int read_point(struct json_object *point, size_t i, struct stub_file *file, struct said said)
{
	struct stub_row row = {.place = i};
	int r;

	if (!json_object_is_type(point, json_type_object))
		return refuse_member(said, i, NULL, "it is no object");
	r = read_members(point, i, &row, said);
	return r < 0 ? r : stub_file_add(file, &row);
}

static int read_json(const char *text, size_t length, struct stub_file *file, struct said said)
{
	_cleanup_json_ struct json_object *object = NULL;
	const struct json_place place = {said.error, said.size, ""};
	struct json_object *points;
	int r = json_text_read(text, length, &object, said.error, said.size);

	r = r ?: mtl_json_member(object, "points", json_type_array, &place, &points);
	if (r < 0)
		return r;
	json_object_object_foreach (object, name, value) {
		(void)value;
		if (strcmp(name, "points") != 0)
			return mtl_json_refuse(
			        &place, name, "there is no such member; there is points");
	}
	size_t n = json_object_array_length(points);
	if (n == 0 || n > STUB_ROWS_MAX)
		return mtl_json_refuse(&place, "points", n ? "more than 10^6" : "there is none");
	for (size_t i = 0; r == 0 && i < n; i++)
		r = read_point(json_object_array_get_idx(points, i), i, file, said);
	return r;
}

/* --- both */

int stub_file_parse(const char *text, size_t length, struct stub_file *ret_file, char *ret_error,
        size_t error_size)
{
	_cleanup_(stub_file_done) struct stub_file file = {0};
	struct said said = {ret_error, error_size};
	size_t mark = length >= 3 && memcmp(text, BYTE_ORDER_MARK, 3) == 0 ? 3 : 0;
	_cleanup_free_ char *copy = malloc(length - mark + 1);
	int r;

	if (copy) {
		length -= mark;
		memcpy(copy, text + mark, length);
		copy[length] = '\0';
		file.json = copy[strspn(copy, " \t\r\n")] == '{';
	}
	snprintf(ret_error, error_size, "out of memory");
	r = !copy       ? -ENOMEM
	    : file.json ? read_json(copy, length, &file, said)
	                : read_csv(copy, length, &file, said);
	if (r < 0)
		return r;
	*ret_file = file;
	file = (struct stub_file){0};
	return 0;
}

int stub_file_read(const char *path, struct stub_file *ret_file, char *ret_error, size_t error_size)
{
	_cleanup_free_ char *text = NULL;
	size_t length = 0;
	int r = text_file_read(path, &text, &length, ret_error, error_size);

	return r ?: stub_file_parse(text ?: "", length, ret_file, ret_error, error_size);
}

/* --- sums */

struct sums {
	int64_t stack, heap;
	uint64_t working_sets, most_stack, most_heap;
};

static void add_to_sums(struct sums *sums, const struct stub_row *row)
{
	sums->stack += row->stack_bytes;
	sums->heap += row->heap_bytes;
	sums->working_sets += row->working_set_bytes;
	if (sums->stack > (int64_t)sums->most_stack)
		sums->most_stack = (uint64_t)sums->stack;
	if (sums->heap > (int64_t)sums->most_heap)
		sums->most_heap = (uint64_t)sums->heap;
}

static int refuse_sum(const struct stub_file *file, size_t row, struct said said, const char *what,
        double sum, const char *reason, uint64_t limit)
{
	char place[STUB_PLACE_TEXT], text[NUMBER_TEXT], most[NUMBER_TEXT];
	int n = snprintf(said.error, said.size, "%s: %s comes to ",
	        stub_place_text(file, row, place, sizeof(place)), what);

	if (sum < 0)
		snprintf(said.error + n, said.size - (size_t)n, "%.0f bytes, below zero", sum);
	else
		snprintf(said.error + n, said.size - (size_t)n, "%s; %s %s", size_format(sum, text),
		        size_format((double)limit, most), reason);
	return -ERANGE;
}

/* Of the sums up to this row. */
static int check_sums(const struct stub_file *file, size_t row, const struct sums *sums,
        const struct stub_limits *limits, struct said said)
{
	uint64_t all = sums->most_stack + sums->most_heap + sums->working_sets;

	if (sums->stack < 0)
		return refuse_sum(file, row, said, "the stack", (double)sums->stack, "", 0);
	if (sums->heap < 0)
		return refuse_sum(file, row, said, "the heap", (double)sums->heap, "", 0);
	if (sums->most_stack > limits->stack_bytes)
		return refuse_sum(file, row, said, "the stack", (double)sums->most_stack,
		        "are the limit here: raise it by `ulimit -s unlimited`",
		        limits->stack_bytes);
	if (all > limits->memory_bytes)
		return refuse_sum(file, row, said, "memory of stack, heap and working sets",
		        (double)all, "are available", limits->memory_bytes);
	return 0;
}

int stub_file_check(const struct stub_file *file, uint64_t repeat, const struct stub_limits *limits,
        struct stub_needs *ret_needs, char *ret_error, size_t error_size)
{
	struct said said = {ret_error, error_size};
	char place[STUB_PLACE_TEXT];
	struct sums sums = {0};
	double seconds = 0;

	for (size_t i = 0; i < file->n; i++) {
		add_to_sums(&sums, &file->rows[i]);
		seconds += file->rows[i].seconds;
		int r = check_sums(file, i, &sums, limits, said);

		if (r < 0)
			return r;
	}
	if (repeat > 1 && (sums.stack || sums.heap)) {
		snprintf(ret_error, error_size,
		        "%s: stack and heap end at %lld and %lld bytes: only what ends at 0 can be "
		        "repeated",
		        stub_place_text(file, file->n - 1, place, sizeof(place)),
		        (long long)sums.stack, (long long)sums.heap);
		return -ERANGE;
	}
	*ret_needs = (struct stub_needs){
	        sums.most_stack, sums.most_heap, sums.working_sets, seconds * (double)repeat};
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * What a row of a data file can say: one table of names, units and setters for CSV and JSON.
 *
 * A number is a decimal one, in seconds or bytes after its unit; bytes are whole then. Numbers that
 * no machine has are refused here, so that sums of a file's rows are exact: 2^20 rows of less than
 * 2^43 bytes stay below 2^63.
 */

#include "stub_columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX 0x1p43
#define SECONDS_MAX 1e6
#define REPEATS_MAX 0x1p40
#define ACCESSES_MAX 0x1p53
#define WORD_BYTES 8
#define N(array) (sizeof(array) / sizeof(*(array)))

struct unit {
	const char *name;
	double factor;
};

static const struct unit times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {NULL, 0}};
static const struct unit sizes[] = {
        {"bytes", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {NULL, 0}};

enum number { SECONDS, CHANGE, BYTES, COUNT, WORD };

struct stub_kind {
	const char *name;
	const struct unit *units; /* NULL: the name is all */
	enum number number;
	size_t offset;
};

#define FIELD(name) offsetof(struct stub_row, name)

static const struct stub_kind kinds[] = {
        {"time", times, SECONDS, FIELD(seconds)},
        {"stack", sizes, CHANGE, FIELD(stack_bytes)},
        {"heap", sizes, CHANGE, FIELD(heap_bytes)},
        {"working_set", sizes, BYTES, FIELD(working_set_bytes)},
        {"stride", sizes, BYTES, FIELD(stride_bytes)},
        {"repeats", NULL, COUNT, FIELD(repeats)},
        {"pattern", NULL, WORD, FIELD(pattern)},
};

static const char *const patterns[] = {
        [STUB_SCAN] = "scan",
        [STUB_STRIDE] = "stride",
        [STUB_RANDOM] = "random",
        [STUB_CHASE] = "chase",
};

static double factor_of(const struct stub_kind *kind, const char *rest)
{
	if (!kind->units)
		return *rest ? 0 : 1;
	for (const struct unit *unit = kind->units; *rest == '_' && unit->name; unit++)
		if (strcmp(unit->name, rest + 1) == 0)
			return unit->factor;
	return 0;
}

int stub_column_find(const char *name, struct stub_column *ret_column)
{
	for (size_t i = 0; i < N(kinds); i++) {
		size_t length = strlen(kinds[i].name);
		double factor = 0;

		if (strncmp(kinds[i].name, name, length) == 0)
			factor = factor_of(&kinds[i], name + length);
		if (factor > 0) {
			*ret_column = (struct stub_column){&kinds[i], factor};
			return 0;
		}
	}
	return -ENOENT;
}

bool stub_columns_alike(const struct stub_column *one, const struct stub_column *other)
{
	return one->kind == other->kind;
}

static int refuse(char *ret_error, size_t error_size, const char *text, const char *reason)
{
	snprintf(ret_error, error_size, "'%.40s' %s", text, reason);
	return -EBADMSG;
}

/* Bytes above 0 are those of working sets and strides, others changes. */
static int set_bytes(const struct stub_kind *kind, double bytes, const char *text,
        struct stub_row *row, char *ret_error, size_t error_size)
{
	int64_t whole;

	if (!(fabs(bytes) < BYTES_MAX))
		return refuse(ret_error, error_size, text, "is out of range: 8 TiB are the limit");
	whole = (int64_t)bytes;
	if ((double)whole != bytes)
		return refuse(ret_error, error_size, text, "is no whole number of bytes");
	if (kind->number == BYTES && whole <= 0)
		return refuse(ret_error, error_size, text, "is no size: it must be above 0");
	memcpy((char *)row + kind->offset, &whole, sizeof(whole));
	return 0;
}

static int set_number(const struct stub_column *column, double number, const char *text,
        struct stub_row *row, char *ret_error, size_t error_size)
{
	double value = number * column->factor;

	if (column->kind->number == SECONDS) {
		if (!(value >= 0))
			return refuse(ret_error, error_size, text,
			        isnan(value) ? "is no time" : "is a negative time");
		if (!(value <= SECONDS_MAX))
			return refuse(ret_error, error_size, text,
			        "is out of range: 10^6 seconds are the limit");
		row->seconds = value;
		return 0;
	}
	if (column->kind->number != COUNT)
		return set_bytes(column->kind, value, text, row, ret_error, error_size);
	if (!(value >= 1 && value <= REPEATS_MAX) || value != floor(value))
		return refuse(
		        ret_error, error_size, text, "is no number of repeats: 1, 2, ... 2^40");
	row->repeats = (uint64_t)value;
	return 0;
}

static int set_pattern(const char *text, struct stub_row *row, char *ret_error, size_t error_size)
{
	for (size_t i = STUB_SCAN; i < N(patterns); i++)
		if (strcmp(patterns[i], text) == 0) {
			row->pattern = (enum stub_pattern)i;
			return 0;
		}
	return refuse(ret_error, error_size, text,
	        "is no pattern: there are scan, stride, random and chase");
}

/* What strtod() takes for more than a decimal number is not for us. */
static bool is_decimal(const char *text)
{
	return *text && strspn(text, "0123456789.+-eE") == strlen(text);
}

int stub_column_set(const struct stub_column *column, const char *cell, struct stub_row *row,
        char *ret_error, size_t error_size)
{
	double number;
	char *end;

	if (!*cell)
		return 0;
	if (column->kind->number == WORD)
		return set_pattern(cell, row, ret_error, error_size);
	number = strtod(cell, &end);
	if (!is_decimal(cell) || *end)
		return refuse(ret_error, error_size, cell, "is no number");
	return set_number(column, number, cell, row, ret_error, error_size);
}

int stub_column_set_json(const struct stub_column *column, struct json_object *value,
        struct stub_row *row, char *ret_error, size_t error_size)
{
	bool is_text = json_object_is_type(value, json_type_string);
	bool is_number = json_object_is_type(value, json_type_int) ||
	                 json_object_is_type(value, json_type_double);
	const char *text = json_object_to_json_string(value);

	if (column->kind->number == WORD && is_text)
		return set_pattern(json_object_get_string(value), row, ret_error, error_size);
	if (column->kind->number == WORD || !is_number)
		return refuse(ret_error, error_size, text,
		        column->kind->number == WORD ? "is no pattern" : "is no number");
	return set_number(column, json_object_get_double(value), text, row, ret_error, error_size);
}

static int complete_phase(struct stub_row *row, char *ret_error, size_t error_size)
{
	bool strides = row->pattern == STUB_STRIDE;
	double accesses;

	row->repeats = row->repeats ?: 1;
	if (row->working_set_bytes == 0 || row->working_set_bytes % STUB_LINE_BYTES)
		snprintf(ret_error, error_size,
		        "a phase needs a working set of a multiple of %d bytes", STUB_LINE_BYTES);
	else if (row->stride_bytes && !strides)
		snprintf(ret_error, error_size, "only the pattern stride has a stride");
	else if (strides && (row->stride_bytes == 0 || row->stride_bytes % WORD_BYTES))
		snprintf(ret_error, error_size,
		        "the pattern stride needs a stride of a multiple of %d bytes", WORD_BYTES);
	else {
		row->stride_bytes = strides ? row->stride_bytes : WORD_BYTES;
		accesses = (double)row->working_set_bytes / WORD_BYTES * (double)row->repeats;
		if (accesses < ACCESSES_MAX)
			return 0;
		snprintf(ret_error, error_size, "it has more accesses than 2^53");
	}
	return -EBADMSG;
}

int stub_row_complete(struct stub_row *row, char *ret_error, size_t error_size)
{
	if (row->pattern != STUB_REST)
		return complete_phase(row, ret_error, error_size);
	if (row->working_set_bytes || row->stride_bytes || row->repeats) {
		snprintf(ret_error, error_size,
		        "a working set, stride or repeats without a pattern");
		return -EBADMSG;
	}
	return 0;
}

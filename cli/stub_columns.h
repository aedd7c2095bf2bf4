/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_COLUMNS_H
#define MTL_CLI_STUB_COLUMNS_H

#include <stddef.h>
#include <json-c/json.h>

#include "stub_file.h"

/* A column of a CSV file, a member of a point in a JSON file. */
struct stub_column {
	const struct stub_kind *kind;
	double factor; /* to seconds or bytes */
};

/* -ENOENT: there is no such column. */
int stub_column_find(const char *name, struct stub_column *ret_column);
/* Do both set the same of a row? */
bool stub_columns_alike(const struct stub_column *one, const struct stub_column *other);

/* Sets what the column says of a row: from a cell, which may be empty, and from a member. -EBADMSG
 * with a reason in ret_error. */
int stub_column_set(const struct stub_column *column, const char *cell, struct stub_row *row,
        char *ret_error, size_t error_size);
int stub_column_set_json(const struct stub_column *column, struct json_object *value,
        struct stub_row *row, char *ret_error, size_t error_size);

/* A row that has all of its cells: completed where they leave something out. -EBADMSG. */
int stub_row_complete(struct stub_row *row, char *ret_error, size_t error_size);

/* For messages. */
#define STUB_COLUMNS "time_, stack_, heap_, working_set_ and stride_ with a unit, pattern, repeats"

#endif

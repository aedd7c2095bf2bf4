/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TOP_COLUMNS_H
#define MTL_CLI_TOP_COLUMNS_H

/* The columns of `mtl top`, and the order and choice of its rows. */

#include <stdbool.h>
#include <stddef.h>

#include "table.h"
#include "top_rows.h"

struct top_column {
	const char *name;  /* as --sort has it */
	const char *title; /* no longer than width */
	unsigned width;
	enum alignment alignment;
	unsigned least_width; /* of the screen that has room for it; 0: always there */
	bool descending;      /* the greatest first, unless reversed */
	const char *meaning;  /* for the help */
	double (*value)(const struct top_row *row);              /* NULL: by text */
	void (*text)(const struct top_row *row, char *ret_text); /* NUMBER_TEXT bytes */
};

extern const struct top_column top_columns[];
extern const size_t top_columns_n;

/* -EINVAL, with the names there are. */
int top_column_parse(const char *name, size_t *ret_column, char *ret_error, size_t error_size);

/* Whether the command's name has the text in it, or the process number begins with it. */
bool top_matches(const struct top_row *row, const char *filter);

/* Rows that match, in order; what is unknown comes last. Returns how many; room for rows->n. */
size_t top_order(const struct top_rows *rows, size_t column, bool reversed, const char *filter,
        const struct top_row **ret_order);

#endif

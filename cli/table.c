/* SPDX-License-Identifier: MIT */
/*
 * libsmartcols, narrowed to what the reports need: a list of columns, lines of texts, faint lines.
 */

#include "table.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdlib.h>

#define FAINT "\033[2m"

struct table {
	struct libscols_table *scols;
	size_t n_columns;
};

struct table *table_free(struct table *table)
{
	if (!table)
		return NULL;
	scols_unref_table(table->scols);
	free(table);
	return NULL;
}

static int add_columns(struct table *table, const struct table_column *columns, size_t n_columns)
{
	bool headings = false;

	for (size_t i = 0; i < n_columns; i++) {
		int flags = columns[i].alignment == RIGHT ? SCOLS_FL_RIGHT : 0;

		if (!scols_table_new_column(table->scols, columns[i].title ?: "", 0, flags))
			return -ENOMEM;
		headings |= columns[i].title != NULL;
	}
	table->n_columns = n_columns;
	return scols_table_enable_noheadings(table->scols, !headings);
}

int table_new(const struct table_column *columns, size_t n_columns, const struct terminal *terminal,
        struct table **ret_table)
{
	_cleanup_(table_freep) struct table *table = calloc(1, sizeof(*table));
	int r;

	if (!table || !(table->scols = scols_new_table()))
		return -ENOMEM;
	r = scols_table_set_column_separator(table->scols, "  ");
	r = r ?: scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_NEVER);
	r = r ?: scols_table_enable_colors(table->scols, terminal->colours);
	r = r ?: scols_table_enable_ascii(table->scols, !terminal->utf8);
	r = r ?: add_columns(table, columns, n_columns);
	if (r < 0)
		return r;
	*ret_table = TAKE_PTR(table);
	return 0;
}

int table_add(struct table *table, const char *const *cells, bool faint)
{
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);
	int r = line ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < table->n_columns; i++)
		r = scols_line_set_data(line, i, cells[i]);
	if (r == 0 && faint)
		r = scols_line_set_color(line, FAINT);
	return r;
}

int table_print(struct table *table, FILE *file)
{
	int r = scols_table_set_stream(table->scols, file);

	return r < 0 ? r : scols_print_table(table->scols);
}

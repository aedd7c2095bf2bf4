/* SPDX-License-Identifier: MIT */
/*
 * libsmartcols, narrowed to what the reports need: a list of columns, lines of texts, faint lines.
 */

#include "table.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#define FAINT "\033[2m"

struct table {
	struct libscols_table *scols;
	size_t n_columns;
	unsigned width; /* 0: endless */
	struct table_column columns[];
};

struct table *table_free(struct table *table)
{
	if (!table)
		return NULL;
	scols_unref_table(table->scols);
	free(table);
	return NULL;
}

static int add_column(struct table *table, const struct table_column *column)
{
	int flags = column->alignment == RIGHT ? SCOLS_FL_RIGHT
	            : column->margin           ? SCOLS_FL_WRAP
	                                       : 0;
	struct libscols_column *scols;
	int r;

	scols = scols_table_new_column(table->scols, column->title ?: "", 0, flags);
	if (!scols)
		return -ENOMEM;
	if (!column->margin)
		return 0;
	r = scols_column_set_safechars(scols, "\n");
	return r
	               ?: scols_column_set_wrapfunc(
	                          scols, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
}

static int add_columns(struct table *table)
{
	bool headings = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < table->n_columns; i++) {
		headings |= table->columns[i].title != NULL;
		r = add_column(table, &table->columns[i]);
	}
	return r ?: scols_table_enable_noheadings(table->scols, !headings);
}

int table_new(const struct table_column *columns, size_t n_columns, const struct terminal *terminal,
        struct table **ret_table)
{
	_cleanup_(table_freep) struct table *table =
	        calloc(1, sizeof(*table) + n_columns * sizeof(*columns));
	int r;

	if (!table || !(table->scols = scols_new_table()))
		return -ENOMEM;
	table->width = terminal->is_terminal ? terminal->width : 0;
	table->n_columns = n_columns;
	memcpy(table->columns, columns, n_columns * sizeof(*columns));
	r = scols_table_set_column_separator(table->scols, "  ");
	r = r ?: scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_NEVER);
	r = r ?: scols_table_enable_colors(table->scols, terminal->colours);
	r = r ?: scols_table_enable_ascii(table->scols, !terminal->utf8);
	r = r ?: add_columns(table);
	if (r < 0)
		return r;
	*ret_table = TAKE_PTR(table);
	return 0;
}

static int set_cell(struct table *table, struct libscols_line *line, size_t i, const char *text)
{
	unsigned margin = table->columns[i].margin;
	_cleanup_free_ char *wrapped = NULL;

	if (!margin || table->width <= margin)
		return scols_line_set_data(line, i, text);
	wrapped = strdup(text);
	if (!wrapped)
		return -ENOMEM;
	wrap_words(wrapped, table->width - margin);
	return scols_line_set_data(line, i, wrapped);
}

int table_add(struct table *table, const char *const *cells, bool faint)
{
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);
	int r = line ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < table->n_columns; i++)
		r = set_cell(table, line, i, cells[i]);
	if (r == 0 && faint)
		r = scols_line_set_color(line, FAINT);
	return r;
}

/* Columns are padded, the last one too where it is empty: lines end where their text ends. */
static void print_trimmed(const char *text, FILE *file)
{
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		size_t end = length = strcspn(text, "\n");

		while (end > 0 && text[end - 1] == ' ')
			end--;
		fprintf(file, "%.*s\n", (int)end, text);
	}
}

int table_print(struct table *table, FILE *file)
{
	_cleanup_free_ char *text = NULL;
	int r = scols_print_table_to_string(table->scols, &text);

	if (r < 0)
		return r;
	print_trimmed(text, file);
	return ferror(file) ? -EIO : 0;
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TABLE_H
#define MTL_CLI_TABLE_H

#include <stdbool.h>
#include <stdio.h>
#include "cleanup.h"
#include "terminal.h"

struct table;

enum alignment { LEFT, RIGHT };

struct table_column {
	const char *title;
	enum alignment alignment;
	unsigned margin; /* not 0: wrap at a terminal's width less this, which the others take */
};

/* Columns as given; all titles NULL: no heading line. -ENOMEM. */
int table_new(const struct table_column *columns, size_t n_columns, const struct terminal *terminal,
        struct table **ret_table);
struct table *table_free(struct table *table);
DEFINE_CLEANUP(struct table, table_free)

/* One line, n_columns cells; faint: less bright where there are colours. -ENOMEM. */
int table_add(struct table *table, const char *const *cells, bool faint);

/* -ENOMEM, -EIO. */
int table_print(struct table *table, FILE *file);

#endif

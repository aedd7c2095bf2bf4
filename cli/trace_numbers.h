/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_NUMBERS_H
#define MTL_CLI_TRACE_NUMBERS_H

#include <stddef.h>
#include <stdio.h>

#include "options.h"
#include "trace_session.h"

#define NUMBERS_COLUMNS_MAX 7

/* Rows of numbers about a trace; what is not finite is NAN or INFINITY. */
struct trace_numbers {
	const struct trace_facts *facts;
	const char *name;   /* what was asked for */
	const char *method; /* NULL: none took part */
	const char *const *columns;
	size_t n_rows, n_columns;
	double *cells;
	const char *note; /* a sentence about the rows; NULL: none */
	double infinite;  /* of a histogram: how many values are; NAN: none of that kind */
};

/* As the options ask for: JSON, CSV or a table. -ENOMEM, -EIO. */
int trace_numbers_write(
        FILE *file, const struct trace_numbers *numbers, const struct options *options);

#endif

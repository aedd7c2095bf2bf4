/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_EMISSIONS_H
#define MTL_CLI_TRACE_EMISSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace_emit.h"
#include "trace_methods.h"
#include "trace_numbers.h"
#include "trace_session.h"

/* What can be emitted, one row of a table each: see trace_emissions.c. */

enum emission_rows { ROWS_SIZES, ROWS_WINDOWS, ROWS_HISTOGRAM, ROWS_SEQUENCE };

struct emission_input {
	const struct trace_emission *emission;
	const struct trace_facts *facts;
	struct trace_method method;
	struct trace_engine *engine;
	struct number_list at;  /* sizes in bytes, or windows in accesses */
	double *lines;          /* of sizes */
	double *ratios, *times; /* by the method, where the emission takes one */
};

struct trace_emission {
	const char *name;
	enum emission_rows rows;
	bool by_method;
	enum engine_type engine;      /* where not by method */
	enum trace_sequence sequence; /* ROWS_SEQUENCE */
	const char *columns[NUMBERS_COLUMNS_MAX];
	/* ROWS_SIZES, ROWS_WINDOWS: the i-th row */
	void (*row)(const struct emission_input *input, size_t i, double *ret_cells);
	/* ROWS_HISTOGRAM: all rows; -ENOMEM */
	int (*all)(const struct emission_input *input, struct trace_numbers *numbers);
};

#endif

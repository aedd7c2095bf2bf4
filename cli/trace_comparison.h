/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_COMPARISON_H
#define MTL_CLI_TRACE_COMPARISON_H

#include "options.h"
#include "trace_curve.h"
#include "trace_session.h"

/* What became of each method, as trace_compare.c has measured it. */

#define COMPARED 7

struct compared {
	struct trace_curve curve;
	size_t n_sizes;                       /* that errors are over: those its sample can tell */
	double mean_error, max_error, max_at; /* max_at: that size; NAN: over none */
	double cpu_seconds, wall_seconds;
	double memory_bytes;
};

struct trace_comparison {
	const struct options *options;
	const char *path;
	struct trace_facts facts;
	struct number_list sizes;
	struct compared results[COMPARED];
};

/* On standard output, in the form the options ask for. Returns an exit code, having said what was
 * wrong. */
int trace_comparison_write(const struct trace_comparison *comparison);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_METHODS_H
#define MTL_CLI_TRACE_METHODS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace_engine.h"

struct trace_method_kind;

/* A way to a curve, as given: "exact", "shards:0.01". */
struct trace_method {
	const struct trace_method_kind *kind;
	double rate;         /* shards:R */
	uint64_t most_lines; /* shards-size:N */
	char name[32];
};

/* -EINVAL with a sentence that names the methods there are. */
int trace_method_parse(
        const char *text, struct trace_method *ret_method, char *ret_error, size_t error_size);

/* The one given, or exact where none was. */
struct trace_method trace_method_chosen(const struct trace_method *given);

/* The engine it needs. */
struct engine_wish trace_method_wish(const struct trace_method *method, uint32_t line_bytes);

/* At n ascending sizes in lines, > 0, from such an engine that has seen the whole trace. Fill times
 * are in accesses, INFINITY at and beyond the footprint. -ENOMEM, -EINVAL. */
int trace_method_miss_ratios(const struct trace_method *method, struct trace_engine *engine,
        const double *lines, size_t n, double *ret_ratios);
int trace_method_fill_times(const struct trace_method *method, struct trace_engine *engine,
        const double *lines, size_t n, double *ret_times);

/* What its fill times are: "the average eviction time". */
const char *trace_method_fill_text(const struct trace_method *method);

/* Lines between two sampled ones, on average: a smaller cache is beyond what a sample can tell. 0
 * where all are seen. */
double trace_method_resolution(
        const struct trace_method *method, const struct trace_engine *engine);

/* Fill times by Easton and Fagin from the method's miss ratios at all sizes (in fine steps). */
int trace_method_easton_fagin(const struct trace_method *method, struct trace_engine *engine,
        const double *lines, size_t n, double *ret_times);

#endif

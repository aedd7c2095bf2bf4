/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_EMIT_H
#define MTL_CLI_TRACE_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct options;
struct trace_facts;
struct line_sequence;

/* Something of a trace other than its curve. */
struct trace_emission;

/* -EINVAL with a sentence that names what there is. */
int trace_emission_parse(const char *text, const struct trace_emission **ret_emission,
        char *ret_error, size_t error_size);

/* Reads the trace and writes it to standard output. Returns an exit code, having said what was
 * wrong. */
int trace_emit(const struct options *options, const char *path);

/* The sequences: trace_sequences.c. */
enum trace_sequence { SEQUENCE_AI, SEQUENCE_RT, SEQUENCE_RD, SEQUENCE_PD_RT, SEQUENCE_PD_RD };
enum trace_form { FORM_TEXT, FORM_CSV, FORM_JSON };

/* Converts the lines, which are freed on the way, and writes the result. -ENOMEM, -EIO. */
int trace_sequence_write(FILE *file, enum trace_sequence sequence, enum trace_form form,
        const struct trace_facts *facts, struct line_sequence *lines);

#endif

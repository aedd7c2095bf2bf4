/* SPDX-License-Identifier: MIT */
/*
 * From a file name to engines that have seen the trace: memory, reader, pass, facts.
 *
 * Where the format names data instead of bytes, each datum is a line of --line-size bytes, or of
 * size 1: sizes then are numbers of data. Half the memory goes to the reader where it keeps names.
 */

#include "trace_session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option_values.h"
#include "trace_memory.h"
#include "trace_shortage.h"

#define ADDRESS_LINE_BYTES 64

static uint32_t line_bytes(const struct options *options, bool addresses)
{
	return options->line_size ?: addresses ? ADDRESS_LINE_BYTES : 1;
}

/* 0 is no limit, so that half of anything else is at least 1. */
static uint64_t half(uint64_t memory)
{
	return memory - memory / 2;
}

int trace_session_open(
        const struct options *options, const char *path, struct trace_session *ret_session)
{
	struct trace_session session = {.options = options};
	struct trace_facts *facts = &session.facts;
	uint64_t memory = isnan(options->memory) ? trace_memory_default(options->root)
	                                         : (uint64_t)options->memory;
	char error[512];
	int r = trace_open(
	        path, options->format, half(memory), &session.reader, error, sizeof(error));

	if (r < 0)
		return complain(MTL_FAILED, "%s", error);
	snprintf(facts->name, sizeof(facts->name), "%s", trace_reader_name(session.reader));
	facts->format = trace_reader_format(session.reader);
	facts->guessed = trace_reader_guessed(session.reader);
	facts->hexadecimal = trace_reader_hexadecimal(session.reader);
	facts->addresses = trace_format_has_addresses(facts->format);
	facts->line_bytes = line_bytes(options, facts->addresses);
	facts->bytes = facts->addresses || facts->line_bytes > 1;
	facts->memory_bytes = facts->format == TRACE_TOKENS ? half(memory) : memory;
	session.memory_bytes = memory;
	if (options->sizes.n &&
	        line_check(options->sizes.values[0], facts->line_bytes, error, sizeof(error)) < 0) {
		trace_session_done(&session);
		return complain(MTL_USAGE, "trace: --sizes: %s", error);
	}
	if (options->instructions && !trace_format_has_code(facts->format)) {
		trace_session_done(&session);
		return complain(MTL_USAGE,
		        "trace: --instructions: format %s does not tell accesses to code from "
		        "others; leave it out",
		        trace_format_name(facts->format));
	}
	*ret_session = session;
	return MTL_DONE;
}

void trace_session_done(struct trace_session *session)
{
	session->pass = trace_pass_free(session->pass);
	if (session->reader)
		trace_close(session->reader);
	session->reader = NULL;
}

static int no_accesses(const struct trace_session *session)
{
	const char *name = session->facts.name;

	if (trace_pass_read(session->pass))
		return complain(MTL_FAILED,
		        "%s has no accesses to data; --instructions counts those to code", name);
	if (session->facts.skipped)
		return complain(MTL_FAILED,
		        "%s has no accesses: none of its %llu records has an address; record with "
		        "`perf mem record` or `perf record --data`",
		        name, (unsigned long long)session->facts.skipped);
	return complain(MTL_FAILED, "%s is empty: it has no accesses", name);
}

static int no_memory(
        const struct trace_session *session, const struct engine_wish *wishes, size_t n)
{
	char error[256];

	trace_shortage(wishes, n, session->memory_bytes,
	        session->facts.format == TRACE_TOKENS ? 2 : 1, error, sizeof(error));
	return complain(MTL_FAILED, "%s", error);
}

int trace_session_run(struct trace_session *session, const struct engine_wish *wishes, size_t n)
{
	struct trace_facts *facts = &session->facts;
	char error[512];
	int r = trace_pass_new(wishes, n, facts->addresses, session->options->instructions,
	        facts->memory_bytes, &session->pass);

	if (r == -ENOMEM)
		return no_memory(session, wishes, n);
	if (r < 0)
		return complain(MTL_FAILED, "cannot analyse %s: %s", facts->name, strerror(-r));
	r = trace_pass_run(session->pass, session->reader, error, sizeof(error));
	if (r < 0)
		return complain(MTL_FAILED, "%s", error);
	facts->accesses = trace_engine_accesses(trace_pass_engine(session->pass, 0));
	facts->distinct = trace_engine_distinct(trace_pass_engine(session->pass, 0));
	facts->estimated = wishes[0].type == ENGINE_SHARDS;
	facts->skipped = trace_reader_skipped(session->reader);
	return facts->accesses ? MTL_DONE : no_accesses(session);
}

static int copy_sizes(const struct number_list *given, struct number_list *ret_sizes)
{
	double *values = malloc(given->n * sizeof(double));

	if (!values)
		return -ENOMEM;
	memcpy(values, given->values, given->n * sizeof(double));
	*ret_sizes = (struct number_list){values, given->n};
	return 0;
}

int trace_sizes(const struct trace_facts *facts, const struct number_list *given,
        struct number_list *ret_sizes)
{
	double most = fmax(facts->distinct, 1), lines = 0;
	struct number_list sizes = {0};

	if (given->n)
		return copy_sizes(given, ret_sizes);
	sizes.values = calloc((size_t)(2 * log2(most)) + 4, sizeof(double));
	if (!sizes.values)
		return -ENOMEM;
	for (int step = 0; lines < most; step++) {
		double next = round(exp2(step / 2.0));

		if (next > lines)
			sizes.values[sizes.n++] = next * facts->line_bytes;
		lines = next;
	}
	*ret_sizes = sizes;
	return 0;
}

double *trace_sizes_in_lines(const struct trace_facts *facts, const struct number_list *sizes)
{
	double *lines = calloc(sizes->n, sizeof(double));

	for (size_t i = 0; lines && i < sizes->n; i++)
		lines[i] = sizes->values[i] / facts->line_bytes;
	return lines;
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_SESSION_H
#define MTL_CLI_TRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "terminal.h"
#include "trace_pass.h"
#include "trace_reader.h"

/* What the numbers are about. */
struct trace_facts {
	char name[NAME_SHOWN]; /* of the file, as it may be shown */
	enum trace_format format;
	bool guessed;          /* nobody said the format */
	bool hexadecimal;      /* and most of its words have 0x */
	bool addresses;        /* of bytes; else data that stand for themselves */
	bool bytes;            /* sizes are bytes, not numbers of data */
	uint32_t line_bytes;   /* bytes of a line, or 1 where sizes are numbers of data */
	uint64_t accesses;     /* to lines */
	double distinct;       /* lines */
	bool estimated;        /* distinct is, by SHARDS */
	uint64_t skipped;      /* records without an address */
	uint64_t memory_bytes; /* what engines may use; 0: no limit */
};

/* One reading of a trace file. */
struct trace_session {
	const struct options *options;
	struct trace_reader *reader;
	struct trace_pass *pass;
	uint64_t memory_bytes; /* what it all may use; 0: no limit */
	struct trace_facts facts;
};

/* Opens the file and knows its format. These return an exit code, having said what was wrong. */
int trace_session_open(
        const struct options *options, const char *path, struct trace_session *ret_session);
/* Reads it into the engines wished for; the first one says how many accesses and data. A trace
 * without accesses is an error. */
int trace_session_run(struct trace_session *session, const struct engine_wish *wishes, size_t n);
void trace_session_done(struct trace_session *session);

/* Those of --sizes, in bytes; else steps of the square root of 2 from one line to the first that
 * holds all. -ENOMEM. */
int trace_sizes(const struct trace_facts *facts, const struct number_list *given,
        struct number_list *ret_sizes);
/* The same in lines; the caller frees. NULL: no memory. */
double *trace_sizes_in_lines(const struct trace_facts *facts, const struct number_list *sizes);

#endif

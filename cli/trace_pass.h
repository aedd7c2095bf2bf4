/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_PASS_H
#define MTL_CLI_TRACE_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup.h"
#include "trace_engine.h"
#include "trace_reader.h"

/*
 * One pass over a trace: its accesses, as lines of every size that is wanted, into engines. See
 * trace_pass.c.
 */
struct trace_pass;

/*
 * An engine for every wish; wishes alike share one. addresses: accesses are bytes that lines are
 * made of; false: each datum is a line, whatever its size. memory_bytes (0: no limit) is what the
 * engines may use together. -ENOMEM, -EINVAL (of a wish).
 */
int trace_pass_new(const struct engine_wish *wishes, size_t n, bool addresses, bool instructions,
        uint64_t memory_bytes, struct trace_pass **ret_pass);
struct trace_pass *trace_pass_free(struct trace_pass *pass);
DEFINE_CLEANUP(struct trace_pass, trace_pass_free)

/*
 * Reads to the end, with a progress bar where that takes long. Negative errno, with one sentence in
 * ret_error; -ENOMEM: more data than memory allows.
 */
int trace_pass_run(
        struct trace_pass *pass, struct trace_reader *reader, char *ret_error, size_t error_size);

/* The next n accesses. -ENOMEM, and which engine it was. */
int trace_pass_take(struct trace_pass *pass, const struct trace_access *accesses, size_t n,
        const struct trace_engine **ret_full);

/* Accesses of all kinds so far, as the reader gives them. */
uint64_t trace_pass_read(const struct trace_pass *pass);

/* That of the i-th wish. */
struct trace_engine *trace_pass_engine(struct trace_pass *pass, size_t i);

#endif

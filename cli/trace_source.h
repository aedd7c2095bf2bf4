/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_SOURCE_H
#define MTL_CLI_TRACE_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cleanup.h"

/* The content of a file or pipe, decompressed. See trace_source.c. */
struct trace_source;

/*
 * Takes over fd in any case. name: what messages call it. Negative errno, with one sentence in
 * ret_error.
 */
int trace_source_open(int fd, const char *name, struct trace_source **ret_source, char *ret_error,
        size_t error_size);
struct trace_source *trace_source_close(struct trace_source *source);
DEFINE_CLEANUP(struct trace_source, trace_source_close)

/* Fills the buffer; returns fewer bytes than asked only at the end of the content. Negative errno
 * as above: what cannot be read, does not decompress or ends too early. */
ssize_t trace_source_read(struct trace_source *source, void *ret_buffer, size_t size,
        char *ret_error, size_t error_size);

/* Part of the file that has been read, 0 ... 1; NAN for a pipe. */
double trace_source_progress(const struct trace_source *source);

/* The kind of compression that content begins with, or NULL. */
const char *trace_source_compression(const void *content, size_t size);

/* Writes the sentence and returns r. */
int trace_fail(int r, char *ret_error, size_t error_size, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

#endif

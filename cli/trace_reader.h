/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_READER_H
#define MTL_CLI_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup.h"

/*
 * A trace file as a stream of accesses, whatever its format and compression. See trace_reader.c for
 * the formats.
 */

enum trace_format {
	TRACE_GUESS,
	TRACE_LACKEY,
	TRACE_PERF_SCRIPT,
	TRACE_TOKENS,
	TRACE_U64,
	TRACE_ORACLE,
};

enum trace_kind { TRACE_LOAD, TRACE_STORE, TRACE_INSTRUCTION };

struct trace_access {
	uint64_t address; /* bytes; for tokens and objects: the number of the datum */
	uint32_t size;    /* bytes from there on, 1 ... 65536; never beyond the address space */
	uint32_t kind;    /* enum trace_kind */
};

struct trace_reader;

/* "lackey", "perf-script", … -> format; -EINVAL with a sentence that names those there are. */
int trace_format_parse(
        const char *text, enum trace_format *ret_format, char *ret_error, size_t error_size);
const char *trace_format_name(enum trace_format format);
/* Addresses of bytes (that lines are made of), or data that stand for themselves? */
int trace_format_has_addresses(enum trace_format format);
/* Does it have accesses to code, told from those to data? */
int trace_format_has_code(enum trace_format format);

/*
 * Opens a file, or standard input for "-". gzip, zstd, xz, bzip2 and lz4 are recognised by content.
 * memory_bytes: what the reader itself may allocate for names of tokens (0: no limit). Negative
 * errno, with one sentence in ret_error that names the file, the cause and what to do. -ENOMEM with
 * a limit given: the names do not fit.
 */
int trace_open(const char *path, enum trace_format format, uint64_t memory_bytes,
        struct trace_reader **ret_reader, char *ret_error, size_t error_size);
struct trace_reader *trace_close(struct trace_reader *reader);
DEFINE_CLEANUP(struct trace_reader, trace_close)

/* Up to `most` further accesses; fewer only at the end. An access that both loads and stores comes
 * as two. Negative errno as above; the sentence names the line or the byte. Nothing may be read
 * after an error. */
int trace_read(struct trace_reader *reader, struct trace_access *ret_accesses, size_t most,
        size_t *ret_n, char *ret_error, size_t error_size);

/* The format as given or guessed (tokens, if there is nothing to guess from). */
enum trace_format trace_reader_format(const struct trace_reader *reader);
/* How messages and reports call the file. */
const char *trace_reader_name(const struct trace_reader *reader);
/* Was it guessed? And as tokens of which most are addresses with 0x? */
bool trace_reader_guessed(const struct trace_reader *reader);
bool trace_reader_hexadecimal(const struct trace_reader *reader);
/* Part of the file that has been read, 0 ... 1; NAN when its length is not known. */
double trace_reader_progress(const struct trace_reader *reader);
/* Lines of perf script that were left out because they carry no data address. */
uint64_t trace_reader_skipped(const struct trace_reader *reader);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_FORMATS_H
#define MTL_CLI_TRACE_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_names.h"
#include "trace_reader.h"
#include "trace_source.h"

/*
 * Between the reader, which moves content through a buffer, and the parsers of the formats.
 *
 * next ... end is content that is not parsed yet. A parser makes accesses of as much of it as it
 * can: until the caller's array is full or what is left is less than one record (a line or word
 * without its end). The reader then moves the rest to the front and puts the next block behind it.
 * At the end of the content of a text format it adds the line end that may be missing, so that a
 * parser of text sees nothing but whole lines; what is left over of a binary one is an error.
 */

#define TRACE_BLOCK ((size_t)256 * 1024)
#define TRACE_LINE_MOST ((size_t)64 * 1024) /* of a line or word, with its end */

struct trace_reader {
	struct trace_source *source;
	struct trace_names *names;
	char *name; /* of the file, in messages */
	enum trace_format format;
	unsigned char *buffer; /* room for a partial line, then for a block and one line end */
	unsigned char *next, *end;
	bool guessed, hexadecimal; /* see trace_reader_guessed(), trace_reader_hexadecimal() */
	bool ended;                /* nothing comes behind end */
	uint64_t line;             /* number of the line next is in, from 1 */
	uint64_t offset;           /* bytes of content before next */
	uint64_t read, skipped;
	struct trace_access owed; /* of an access that came as two, the one there was no room for */
	bool owes;
	char *error; /* where a sentence goes while trace_open() or trace_read() runs */
	size_t error_size;
};

struct trace_format_description {
	const char *name;
	bool has_addresses, has_code, is_text;
	size_t record_bytes; /* of a binary record */
	/* Adds to *ret_n; negative errno with the sentence in reader->error. */
	int (*parse)(struct trace_reader *reader, struct trace_access *accesses, size_t most,
	        size_t *ret_n);
};

int trace_parse_lackey(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n);
int trace_parse_perf(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n);
int trace_parse_tokens(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n);
int trace_parse_u64(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n);
int trace_parse_oracle(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n);

/* The format of the content that a file begins with; what cannot be told is -EINVAL. */
int trace_guess(struct trace_reader *reader, enum trace_format *ret_format);

/* What guessing needs to know of a line (without its end) or of records. */
bool trace_line_is_lackey(const unsigned char *line, size_t length); /* or was one */
bool trace_line_is_valgrind(const unsigned char *line, size_t length);
bool trace_line_is_banner(const unsigned char *line, size_t length); /* "==1234== ..." */
bool trace_line_is_perf(const unsigned char *line, size_t length);
bool trace_records_are_oracle(const unsigned char *records, size_t size);

/* May the byte be part of text? */
static inline bool trace_is_text(unsigned char byte)
{
	return (byte >= ' ' && byte != 0x7f) || (byte >= '\t' && byte <= '\r');
}

/* -EBADMSG: "FILE, line N: what: 'the line'; fix". fix may be NULL. Control characters in the line
 * are named instead, whatever the matter was. */
int trace_bad_line(struct trace_reader *reader, uint64_t line, const unsigned char *text,
        size_t length, const char *what, const char *fix);
int trace_too_long(struct trace_reader *reader); /* line or word */

#endif

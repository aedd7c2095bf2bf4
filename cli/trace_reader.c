/* SPDX-License-Identifier: MIT */
/*
 * A trace file as a stream of accesses.
 *
 *     lackey       text   valgrind --tool=lackey --trace-mem=yes              (trace_text.c)
 *     perf-script  text   perf script of samples with data addresses          (trace_perf.c)
 *     tokens       text   words between blanks, equal words one datum         (trace_text.c)
 *     u64          binary 8 bytes each: an address, little-endian             (trace_binary.c)
 *     oracle       binary 24 bytes each: libCacheSim's oracleGeneral          (trace_binary.c)
 *
 * Content comes from trace_source.c decompressed, in blocks, into one buffer in which parsers work
 * (trace_formats.h): memory is bounded whatever the file, except for the names of tokens, which
 * have their own limit. A format that was not given is guessed from the first block
 * (trace_guess.c).
 *
 * Lines and bytes in messages are those of the decompressed content, counted from 1.
 */

#include "trace_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal.h"
#include "trace_formats.h"

#define SHOWN_MOST 60 /* characters of a bad line in a message */

static const struct trace_format_description formats[] = {
        [TRACE_GUESS] = {.name = "guess"},
        [TRACE_LACKEY] = {.name = "lackey",
                .has_addresses = true,
                .has_code = true,
                .is_text = true,
                .parse = trace_parse_lackey},
        [TRACE_PERF_SCRIPT] = {.name = "perf-script",
                .has_addresses = true,
                .is_text = true,
                .parse = trace_parse_perf},
        [TRACE_TOKENS] = {.name = "tokens", .is_text = true, .parse = trace_parse_tokens},
        [TRACE_U64] = {.name = "u64",
                .has_addresses = true,
                .record_bytes = 8,
                .parse = trace_parse_u64},
        [TRACE_ORACLE] = {.name = "oracle", .record_bytes = 24, .parse = trace_parse_oracle},
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

int trace_format_parse(
        const char *text, enum trace_format *ret_format, char *ret_error, size_t error_size)
{
	for (size_t i = TRACE_GUESS + 1; i < N_FORMATS; i++) {
		if (!strcmp(text, formats[i].name)) {
			*ret_format = (enum trace_format)i;
			return 0;
		}
	}
	return trace_fail(-EINVAL, ret_error, error_size,
	        "unknown trace format '%.40s'; there are lackey, perf-script, tokens, u64 and "
	        "oracle",
	        text);
}

const char *trace_format_name(enum trace_format format)
{
	return formats[format].name;
}

int trace_format_has_addresses(enum trace_format format)
{
	return formats[format].has_addresses;
}

int trace_format_has_code(enum trace_format format)
{
	return formats[format].has_code;
}

/* The beginning of a line in a form that any terminal can show. */
static const char *show_line(const unsigned char *text, size_t length, char *ret_shown)
{
	size_t n = length < SHOWN_MOST ? length : SHOWN_MOST;

	for (size_t i = 0; i < n; i++)
		ret_shown[i] = text[i] >= ' ' && text[i] < 0x7f ? (char)text[i] : '?';
	strcpy(ret_shown + n, length > n ? "..." : "");
	return ret_shown;
}

int trace_bad_line(struct trace_reader *reader, uint64_t line, const unsigned char *text,
        size_t length, const char *what, const char *fix)
{
	char shown[SHOWN_MOST + 4];

	for (size_t i = 0; i < length; i++)
		if (!trace_is_text(text[i]))
			return trace_fail(-EBADMSG, reader->error, reader->error_size,
			        "%s, line %" PRIu64 ": byte 0x%02x is binary, not %s%s%s",
			        reader->name, line, text[i], formats[reader->format].name,
			        fix ? "; " : "", fix ?: "");
	return trace_fail(-EBADMSG, reader->error, reader->error_size,
	        "%s, line %" PRIu64 ": %s: '%s'%s%s", reader->name, line, what,
	        show_line(text, length, shown), fix ? "; " : "", fix ?: "");
}

int trace_too_long(struct trace_reader *reader)
{
	return trace_fail(-EBADMSG, reader->error, reader->error_size,
	        "%s, line %" PRIu64 ": longer than %zu bytes, so this is not %s", reader->name,
	        reader->line, TRACE_LINE_MOST, formats[reader->format].name);
}

/* Text ends with a line end, also where the file does not. */
static void finish_text(struct trace_reader *reader)
{
	if (formats[reader->format].is_text && reader->end > reader->next &&
	        reader->end[-1] != '\n')
		*reader->end++ = '\n';
}

static int refill(struct trace_reader *reader)
{
	unsigned char *block = reader->buffer + TRACE_LINE_MOST;
	size_t rest = (size_t)(reader->end - reader->next);
	ssize_t n;

	if (rest > TRACE_LINE_MOST)
		return trace_too_long(reader);
	memmove(block - rest, reader->next, rest);
	n = trace_source_read(
	        reader->source, block, TRACE_BLOCK, reader->error, reader->error_size);
	if (n < 0)
		return (int)n;
	reader->next = block - rest;
	reader->end = block + n;
	reader->ended = n < (ssize_t)TRACE_BLOCK;
	if (reader->ended)
		finish_text(reader);
	return 0;
}

/* The byte order mark that some programs put before UTF-8. */
static void skip_mark(struct trace_reader *reader)
{
	if (formats[reader->format].is_text && reader->end - reader->next >= 3 &&
	        !memcmp(reader->next, "\xef\xbb\xbf", 3))
		reader->next += 3;
}

static int start(struct trace_reader *reader, uint64_t memory_bytes)
{
	int r;

	reader->buffer = malloc(TRACE_LINE_MOST + TRACE_BLOCK + 1);
	if (!reader->buffer || trace_names_new(memory_bytes, &reader->names) < 0)
		return trace_fail(-ENOMEM, reader->error, reader->error_size, "cannot read %s: %s",
		        reader->name, strerror(ENOMEM));
	reader->next = reader->end = reader->buffer + TRACE_LINE_MOST;
	reader->line = 1;
	r = refill(reader);
	if (r == 0 && reader->format == TRACE_GUESS) {
		r = trace_guess(reader, &reader->format);
		if (r == 0 && reader->ended)
			finish_text(reader);
	}
	if (r == 0)
		skip_mark(reader);
	return r;
}

static int open_path(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
	                           : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	return fd < 0 ? -errno : fd;
}

int trace_open(const char *path, enum trace_format format, uint64_t memory_bytes,
        struct trace_reader **ret_reader, char *ret_error, size_t error_size)
{
	_cleanup_(trace_closep) struct trace_reader *reader = calloc(1, sizeof(*reader));
	char name[NAME_SHOWN];
	int fd = open_path(path), r;

	show_name(strcmp(path, "-") ? path : "standard input", name, sizeof(name));
	if (fd < 0)
		return trace_fail(
		        fd, ret_error, error_size, "cannot read %s: %s", name, strerror(-fd));
	if (!reader || !(reader->name = strdup(name))) {
		close(fd);
		return trace_fail(-ENOMEM, ret_error, error_size, "cannot read %s: %s", name,
		        strerror(ENOMEM));
	}
	reader->format = format;
	reader->error = ret_error;
	reader->error_size = error_size;
	r = trace_source_open(fd, name, &reader->source, ret_error, error_size);
	if (r == 0)
		r = start(reader, memory_bytes);
	if (r < 0)
		return r;
	*ret_reader = TAKE_PTR(reader);
	return 0;
}

struct trace_reader *trace_close(struct trace_reader *reader)
{
	if (!reader)
		return NULL;
	trace_source_close(reader->source);
	trace_names_free(reader->names);
	free(reader->buffer);
	free(reader->name);
	free(reader);
	return NULL;
}

/* What is wrong with content that ended here. */
static int check_end(struct trace_reader *reader)
{
	size_t rest = (size_t)(reader->end - reader->next);

	if (rest > 0)
		return trace_fail(-EBADMSG, reader->error, reader->error_size,
		        "%s is truncated: its last record begins at byte %" PRIu64
		        " and has %zu of %zu bytes",
		        reader->name, reader->offset + 1, rest,
		        formats[reader->format].record_bytes);
	if (reader->read == 0 && reader->skipped > 0)
		return trace_fail(-EBADMSG, reader->error, reader->error_size,
		        "%s: none of its %" PRIu64 " lines has a data address; record them with "
		        "perf mem record or perf record -d and print them with perf script -F "
		        "ip,addr",
		        reader->name, reader->skipped);
	return 0;
}

int trace_read(struct trace_reader *reader, struct trace_access *ret_accesses, size_t most,
        size_t *ret_n, char *ret_error, size_t error_size)
{
	size_t n = 0;
	int r;

	reader->error = ret_error;
	reader->error_size = error_size;
	for (;;) {
		r = formats[reader->format].parse(reader, ret_accesses, most, &n);
		if (r < 0 || n == most || reader->ended)
			break;
		r = refill(reader);
		if (r < 0)
			break;
	}
	reader->read += n;
	if (r == 0 && n < most)
		r = check_end(reader);
	if (r < 0)
		return r;
	*ret_n = n;
	return 0;
}

enum trace_format trace_reader_format(const struct trace_reader *reader)
{
	return reader->format;
}

const char *trace_reader_name(const struct trace_reader *reader)
{
	return reader->name;
}

bool trace_reader_guessed(const struct trace_reader *reader)
{
	return reader->guessed;
}

bool trace_reader_hexadecimal(const struct trace_reader *reader)
{
	return reader->hexadecimal;
}

double trace_reader_progress(const struct trace_reader *reader)
{
	return trace_source_progress(reader->source);
}

uint64_t trace_reader_skipped(const struct trace_reader *reader)
{
	return reader->skipped;
}

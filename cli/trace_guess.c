/* SPDX-License-Identifier: MIT */
/*
 * The format of a trace, from the block that it begins with.
 *
 *     lackey, perf-script: more than half of the lines are such
 *     tokens:              no NUL or other control character
 *     oracle:              records that keep their promises (trace_binary.c)
 *     u64:                 the rest, unless that is all and does not divide by 8
 *
 * Programs, archives, what perf record writes and what is compressed twice are told apart and
 * refused. Lines that belong to no format (comments, call chains, valgrind's own) do not count. Of
 * nothing, tokens are as good a guess as any.
 */

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "trace_formats.h"

#define LINES_MOST 1000

static const struct {
	const char *begin; /* at most 8 bytes */
	const char *what;
} no_traces[] = {
        {"PERFILE2", "is what perf record writes; give the output of perf script -F ip,addr"},
        {"PK\3\4", "is a zip archive; give what is in it, compressed or not, by itself"},
        {"7z\274\257", "is a 7z archive; give what is in it, compressed or not, by itself"},
        {"\177ELF", "is a program, not a trace; trace it with valgrind --tool=lackey "
                    "--trace-mem=yes --log-file=FILE"},
};

#define FORMATS "lackey, perf-script, tokens, u64 or oracle"

static bool is_binary(const unsigned char *content, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!trace_is_text(content[i]))
			return true;
	return false;
}

static int guess_binary(struct trace_reader *reader, size_t size, enum trace_format *ret_format)
{
	const char *compression = trace_source_compression(reader->next, size);

	for (size_t i = 0; i < sizeof(no_traces) / sizeof(no_traces[0]); i++)
		if (size >= 8 &&
		        !memcmp(reader->next, no_traces[i].begin, strlen(no_traces[i].begin)))
			return trace_fail(-EINVAL, reader->error, reader->error_size, "%s %s",
			        reader->name, no_traces[i].what);
	if (compression)
		return trace_fail(-EINVAL, reader->error, reader->error_size,
		        "%s is compressed twice, the second time by %s; decompress it once, or say "
		        "with --format that it is not (" FORMATS ")",
		        reader->name, compression);
	if (trace_records_are_oracle(reader->next, size))
		*ret_format = TRACE_ORACLE;
	else if (reader->ended && size % 8 != 0)
		return trace_fail(-EINVAL, reader->error, reader->error_size,
		        "cannot tell the format of %s: binary, %zu bytes, which no 8-byte "
		        "addresses "
		        "are; say it with --format (" FORMATS ")",
		        reader->name, size);
	else
		*ret_format = TRACE_U64;
	return 0;
}

static enum trace_format guess_text(const unsigned char *content, size_t size)
{
	const unsigned char *end = content + size, *line_end;
	size_t lines = 0, lackey = 0, perf = 0, valgrind = 0;

	for (; content < end && lines < LINES_MOST; content = line_end + 1) {
		size_t length;

		line_end = memchr(content, '\n', (size_t)(end - content)) ?: end;
		length = (size_t)(line_end - content);
		if (length > 0 && content[length - 1] == '\r')
			length--;
		if (trace_line_is_lackey(content, length)) {
			lines++;
			lackey++;
			continue;
		}
		if (length == 0 || content[0] == '#' || content[0] == '\t')
			continue;
		if (trace_line_is_valgrind(content, length)) {
			valgrind++;
			continue;
		}
		lines++;
		perf += trace_line_is_perf(content, length);
	}
	if (lackey > lines / 2 || (lines == 0 && valgrind > 0))
		return TRACE_LACKEY;
	return perf > lines / 2 ? TRACE_PERF_SCRIPT : TRACE_TOKENS;
}

static bool is_word(unsigned char c)
{
	return c > ' ';
}

/* "0x1f" */
static bool is_address(const unsigned char *word, size_t length)
{
	size_t digits = 2;

	while (digits < length && isxdigit(word[digits]))
		digits++;
	return length > 2 && word[0] == '0' && (word[1] | 0x20) == 'x' && digits == length;
}

/* Are most words such? */
static bool are_addresses(const unsigned char *content, size_t size)
{
	const unsigned char *end = content + size, *word;
	size_t words = 0, addresses = 0;

	while (content < end) {
		for (; content < end && !is_word(*content); content++)
			;
		for (word = content; content < end && is_word(*content); content++)
			;
		words += content > word;
		addresses += is_address(word, (size_t)(content - word));
	}
	return addresses > words / 2;
}

int trace_guess(struct trace_reader *reader, enum trace_format *ret_format)
{
	size_t size = (size_t)(reader->end - reader->next);

	reader->guessed = true;
	*ret_format = guess_text(reader->next, size);
	if (*ret_format == TRACE_TOKENS && is_binary(reader->next, size))
		return guess_binary(reader, size, ret_format);
	reader->hexadecimal = *ret_format == TRACE_TOKENS && are_addresses(reader->next, size);
	return 0;
}

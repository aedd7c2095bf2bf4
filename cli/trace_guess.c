/* SPDX-License-Identifier: MIT */
/*
 * The format of a trace, from the block that it begins with.
 *
 *     perf-script: more than half of the lines are such
 *     lackey:      a line of valgrind's own, or a quarter of the lines are such or have been
 *     tokens:      no NUL or other control character
 *     oracle:      records that keep their promises (trace_binary.c)
 *     u64:         the rest, unless that is all and does not divide by 8
 *
 * What nobody would guess is refused: programs, archives, what perf record writes, what is
 * compressed twice, UTF-16, and text with some control character, which would else be taken for
 * addresses. Seven eighths of text are text; addresses of user space have two zeros of eight bytes
 * at least. Without blanks and control characters, and mostly not UTF-8, it is binary all the same.
 * Lines that belong to no format (comments, call chains) do not count. Of nothing, tokens are as
 * good a guess as any.
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

/* Bytes of the character that content begins with; 0: none of UTF-8 that a text may have. */
static size_t character(const unsigned char *content, size_t size)
{
	unsigned char lead = *content;
	size_t length = lead < 0x80   ? trace_is_text(lead)
	                : lead < 0xc2 ? 0
	                : lead < 0xe0 ? 2
	                : lead < 0xf0 ? 3
	                : lead < 0xf5 ? 4
	                              : 0;

	for (size_t i = 1; i < length; i++)
		if (i >= size || (content[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

static size_t text_bytes(const unsigned char *content, size_t size)
{
	size_t text = 0, length;

	for (size_t i = 0; i < size; i += length ?: 1) {
		length = character(content + i, size - i);
		text += length;
	}
	return text;
}

/* Units whose byte `high` is 0 and the other one ASCII. */
static size_t units_of_text(const unsigned char *content, size_t size, size_t high)
{
	size_t units = 0;

	for (size_t i = 0; i + 1 < size; i += 2)
		units += content[i + high] == 0 && content[i + !high] < 0x80 &&
		         trace_is_text(content[i + !high]);
	return units;
}

static bool most(size_t part, size_t all)
{
	return part > 0 && part >= all - all / 8;
}

/* NULL: it is not. */
static const char *utf16_name(const unsigned char *content, size_t size)
{
	bool marked = size >= 2 && content[0] + content[1] == 0xff + 0xfe;

	if (most(units_of_text(content, size, 1), size / 2 - marked))
		return marked ? "UTF-16" : "UTF-16LE";
	if (most(units_of_text(content, size, 0), size / 2 - marked))
		return marked ? "UTF-16" : "UTF-16BE";
	return NULL;
}

/* Text, but for some character that no text has. */
static int refuse_text(struct trace_reader *reader, size_t size)
{
	const unsigned char *p = reader->next;
	const char *encoding = utf16_name(p, size);
	uint64_t line = 1;

	if (encoding)
		return trace_fail(-EINVAL, reader->error, reader->error_size,
		        "%s is text in UTF-16, which is not read; give it as iconv -f %s <FILE | "
		        "mtl trace -",
		        reader->name, encoding);
	if (!most(text_bytes(p, size), size))
		return 0;
	for (; trace_is_text(*p); p++)
		line += *p == '\n';
	reader->format = TRACE_TOKENS;
	return trace_bad_line(reader, line, p, 1, "",
	        "if all of it is binary, say so with --format u64 or oracle");
}

static int guess_binary(struct trace_reader *reader, size_t size, enum trace_format *ret_format)
{
	const char *compression = trace_source_compression(reader->next, size);
	int r;

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
	r = refuse_text(reader, size);
	if (r < 0)
		return r;
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

static bool has_blank(const unsigned char *content, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (content[i] == ' ' || (content[i] >= '\t' && content[i] <= '\r'))
			return true;
	return false;
}

static bool is_text(const unsigned char *content, size_t size)
{
	return !is_binary(content, size) &&
	       (text_bytes(content, size) >= size / 2 || has_blank(content, size));
}

static enum trace_format guess_text(const unsigned char *content, size_t size)
{
	const unsigned char *end = content + size, *line_end;
	size_t lines = 0, lackey = 0, perf = 0, banners = 0;

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
		banners += trace_line_is_banner(content, length);
		if (trace_line_is_valgrind(content, length))
			continue;
		lines++;
		perf += trace_line_is_perf(content, length);
	}
	if (perf > lines / 2)
		return TRACE_PERF_SCRIPT;
	return banners > 0 || 4 * lackey > lines ? TRACE_LACKEY : TRACE_TOKENS;
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
	if (*ret_format == TRACE_TOKENS && !is_text(reader->next, size))
		return guess_binary(reader, size, ret_format);
	reader->hexadecimal = *ret_format == TRACE_TOKENS && are_addresses(reader->next, size);
	return 0;
}

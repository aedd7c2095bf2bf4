/* SPDX-License-Identifier: MIT */
/*
 * Lackey and tokens.
 *
 * valgrind --tool=lackey --trace-mem=yes writes a line for each access,
 *
 *     I  0401ab70,3           instruction
 *      L 1fff000608,8         load
 *      S 1fff000600,8         store
 *      M 04033e06,1           load, then store: two accesses
 *
 * with a hexadecimal address and a decimal size, among lines of valgrind's own that begin with ==,
 * -- or **, which are passed over like empty ones. Blanks may be others, and a line may end in a
 * carriage return: files go through editors and other systems. Any other line is an error: most
 * likely it is what the program itself wrote, and in the middle of a line that would damage a
 * record without being seen. The size has to be 1 ... 65536 and the access within the address
 * space.
 *
 * A token is what stands between blanks and line ends. Its bytes name the datum, whatever they are
 * but NUL and control characters; data are numbered from 1 in order of appearance.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "size.h"
#include "trace_formats.h"

#define SIZE_MOST 65536
#define ALTERED_MOST 40 /* of a record with its line end */
#define OWN_OUTPUT "if a program wrote it, keep its output apart with valgrind --log-file=FILE"

/* 16 + value of a hexadecimal digit, 0 for everything else. */
static const unsigned char digits[256] = {
        ['0'] = 16,
        17,
        18,
        19,
        20,
        21,
        22,
        23,
        24,
        25, //
        ['A'] = 26,
        27,
        28,
        29,
        30,
        31, //
        ['a'] = 26,
        27,
        28,
        29,
        30,
        31, //
};

/* One record with its line end; NULL when it is none. *ret_twice: it is a load and a store. */
static inline const unsigned char *parse_record(
        const unsigned char *p, struct trace_access *ret_access, bool *ret_twice)
{
	const unsigned char *start = p + 3;
	uint64_t address = 0;
	uint32_t size = 0;
	unsigned char letter = p[0] == 'I' ? p[0] : p[1];

	if (p[0] == '\n' || p[1] == '\n' || p[2] != ' ' || (p[0] != 'I' && p[0] != ' '))
		return NULL;
	if (letter == 'I' ? p[1] != ' ' : letter != 'L' && letter != 'S' && letter != 'M')
		return NULL;
	for (p = start; digits[*p]; p++)
		address = address << 4 | (digits[*p] & 15);
	if (p == start || p - start > 16 || *p != ',')
		return NULL;
	start = ++p;
	for (; *p >= '0' && *p <= '9' && size <= SIZE_MOST; p++)
		size = size * 10 + (uint32_t)(*p - '0');
	if (*p != '\n' || size - 1 >= SIZE_MOST || address + (size - 1) < address)
		return NULL;
	*ret_access = (struct trace_access){.address = address,
	        .size = size,
	        .kind = letter == 'I'   ? TRACE_INSTRUCTION
	                : letter == 'S' ? TRACE_STORE
	                                : TRACE_LOAD};
	*ret_twice = letter == 'M';
	return p + 1;
}

static inline bool is_blank(unsigned char c)
{
	return c == ' ' || c == '\t';
}

/* Behind the letter and blanks that a record begins with, however many; NULL: it does not. */
static const unsigned char *behind_letter(
        const unsigned char *p, const unsigned char *end, unsigned char *ret_letter)
{
	while (p < end && is_blank(*p))
		p++;
	if (end - p < 2 || !strchr("ILSM", *p) || !is_blank(p[1]))
		return NULL;
	*ret_letter = *p++;
	while (p < end && is_blank(*p))
		p++;
	return p;
}

static const unsigned char *trim_end(const unsigned char *p, const unsigned char *end)
{
	while (end > p && (is_blank(end[-1]) || end[-1] == '\r'))
		end--;
	return end;
}

/* A record with other blanks than lackey's, or a carriage return, as lackey would have it. */
static bool parse_altered(const unsigned char *line, const unsigned char *end,
        struct trace_access *ret_access, bool *ret_twice)
{
	unsigned char copy[ALTERED_MOST] = "   ", letter;
	const unsigned char *rest;

	end = trim_end(line, end);
	rest = behind_letter(line, end, &letter);
	if (!rest || (size_t)(end - rest) + 4 > sizeof(copy))
		return false;
	copy[letter == 'I' ? 0 : 1] = letter;
	memcpy(copy + 3, rest, (size_t)(end - rest));
	copy[3 + (end - rest)] = '\n';
	return parse_record(copy, ret_access, ret_twice) == copy + 4 + (end - rest);
}

/* Why a line is no record. */
static int refuse(struct trace_reader *reader, uint64_t line, const unsigned char *p, size_t length)
{
	const unsigned char *end = trim_end(p, p + length), *start, *at, *digit;
	unsigned char letter;

	start = at = behind_letter(p, end, &letter);
	if (!start)
		return trace_bad_line(reader, line, p, length, "no record of lackey", OWN_OUTPUT);
	while (at < end && digits[*at])
		at++;
	if (at == start || at - start > 16 || (at < end && *at != ','))
		return trace_bad_line(reader, line, p, length,
		        "the address is no hexadecimal number of up to 16 digits", NULL);
	for (digit = at + 1; digit < end && *digit >= '0' && *digit <= '9';)
		digit++;
	if (at + 1 >= end || digit < end)
		return trace_bad_line(
		        reader, line, p, length, "behind the address is no decimal size", NULL);
	return trace_bad_line(reader, line, p, length,
	        "the size is not 1 to 65536 or goes beyond the address space", NULL);
}

bool trace_line_is_valgrind(const unsigned char *line, size_t length)
{
	for (; length > 0 && is_blank(*line); length--)
		line++;
	return length >= 2 && line[0] == line[1] &&
	       (line[0] == '=' || line[0] == '-' || line[0] == '*');
}

bool trace_line_is_banner(const unsigned char *line, size_t length)
{
	size_t at = 2;

	while (at < length && line[at] >= '0' && line[at] <= '9')
		at++;
	return at > 2 && at + 2 <= length && trace_line_is_valgrind(line, length) &&
	       line[at] == line[0] && line[at + 1] == line[0];
}

bool trace_line_is_lackey(const unsigned char *line, size_t length)
{
	const unsigned char *end = line + length, *p, *start;
	unsigned char letter;

	p = behind_letter(line, end, &letter);
	if (p && end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	for (start = p; p && p < end && digits[*p];)
		p++;
	return p && p > start && end - p > 1 && *p == ',' && p[1] >= '0' && p[1] <= '9';
}

/* Behind the last line end there is. */
static const unsigned char *whole_lines(const struct trace_reader *reader)
{
	const unsigned char *last =
	        memrchr(reader->next, '\n', (size_t)(reader->end - reader->next));

	return last ? last + 1 : reader->next;
}

/* Behind a line that is not as lackey writes it: 1 if it is a record nevertheless, 0 if it may be
 * passed over. */
static int other_line(struct trace_reader *reader, uint64_t line, const unsigned char **p,
        struct trace_access *ret_access, bool *ret_twice)
{
	const unsigned char *start = *p;
	const unsigned char *end = memchr(start, '\n', (size_t)(reader->end - start));
	size_t length = (size_t)(end - start);

	*p = end + 1;
	if (parse_altered(start, end, ret_access, ret_twice))
		return 1;
	if (trim_end(start, end) == start || trace_line_is_valgrind(start, length))
		return 0;
	return refuse(reader, line, start, length);
}

int trace_parse_lackey(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n)
{
	const unsigned char *p = reader->next, *stop = whole_lines(reader), *behind;
	uint64_t line = reader->line;
	size_t n = *ret_n;
	int r;

	if (reader->owes && n < most) {
		accesses[n++] = reader->owed;
		reader->owes = false;
	}
	while (p < stop && n < most) {
		bool twice = false;

		behind = parse_record(p, &accesses[n], &twice);
		r = behind ? 1 : other_line(reader, line, &p, &accesses[n], &twice);
		if (r < 0)
			return r;
		p = behind ?: p;
		line++;
		if (r == 0)
			continue;
		n++;
		if (!twice)
			continue;
		reader->owed = accesses[n - 1];
		reader->owed.kind = TRACE_STORE;
		reader->owes = n == most;
		if (n < most)
			accesses[n++] = reader->owed;
	}
	reader->next = (unsigned char *)p;
	reader->line = line;
	*ret_n = n;
	return 0;
}

/* --- tokens */

enum { WORD, BLANK, LINE_END, BINARY };

static const unsigned char classes[256] = {BINARY, BINARY, BINARY, BINARY, BINARY, BINARY, BINARY,
        BINARY, BINARY, BLANK, LINE_END,                                                       //
        BLANK, BLANK, BLANK, BINARY, BINARY, BINARY, BINARY, BINARY, BINARY, BINARY, BINARY,   //
        BINARY, BINARY, BINARY, BINARY, BINARY, BINARY, BINARY, BINARY, BINARY, BINARY, BLANK, //
        [0x7f] = BINARY};

/* As trace_pass.c says it of data. */
static int no_room(struct trace_reader *reader)
{
	char count[NUMBER_TEXT], limit[NUMBER_TEXT];

	count_format((double)trace_names_count(reader->names), count);
	if (!trace_names_limited(reader->names))
		return trace_fail(-ENOMEM, reader->error, reader->error_size,
		        "%s, line %" PRIu64
		        ": the machine has no more memory, after the names of %s different tokens",
		        reader->name, reader->line, count);
	return trace_fail(-ENOMEM, reader->error, reader->error_size,
	        "%s, line %" PRIu64 ": the trace needs more than the %s of memory that names of "
	        "tokens may use, half of all, after %s different ones: --memory SIZE allows more",
	        reader->name, reader->line,
	        size_format((double)trace_names_limit(reader->names), limit), count);
}

static int binary_byte(struct trace_reader *reader, const unsigned char *p)
{
	return trace_bad_line(reader, reader->line, p, 1, "", NULL);
}

int trace_parse_tokens(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n)
{
	const unsigned char *p = reader->next, *end = reader->end, *word;

	while (*ret_n < most) {
		for (; p < end && (classes[*p] == BLANK || classes[*p] == LINE_END); p++)
			reader->line += classes[*p] == LINE_END;
		for (word = p; p < end && classes[*p] == WORD; p++)
			;
		if (p < end && classes[*p] == BINARY)
			return binary_byte(reader, p);
		reader->next = (unsigned char *)word;
		if ((size_t)(p - word) >= TRACE_LINE_MOST)
			return trace_too_long(reader);
		if (p == end)
			return 0;
		uint64_t number = trace_names_number(reader->names, word, (uint32_t)(p - word));
		if (number == 0)
			return no_room(reader);
		accesses[(*ret_n)++] = (struct trace_access){.address = number, .size = 1};
		reader->next = (unsigned char *)p;
	}
	return 0;
}

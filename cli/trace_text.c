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
 * -- or **, which are passed over like empty ones. Any other line is an error: it is what the
 * program itself wrote, and in the middle of a line it would damage a record without being seen.
 * The size has to be 1 ... 65536 and the access within the address space.
 *
 * A token is what stands between blanks and line ends. Its bytes name the datum, whatever they are
 * but NUL and control characters; data are numbered from 1 in order of appearance.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "trace_formats.h"

#define SIZE_MOST 65536
#define OWN_OUTPUT "keep the program's output apart with valgrind --log-file=FILE"

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

/* Why a line is no record. */
static int refuse(struct trace_reader *reader, uint64_t line, const unsigned char *p, size_t length)
{
	static const char prefixes[][4] = {"I  ", " L ", " S ", " M "};
	const unsigned char *end = p + length, *at = p + 3;
	bool record = false;

	for (size_t i = 0; i < 4; i++)
		record |= length >= 3 && !memcmp(p, prefixes[i], 3);
	if (!record)
		return trace_bad_line(reader, line, p, length, "no record of lackey", OWN_OUTPUT);
	while (at < end && digits[*at])
		at++;
	if (at == p + 3 || at - p - 3 > 16 || (at < end && *at != ','))
		return trace_bad_line(reader, line, p, length,
		        "the address is no hexadecimal number", OWN_OUTPUT);
	for (const unsigned char *digit = at + 1; digit < end; digit++)
		if (*digit < '0' || *digit > '9')
			at = end;
	if (at + 1 >= end)
		return trace_bad_line(
		        reader, line, p, length, "the size is no decimal number", OWN_OUTPUT);
	return trace_bad_line(reader, line, p, length,
	        "the size is not 1 to 65536 or goes beyond the address space", NULL);
}

bool trace_line_is_valgrind(const unsigned char *line, size_t length)
{
	return length >= 2 && line[0] == line[1] &&
	       (line[0] == '=' || line[0] == '-' || line[0] == '*');
}

bool trace_line_is_lackey(const unsigned char *line, size_t length)
{
	unsigned char copy[40];
	struct trace_access access;
	bool twice;

	if (length + 1 > sizeof(copy))
		return false;
	memcpy(copy, line, length);
	copy[length] = '\n';
	return parse_record(copy, &access, &twice) == copy + length + 1;
}

/* Behind the last line end there is. */
static const unsigned char *whole_lines(const struct trace_reader *reader)
{
	const unsigned char *last =
	        memrchr(reader->next, '\n', (size_t)(reader->end - reader->next));

	return last ? last + 1 : reader->next;
}

/* Behind a line that is no record but may be passed over. */
static int pass_over(struct trace_reader *reader, uint64_t line, const unsigned char **p)
{
	const unsigned char *end = memchr(*p, '\n', (size_t)(reader->end - *p));
	size_t length = (size_t)(end - *p);

	if (length > 0 && !trace_line_is_valgrind(*p, length))
		return refuse(reader, line, *p, length);
	*p = end + 1;
	return 0;
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
		bool twice;

		behind = parse_record(p, &accesses[n], &twice);
		if (!behind) {
			r = pass_over(reader, line++, &p);
			if (r < 0)
				return r;
			continue;
		}
		p = behind;
		line++;
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

static int no_room(struct trace_reader *reader)
{
	return trace_fail(-ENOMEM, reader->error, reader->error_size,
	        "%s, line %" PRIu64 ": the names of %" PRIu64
	        " different tokens are all that fits in %" PRIu64 " bytes of memory",
	        reader->name, reader->line, trace_names_count(reader->names),
	        trace_names_limit(reader->names));
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

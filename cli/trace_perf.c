/* SPDX-License-Identifier: MIT */
/*
 * Memory samples as perf script prints them, whichever fields it was asked for (-F). Of a sample
 *
 *     [comm] [pid/tid] [cpu] [time:] [period] [event:] ADDR [sym (dso)] [data_src] [weight] IP …
 *                  ls 24269 13085.932861:   1 page-faults:     557f7ec6e5c0 ffffffff81775b9a
 *
 * only ADDR matters. Nothing names it, but perf prints it first of all numbers, right-aligned in
 * 16 columns and exactly one blank after what is before it, where the instruction pointer, also in
 * 16 columns, gets a blank of its own. So the data address is the first cell of 16 columns, blanks
 * and then hexadecimal digits without leading zeros, that
 *
 *   - begins one blank after another field (of which pid/tid is padded to 5 digits behind the
 *     bar), or begins the line; after the first ": " of a line that has one;
 *   - is followed by a blank or the end of the line, and is not the number of a data source, which
 *     is followed by its explanation ("|OP LOAD|LVL …");
 *   - has a decimal digit, if it begins the line: "dd" is a program.
 *
 * A line that is nothing but 0x and up to 16 digits is an address too, any one: perf does not print
 * such, but others do.
 *
 * Addresses of perf below 64 KiB are taken for none: Linux maps nothing there, and a sample whose
 * address is unknown has 0. A sample without address is left out and counted; a trace without any
 * is an error. Empty lines, comments, call chains (behind a tab) and PERF_RECORD_… lines are not
 * samples. An access has size 1, and is a store or an instruction if its data source says so.
 *
 * What the rule cannot do: it finds no address where blanks were squeezed or after -F flags or
 * trace; with -F comm,addr and nothing else it takes a program called "c0ffee" for an address; and
 * if weights above 64 Ki are printed but addresses are not, it takes the weights.
 */

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "trace_formats.h"

#define CELL 16
#define LOWEST 65536

struct line {
	const unsigned char *start, *end;
};

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static const unsigned char *find(struct line line, const char *text)
{
	return memmem(line.start, (size_t)(line.end - line.start), text, strlen(text));
}

/* The word at or after p; an empty one at the end of the line. */
static struct line word_at(struct line line, const unsigned char *p)
{
	struct line word;

	while (p < line.end && *p == ' ')
		p++;
	for (word.start = p; p < line.end && *p != ' ';)
		p++;
	word.end = p;
	return word;
}

/* Hexadecimal as perf writes it; 0 digits, too many or a leading zero are none. */
static bool parse_number(struct line word, uint64_t *ret_value)
{
	size_t length = (size_t)(word.end - word.start);
	uint64_t value = 0;

	if (length == 0 || length > CELL || (length > 1 && *word.start == '0'))
		return false;
	for (const unsigned char *p = word.start; p < word.end; p++) {
		if (!is_digit(*p) && (*p < 'a' || *p > 'f'))
			return false;
		value = value << 4 | (uint64_t)(is_digit(*p) ? *p - '0' : *p - 'a' + 10);
	}
	*ret_value = value;
	return true;
}

/* Does the word end a cell that begins one blank after a field, or the line? */
static bool ends_cell(struct line line, struct line word)
{
	const unsigned char *cell = word.end - CELL;

	if (word.end - line.start < CELL)
		return false;
	for (const unsigned char *p = cell; p < word.start; p++)
		if (*p != ' ')
			return false;
	if (cell == line.start)
		return true;
	return cell - line.start >= 2 && cell[-1] == ' ' &&
	       (cell[-2] != ' ' || (cell - line.start >= 7 && cell[-7] == '/'));
}

static bool has_decimal_digit(struct line word)
{
	while (word.start < word.end && !is_digit(*word.start))
		word.start++;
	return word.start < word.end;
}

/* Does the explanation of a data source follow without another number before it? Older versions do
 * not begin it with "|OP ". */
static bool is_data_source(struct line line, struct line word)
{
	struct line rest = {word.end, find(line, "|OP ") ?: find(line, "|SNP ")};
	uint64_t value;

	while (word.end < rest.end) {
		word = word_at(rest, word.end);
		if (parse_number(word, &value))
			return false;
	}
	return rest.end > rest.start;
}

/* All of the line is "0x…": an address by itself, as other programs print it. */
static bool is_bare_address(struct line line, uint64_t *ret_address)
{
	struct line word = word_at(line, line.start);
	uint64_t value = 0;

	if (word_at(line, word.end).start < line.end || word.end - word.start < 3 ||
	        word.end - word.start > CELL + 2 || word.start[0] != '0' ||
	        (word.start[1] | 0x20) != 'x')
		return false;
	for (const unsigned char *p = word.start + 2; p < word.end; p++) {
		if (!isxdigit(*p))
			return false;
		value = value << 4 | (uint64_t)(is_digit(*p) ? *p - '0' : (*p | 0x20) - 'a' + 10);
	}
	*ret_address = value;
	return true;
}

/* The first cell there is, or an empty word. */
static struct line find_cell(struct line line, uint64_t *ret_value)
{
	const unsigned char *colon = find(line, ": ");
	struct line word = word_at(line, colon ? colon + 2 : line.start);

	for (; word.start < word.end; word = word_at(line, word.end)) {
		if (!ends_cell(line, word) || !parse_number(word, ret_value))
			continue;
		if (word.end - CELL > line.start || has_decimal_digit(word))
			break;
	}
	return word;
}

static bool find_address(struct line line, uint64_t *ret_address)
{
	struct line word;

	if (is_bare_address(line, ret_address))
		return true;
	word = find_cell(line, ret_address);
	return word.start < word.end && *ret_address >= LOWEST && !is_data_source(line, word);
}

static uint32_t kind_of(struct line line)
{
	if (find(line, "|OP STORE"))
		return TRACE_STORE;
	return find(line, "|OP EXEC") ? TRACE_INSTRUCTION : TRACE_LOAD;
}

/* "13085.932861: " */
static bool has_time(struct line line)
{
	const unsigned char *colon = find(line, ": "), *p = colon;

	while (p && p > line.start && (is_digit(p[-1]) || p[-1] == '.'))
		p--;
	return p && p < colon && is_digit(*p) && memchr(p, '.', (size_t)(colon - p));
}

static bool is_sample(struct line line)
{
	return line.start < line.end && *line.start != '#' && *line.start != '\t' &&
	       !find(line, "PERF_RECORD_");
}

/* With an address or without, but not a single word. */
bool trace_line_is_perf(const unsigned char *text, size_t length)
{
	struct line line = {text, text + length}, first = word_at(line, text);
	uint64_t value;

	if (!is_sample(line) || first.end - first.start == line.end - line.start)
		return false;
	if (has_time(line) || (first.end - text == CELL + 1 && parse_number(first, &value)))
		return true;
	first = find_cell(line, &value);
	return first.start < first.end;
}

static int check_line(struct trace_reader *reader, struct line line)
{
	size_t length = (size_t)(line.end - line.start);

	if (length >= TRACE_LINE_MOST)
		return trace_too_long(reader);
	for (const unsigned char *p = line.start; p < line.end; p++)
		if (!trace_is_text(*p))
			return trace_bad_line(reader, reader->line, p, 1, "", NULL);
	return 0;
}

int trace_parse_perf(
        struct trace_reader *reader, struct trace_access *accesses, size_t most, size_t *ret_n)
{
	while (*ret_n < most) {
		struct line line = {.start = reader->next};
		const unsigned char *behind;
		uint64_t address;
		int r;

		line.end = memchr(line.start, '\n', (size_t)(reader->end - line.start));
		if (!line.end)
			break;
		r = check_line(reader, line);
		if (r < 0)
			return r;
		behind = line.end + 1;
		if (line.end > line.start && line.end[-1] == '\r')
			line.end--;
		if (is_sample(line) && find_address(line, &address))
			accesses[(*ret_n)++] = (struct trace_access){
			        .address = address, .size = 1, .kind = kind_of(line)};
		else
			reader->skipped += is_sample(line);
		reader->next = (unsigned char *)behind;
		reader->line++;
	}
	return 0;
}

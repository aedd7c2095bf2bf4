/* SPDX-License-Identifier: MIT */
/*
 * What the other end of standard output can show: width, height, colours (only a terminal, and not
 * with NO_COLOR set or TERM=dumb) and UTF-8 (by the locale).
 */

#include "terminal.h"

#include <ctype.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "words.h"

#define USUAL_WIDTH 80
#define WIDEST 120
#define NARROWEST 40

static bool colours_wanted(void)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *kind = getenv("TERM");

	return !(no_colour && *no_colour) && kind && strcmp(kind, "dumb") != 0;
}

struct terminal terminal_describe(FILE *file)
{
	struct terminal terminal = {.width = USUAL_WIDTH};
	struct winsize size;

	terminal.is_terminal = fileno(file) >= 0 && isatty(fileno(file));
	terminal.colours = terminal.is_terminal && colours_wanted();
	terminal.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (terminal.is_terminal && ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col) {
		terminal.width = size.ws_col;
		terminal.height = size.ws_row;
	}
	if (terminal.width > WIDEST)
		terminal.width = WIDEST;
	if (terminal.width < NARROWEST)
		terminal.width = NARROWEST;
	return terminal;
}

/* Bytes of the first character; 0: it cannot be shown. */
static size_t showable(const char *text, size_t length)
{
	mbstate_t state = {0};
	wchar_t character;
	size_t n = mbrtowc(&character, text, length, &state);

	return n <= length && iswprint((wint_t)character) ? n : 0;
}

void make_showable(char *text)
{
	for (size_t length = strlen(text), n; length > 0; length -= n, text += n) {
		n = showable(text, length);
		if (n == 0) {
			*text = '?';
			n = 1;
		}
	}
}

/* Without the piece of a character that is cut off: it would be shown as '?'. */
char *printable(const char *text, char *ret_text, size_t size)
{
	size_t length = strlen(text), n = 0, next;

	for (; n < length; n += next) {
		next = showable(text + n, length - n) ?: 1;
		if (n + next >= size)
			break;
	}
	memcpy(ret_text, text, n);
	ret_text[n] = '\0';
	make_showable(ret_text);
	return ret_text;
}

size_t fit_columns(const char *text, int columns, int *ret_used)
{
	size_t length = strlen(text), at = 0;

	*ret_used = 0;
	while (at < length) {
		mbstate_t state = {0};
		wchar_t character;
		size_t n = mbrtowc(&character, text + at, length - at, &state);
		bool is_one = n - 1 < length - at;
		int width = is_one ? wcwidth(character) : -1;

		n = is_one ? n : 1;
		width = width < 0 ? 1 : width;
		if (*ret_used + width > columns)
			break;
		*ret_used += width;
		at += n;
	}
	return at;
}

char *show_name(const char *name, char *ret_text, size_t size)
{
	mtl_name_shorten(name, ret_text, size);
	make_showable(ret_text);
	return ret_text;
}

/* Not between a number and its unit: "1 k", "20 %", "3 ms". */
static bool may_break(const char *text, size_t at)
{
	size_t next = strcspn(text + at + 1, " .,;:)\n");

	return text[at] == ' ' && (at == 0 || !isdigit((unsigned char)text[at - 1]) || next > 2);
}

void wrap_words(char *text, size_t width)
{
	while (strlen(text) > width) {
		size_t end = width;

		while (end > 0 && !may_break(text, end))
			end--;
		if (end == 0)
			end = strcspn(text, " ");
		if (!text[end])
			return;
		text[end] = '\n';
		text += end + 1;
	}
}

void text_append(char *text, size_t size, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, size - length, format, arguments);
	va_end(arguments);
}

void note_print(FILE *file, const struct terminal *terminal, char *note)
{
	make_showable(note);
	wrap_words(note, terminal->width - 6);
	fprintf(file, "note: %s\n", note);
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TERMINAL_H
#define MTL_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>
#include "words.h" /* NAME_SHOWN */

/* How a report may look where it goes. */
struct terminal {
	bool is_terminal;
	bool colours;
	bool utf8;
	unsigned width, height; /* height 0: endless */
};

/* What file leads to: 80 columns wide unless it is a terminal that says otherwise. */
struct terminal terminal_describe(FILE *file);

/* comm of a process may hold anything: what the locale has no picture for comes out as '?'. Cut to
 * size, between characters. */
char *printable(const char *text, char *ret_text, size_t size);

/* Anything that comes from outside, in place: what the locale has no picture for, control
 * characters above all, becomes '?'. */
void make_showable(char *text);

/* Bytes of the text that take no more than so many columns; and how many these take. A character of
 * two columns stands whole or not at all. */
size_t fit_columns(const char *text, int columns, int *ret_used);

/* A name of a file in a message: showable, and shortened in the middle to fit
 * ("/tmp/ab...of.trace") so that what is said of it is not pushed out. */
char *show_name(const char *name, char *ret_text, size_t size);

/* Turns blanks into line ends so that no line is longer than width, where words allow it. Numbers
 * stay with units of one or two letters. */
void wrap_words(char *text, size_t width);

/* "note: ...", made showable and wrapped in place. */
void note_print(FILE *file, const struct terminal *terminal, char *note);

/* More of a text, cut at its size. */
void text_append(char *text, size_t size, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

#endif

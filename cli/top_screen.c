/* SPDX-License-Identifier: MIT */
/*
 * The screen of `mtl top`: a line of what is shown, a heading, one line a process, and below them
 * what the selected one's curve says and the keys. Columns that do not fit are left out, the last
 * one, the spark, takes what is left. Everything is drawn anew each time; ncurses sends only what
 * differs.
 */

#include <curses.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "size.h"
#include "terminal.h"
#include "top.h"
#include "top_columns.h"
#include "top_keys.h"

#define HEAD 3 /* lines above the table, and below it */
#define FOOT 3
#define LEAST_LINES 8
#define LEAST_COLUMNS 40
#define TEXT 256
#define ROOM_FOR_REASON 24
#define EIGHTHS 8

static const char *const unicode_bars[EIGHTHS + 1] = {"▁", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii_bars[EIGHTHS + 1] = {"_", "_", ".", ".", "-", "-", "=", "=", "#"};

/* A text, no further than that many columns. */
static void put(int y, int x, const char *text, int columns)
{
	int used;

	mvaddnstr(y, x, text, (int)fit_columns(text, columns, &used));
}

/* A line of text, no longer than the screen; blanks follow. */
static void line(int y, int attributes, const char *text)
{
	attron(attributes);
	mvhline(y, 0, ' ', COLS);
	put(y, 0, text, COLS);
	attroff(attributes);
}

static void title_line(const struct top *top)
{
	const struct top_column *column = &top_columns[top->column];
	char text[TEXT], clock[NUMBER_TEXT], l2[NUMBER_TEXT], llc[NUMBER_TEXT];

	snprintf(text, sizeof(text),
	        "mtl top   %zu of %zu processes by %s%s   L2 %s, last level %s", top->n,
	        top->rows.n, column->name, top->reversed ? ", reversed" : "",
	        size_format(top->rows.l2_bytes, l2), size_format(top->rows.llc_bytes, llc));
	line(0, A_BOLD, text);
	time_format(time(NULL), clock);
	if ((int)(strlen(text) + 10) < COLS)
		mvaddstr(0, COLS - 8, clock + strlen(clock) - 8);
}

static void filter_line(const struct top *top)
{
	char text[TEXT] = "", filter[sizeof(top->filter)];

	printable(top->filter, filter, sizeof(filter));
	if (top->typing)
		snprintf(text, sizeof(text), "only with: %s_   (Enter keeps it, Esc drops it)",
		        filter);
	else if (*filter)
		snprintf(text, sizeof(text), "only with: %s   (Esc: all)", filter);
	line(1, 0, text);
	if (*top->feed.away)
		line(1, A_BOLD,
		        top->rows.n ? "mtld is not reached: this is as it last was"
		                    : "mtld is not reached");
}

static bool is_shown(const struct top_column *column)
{
	return (unsigned)COLS >= column->least_width;
}

static void cell(int y, int x, const struct top_column *column, const char *text)
{
	int used, width = (int)column->width, n = (int)fit_columns(text, width, &used);
	int before = column->alignment == RIGHT ? width - used : 0;

	mvprintw(y, x, "%*s%.*s%*s", before, "", n, text, width - used - before + 1, "");
}

/* Each cell in its column, a blank between; returns where the spark begins. */
static int cells(int y, char (*texts)[NUMBER_TEXT])
{
	int x = 0;

	for (size_t i = 0; i < top_columns_n; i++) {
		const struct top_column *column = &top_columns[i];

		if (!is_shown(column))
			continue;
		cell(y, x, column, texts[i]);
		x += (int)column->width + 1;
	}
	return x;
}

static void heading(const struct top *top)
{
	char texts[32][NUMBER_TEXT], from_text[NUMBER_TEXT], to_text[NUMBER_TEXT];
	double from, to;
	int x;

	for (size_t i = 0; i < top_columns_n; i++)
		strcpy(texts[i], top_columns[i].title);
	attron(A_REVERSE);
	mvhline(HEAD - 1, 0, ' ', COLS);
	x = cells(HEAD - 1, texts);
	top_spark_range(&top->rows, &from, &to);
	size_format(from, from_text);
	size_format(to, to_text);
	if (x + (int)(strlen(from_text) + strlen(to_text)) + 2 < COLS) {
		mvaddstr(HEAD - 1, x, from_text);
		mvaddstr(HEAD - 1, COLS - (int)strlen(to_text), to_text);
	}
	attroff(A_REVERSE);
}

static void spark(const struct top *top, const struct top_row *row, int y, int x)
{
	const char *const *bars = top->utf8 ? unicode_bars : ascii_bars;
	size_t n = (size_t)(COLS - x);
	_cleanup_free_ double *heights = calloc(n, sizeof(*heights));
	double from, to;

	if (!heights)
		return;
	top_spark_range(&top->rows, &from, &to);
	top_spark(row->curve, from, to, n, heights);
	for (size_t i = 0; i < n; i++)
		mvaddstr(y, x + (int)i,
		        isnan(heights[i]) ? " " : bars[(int)round(heights[i] * EIGHTHS)]);
}

/* What stands in place of a curve. */
static void no_curve(const struct top_row *row, int y, int x)
{
	char text[TEXT];

	if (row->unreadable)
		snprintf(text, sizeof(text), "mtld's answer cannot be read");
	else if (*row->reason && COLS - x >= ROOM_FOR_REASON)
		snprintf(text, sizeof(text), "%s: %s", row->state, row->reason);
	else if (!*row->reason && row->observations < row->needed)
		snprintf(text, sizeof(text), "%.0f of %.0f", row->observations, row->needed);
	else
		snprintf(text, sizeof(text), "%s", row->state);
	put(y, x, text, COLS - x);
}

static void row_line(const struct top *top, size_t place, int y)
{
	const struct top_row *row = top->order[place];
	bool selected = place == top_selected(top);
	char texts[32][NUMBER_TEXT];
	int x;

	for (size_t i = 0; i < top_columns_n; i++)
		top_columns[i].text(row, texts[i]);
	if (selected)
		attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	x = cells(y, texts);
	if (x < COLS && row->curve)
		spark(top, row, y, x);
	else if (x < COLS)
		no_curve(row, y, x);
	if (selected)
		attroff(A_REVERSE);
}

/* A text over lines from y on, no more than so many. */
static void lines_of(int y, int x, int lines, char *text)
{
	char *next;

	wrap_words(text, (size_t)(COLS - x));
	for (; lines > 0 && (next = strsep(&text, "\n")); lines--)
		put(y++, x, next, COLS - x);
}

static bool has_ended(const struct top_row *row)
{
	return strcmp(row->state, "exited") == 0;
}

/* What the selected curve says, in two lines; or why there is no news. */
static void sentence(const struct top *top)
{
	const struct top_row *row = top->n ? top->order[top_selected(top)] : NULL;
	char text[TEXT * 2] = "";

	line(LINES - FOOT, 0, "");
	line(LINES - FOOT + 1, 0, "");
	if (!row)
		return;
	if (*top->feed.away)
		snprintf(text, sizeof(text), "%s", top->feed.away);
	else if (row->curve)
		curve_sentence(row->curve, text, sizeof(text));
	else if (row->unreadable)
		snprintf(text, sizeof(text),
		        "%s: mtld's answer cannot be read: are mtl and mtld of the same version?",
		        row->comm);
	else if (*row->reason)
		snprintf(text, sizeof(text), "%s: %s", row->state, row->reason);
	else
		snprintf(text, sizeof(text), "%s: %.0f of about %.0f observations so far",
		        row->comm, row->observations, row->needed);
	if (has_ended(row) && row->curve && !*top->feed.away)
		text_append(text, sizeof(text), " It has ended.");
	lines_of(LINES - FOOT, 0, 2, text);
}

/* Where mtld is not reached this is all there is room for, and it is said in full. */
static void nothing_to_list(const struct top *top)
{
	char text[sizeof(top->feed.away) + TEXT];

	if (*top->feed.away)
		snprintf(text, sizeof(text),
		        "%s. It is looked for again every second; q ends this.", top->feed.away);
	else if (!top->feed.answered)
		strcpy(text, "asking mtld ...");
	else if (top->rows.n)
		strcpy(text, "no process has that in its name");
	else
		strcpy(text, "no process is tracked: `mtl track PID`, or `mtl curve PID`");
	lines_of(HEAD + 1, 2, (int)top->page - 1, text);
}

static void scroll_to_selected(struct top *top)
{
	size_t place = top_selected(top);

	if (place < top->first)
		top->first = place;
	if (place >= top->first + top->page)
		top->first = place + 1 - top->page;
	if (top->first + top->page > top->n)
		top->first = top->n > top->page ? top->n - top->page : 0;
}

static void draw_table(struct top *top)
{
	title_line(top);
	filter_line(top);
	heading(top);
	scroll_to_selected(top);
	for (size_t i = 0; i < top->page && top->first + i < top->n; i++)
		row_line(top, top->first + i, HEAD + (int)i);
	if (top->n == 0)
		nothing_to_list(top);
	sentence(top);
	line(LINES - 1, A_REVERSE,
	        "q quit  h help, columns  Enter curve  < > sort  r reverse  / filter");
}

/* So much of a text as fits, from line `first` on; not further than to its last line. */
static void draw_text(struct top *top, const char *text, const char *keys)
{
	size_t n = 0, last = 0;
	int y = 0;

	for (const char *c = text; *c; c++)
		last += *c == '\n';
	if (top->first + top->page > last)
		top->first = last > top->page ? last - top->page : 0;
	for (const char *end; *text && y < LINES - 1; text = end, n++) {
		end = text + strcspn(text, "\n");
		if (n >= top->first)
			mvaddnstr(y++, 0, text, (int)(end - text));
		end += *end == '\n';
	}
	line(LINES - 1, A_REVERSE, keys);
}

int top_curve_text(
        const struct top_row *row, unsigned width, bool utf8, bool table, char **ret_text)
{
	const struct terminal terminal = {.is_terminal = true, .utf8 = utf8, .width = width};
	char *text = NULL;
	size_t size;
	unsigned parts = (table ? CURVE_TABLE : 0) | (has_ended(row) ? CURVE_LAST : 0);
	FILE *file;
	int r;

	if (!row->curve)
		return -ENODATA;
	file = open_memstream(&text, &size);
	if (!file)
		return -ENOMEM;
	r = curve_report(file, row->curve, &row->origin, &terminal, parts);
	if (fclose(file) != 0 || r < 0) {
		free(text);
		return -ENOMEM;
	}
	*ret_text = text;
	return 0;
}

static int draw_curve(struct top *top)
{
	const struct top_row *row = top->n ? top->order[top_selected(top)] : NULL;
	_cleanup_free_ char *text = NULL;
	unsigned width = (unsigned)COLS > 120 ? 120 : (unsigned)COLS;
	int r = row ? top_curve_text(row, width, top->utf8, top->table, &text) : -ENODATA;

	if (r == -ENODATA && row)
		no_curve(row, 1, 2);
	draw_text(
	        top, text ?: "", "Esc back  n next process  p the one before  t table  PgUp PgDn");
	return r == -ENODATA ? 0 : r;
}

static void put_keys(FILE *file, enum top_view view)
{
	for (const struct top_binding *b = top_bindings(view); b->act; b++) {
		if (b->names)
			fprintf(file, "  %-10s %s\n", b->names, b->meaning);
	}
}

static void draw_help(struct top *top)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return;
	put_keys(file, TOP_TABLE);
	fprintf(file, "\nin a curve:\n");
	put_keys(file, TOP_CURVE_VIEW);
	fprintf(file, "\ncolumns:\n");
	for (size_t i = 0; i < top_columns_n; i++)
		fprintf(file, "  %-10s %s\n", top_columns[i].title, top_columns[i].meaning);
	fprintf(file, "\n  the last column: misses over the size of the cache, as far as known\n"
	              "  -          not known, or below what can be resolved\n");
	if (fclose(file) == 0)
		draw_text(top, text, "Esc back");
}

int top_draw(struct top *top)
{
	int r = 0;

	erase();
	if (LINES < LEAST_LINES || COLS < LEAST_COLUMNS) {
		mvaddnstr(0, 0, "too small a window", COLS);
		refresh();
		return 0;
	}
	top->page = (size_t)LINES - (top->view == TOP_TABLE ? HEAD + FOOT : 1);
	if (top->view == TOP_TABLE)
		draw_table(top);
	else if (top->view == TOP_HELP)
		draw_help(top);
	else
		r = draw_curve(top);
	refresh();
	return r;
}

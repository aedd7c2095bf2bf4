/* SPDX-License-Identifier: MIT */
/*
 * What keys do in `mtl top`: one table for each view, from which the help is made too; and the
 * filter, which takes letters while it is being typed.
 */

#include "top_keys.h"

#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top_columns.h"

#define ESCAPE 27
#define ENTER '\n'
#define ERASE 127
#define CONTROL_H 8
#define CONTROL_L 12
#define CONTROL_U 21

size_t top_selected(const struct top *top)
{
	for (size_t i = 0; i < top->n; i++) {
		if (top->order[i]->pid == top->selected)
			return i;
	}
	return 0;
}

static void select_place(struct top *top, size_t place)
{
	if (top->n)
		top->selected = top->order[place < top->n ? place : top->n - 1]->pid;
}

int top_arrange(struct top *top)
{
	const struct top_row **order = calloc(top->rows.n + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	top->n = top_order(&top->rows, top->column, top->reversed, top->filter, order);
	free(top->order);
	top->order = order;
	if (top->n && top->order[top_selected(top)]->pid != top->selected)
		select_place(top, top->place);
	top->place = top_selected(top);
	return 0;
}

static void select_by(struct top *top, long by)
{
	long place = (long)top_selected(top) + by, last = (long)top->n - 1;

	if (top->n)
		select_place(top, (size_t)(place < 0 ? 0 : place > last ? last : place));
}

static void key_up(struct top *top)
{
	select_by(top, -1);
}

static void key_down(struct top *top)
{
	select_by(top, 1);
}

static void key_page_up(struct top *top)
{
	select_by(top, -(long)top->page);
}

static void key_page_down(struct top *top)
{
	select_by(top, (long)top->page);
}

static void key_home(struct top *top)
{
	select_place(top, 0);
}

static void key_end(struct top *top)
{
	select_by(top, (long)top->n);
}

static void key_quit(struct top *top)
{
	top->quit = true;
}

static void change_view(struct top *top, enum top_view view)
{
	top->view = view;
	top->first = 0;
}

static void key_curve(struct top *top)
{
	if (top->n)
		change_view(top, TOP_CURVE_VIEW);
}

static void key_help(struct top *top)
{
	change_view(top, TOP_HELP);
}

static void key_back(struct top *top)
{
	change_view(top, TOP_TABLE);
}

static void key_left(struct top *top)
{
	top->column = (top->column + top_columns_n - 1) % top_columns_n;
	top->reversed = false;
}

static void key_right(struct top *top)
{
	top->column = (top->column + 1) % top_columns_n;
	top->reversed = false;
}

static void key_reverse(struct top *top)
{
	top->reversed = !top->reversed;
}

static void key_filter(struct top *top)
{
	top->typing = true;
}

static void key_clear(struct top *top)
{
	top->filter[0] = '\0';
}

static void key_redraw(struct top *top)
{
	(void)top;
	clear();
}

static void scroll_up(struct top *top)
{
	top->first -= top->first > 0;
}

static void scroll_down(struct top *top)
{
	top->first++;
}

static void scroll_page_up(struct top *top)
{
	top->first -= top->first < top->page ? top->first : top->page;
}

static void scroll_page_down(struct top *top)
{
	top->first += top->page;
}

static void scroll_home(struct top *top)
{
	top->first = 0;
}

static void key_next(struct top *top)
{
	select_by(top, 1);
	top->first = 0;
}

static void key_previous(struct top *top)
{
	select_by(top, -1);
	top->first = 0;
}

static void key_table(struct top *top)
{
	top->table = !top->table;
}

static const struct top_binding table_keys[] = {
        {{KEY_UP, 'k'}, "up, k", "the process above", key_up},
        {{KEY_DOWN, 'j'}, "down, j", "the process below", key_down},
        {{KEY_PPAGE}, "PgUp", "a page up", key_page_up},
        {{KEY_NPAGE}, "PgDn", "a page down", key_page_down},
        {{KEY_HOME, 'g'}, "Home, g", "the first process", key_home},
        {{KEY_END, 'G'}, "End, G", "the last process", key_end},
        {{ENTER, KEY_ENTER}, "Enter", "the curve of the selected process", key_curve},
        {{'<', KEY_LEFT}, "<, left", "sort by the column before", key_left},
        {{'>', KEY_RIGHT}, ">, right", "sort by the next column", key_right},
        {{'r'}, "r", "the other way round", key_reverse},
        {{'/'}, "/", "only commands with a text in their name, or a process number", key_filter},
        {{ESCAPE}, "Esc", "all processes again", key_clear},
        {{'h', '?'}, "h, ?", "this help", key_help},
        {{CONTROL_L}, "Ctrl-L", "draw everything again", key_redraw},
        {{'q', 'Q'}, "q", "quit", key_quit},
        {{0}, NULL, NULL, NULL},
};

static const struct top_binding text_keys[] = {
        {{KEY_UP, 'k'}, "up, k", "a line up", scroll_up},
        {{KEY_DOWN, 'j'}, "down, j", "a line down", scroll_down},
        {{KEY_PPAGE}, "PgUp", "a page up", scroll_page_up},
        {{KEY_NPAGE, ' '}, "PgDn", "a page down", scroll_page_down},
        {{KEY_HOME, 'g'}, "Home, g", "the beginning", scroll_home},
        {{'n', KEY_RIGHT}, "n", "the next process", key_next},
        {{'p', KEY_LEFT}, "p", "the process before", key_previous},
        {{'t'}, "t", "its numbers too, or not", key_table},
        {{CONTROL_L}, NULL, NULL, key_redraw},
        {{ESCAPE, ENTER}, "Esc", "back to the table", key_back},
        {{'q', 'h', '?'}, NULL, NULL, key_back},
        {{0}, NULL, NULL, NULL},
};

const struct top_binding *top_bindings(enum top_view view)
{
	return view == TOP_TABLE ? table_keys : text_keys;
}

/* Without its last character, all bytes of it. */
static void shorten(char *text, size_t length)
{
	while (length > 0 && ((unsigned char)text[--length] & 0xc0) == 0x80)
		text[length] = '\0';
	text[length] = '\0';
}

/* Bytes of letters go to the end of the filter, those of one after the other; Enter keeps it, Esc
 * drops it. */
static void type(struct top *top, int key)
{
	size_t length = strlen(top->filter);

	if (key == ENTER || key == KEY_ENTER || key == ESCAPE)
		top->typing = false;
	if (key == ESCAPE || key == CONTROL_U)
		top->filter[0] = '\0';
	else if ((key == KEY_BACKSPACE || key == ERASE || key == CONTROL_H) && length)
		shorten(top->filter, length);
	else if (((key >= ' ' && key <= '~') || (top->utf8 && key >= 0x80 && key <= 0xff)) &&
	         length + 1 < sizeof(top->filter)) {
		top->filter[length] = (char)key;
		top->filter[length + 1] = '\0';
	}
}

void top_key(struct top *top, int key)
{
	const struct top_binding *binding = top_bindings(top->view);

	if (top->typing) {
		type(top, key);
		return;
	}
	for (; binding->act; binding++) {
		for (int i = 0; i < TOP_KEYS_MAX; i++) {
			if (binding->keys[i] && binding->keys[i] == key) {
				binding->act(top);
				return;
			}
		}
	}
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TOP_H
#define MTL_CLI_TOP_H

/* The state of `mtl top` on its way from keys (top_keys.c) to the screen (top_screen.c). */

#include <stdbool.h>
#include <stddef.h>

#include "top_feed.h"
#include "top_rows.h"

enum top_view { TOP_TABLE, TOP_CURVE_VIEW, TOP_HELP };

struct top {
	struct top_rows rows;
	struct top_feed feed;
	const struct top_row **order; /* what is listed, in order; valid until rows change */
	size_t n;
	size_t column; /* sorted by */
	bool reversed;
	char filter[TOP_NAME];
	bool typing;  /* the filter */
	int selected; /* process */
	size_t place; /* where it was when last put in order */
	size_t first; /* line of the table, or of what is shown, at the top */
	enum top_view view;
	bool table; /* in the view of one curve */
	bool utf8, quit;
	size_t page; /* lines of the table that fit, as last drawn */
};

/* Puts the rows in order again; the selection stays with its process, else with its place. -ENOMEM.
 */
int top_arrange(struct top *top);

/* Where the selected process is; 0 when there is none. */
size_t top_selected(const struct top *top);

/* One key, as getch() says it. */
void top_key(struct top *top, int key);

/* All of the screen; -ENOMEM. */
int top_draw(struct top *top);

/* Lines of text that stand for the view of one curve, or NULL when there is none yet (-ENODATA).
 * Free with free(). */
int top_curve_text(
        const struct top_row *row, unsigned width, bool utf8, bool table, char **ret_text);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TOP_FEED_H
#define MTL_CLI_TOP_FEED_H

/*
 * What `mtl top` asks mtld, one question at a time: List once an interval, and in between the
 * curves of the rows that are on the screen, a few each interval. It never blocks longer than it is
 * told, and connects again when mtld has gone away.
 */

#include <stdbool.h>
#include <stddef.h>

#include "client.h"
#include "top_rows.h"

enum top_question { TOP_NOTHING, TOP_LIST, TOP_CURVE };

struct top_feed {
	const char *socket;
	double interval;
	struct client *client; /* NULL: mtld is away */
	enum top_question waiting;
	int asked_pid; /* whose curve was asked for last */
	double sent, next_list, next_connect;
	unsigned curves_left; /* to ask for before the next List */
	bool answered;        /* List, at least once */
	char away[512];       /* why there is no mtld; "" */
};

void top_feed_done(struct top_feed *feed);

/*
 * Goes on for `seconds` at most, or until wake_fd can be read (-ECANCELED). 1: rows have changed,
 * or mtld has come or gone; 0: nothing is new. wanted: whose curves to ask for, the first one
 * soonest. -ENOMEM.
 */
int top_feed_step(struct top_feed *feed, struct top_rows *rows, const struct top_row *const *wanted,
        size_t n_wanted, int wake_fd, double seconds);

#endif

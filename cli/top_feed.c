/* SPDX-License-Identifier: MIT */
/*
 * The questions of `mtl top`. A curve costs mtld some milliseconds, so there are CURVES an interval
 * at most, however many processes are on the screen: the selected one's each time, the others' by
 * turns.
 */

#include "top_feed.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>

#include "monotonic.h"
#include "options.h"
#include "question.h"

#define CURVES 4
#define CONNECT_AGAIN_SECONDS 1.0

void top_feed_done(struct top_feed *feed)
{
	feed->client = client_free(feed->client);
	feed->waiting = TOP_NOTHING;
}

/* What client_explain() says goes onto the screen. */
static void explain_away(struct top_feed *feed, int error)
{
	complain_into(feed->away, sizeof(feed->away));
	client_explain(error, feed->socket);
	complain_into(NULL, 0);
	feed->away[strcspn(feed->away, "\n")] = '\0';
}

/* The connection is of no use any more. */
static int lose(struct top_feed *feed, int error)
{
	top_feed_done(feed);
	explain_away(feed, error);
	feed->next_connect = monotonic_seconds() + CONNECT_AGAIN_SECONDS;
	return 1;
}

static int connect_again(struct top_feed *feed)
{
	int r = client_connect(feed->socket, &feed->client);

	if (r < 0)
		return lose(feed, r);
	feed->away[0] = '\0';
	feed->next_list = 0;
	return 1;
}

static int ask(struct top_feed *feed, enum top_question question, const char *method,
        struct json_object *parameters)
{
	int r = client_send(feed->client, method, parameters, false);

	if (r < 0)
		return lose(feed, r);
	feed->waiting = question;
	feed->sent = monotonic_seconds();
	return 0;
}

/* The first one when its turn comes round, else who has waited longest. One whose answer could not
 * be read waits like the others: it may have cost the connection. */
static const struct top_row *whose_turn(
        const struct top_feed *feed, const struct top_row *const *wanted, size_t n, double now)
{
	const struct top_row *next = NULL;

	for (size_t i = 0; i < n; i++) {
		if (now - wanted[i]->asked < feed->interval)
			continue;
		if (i == 0 && !wanted[i]->unreadable)
			return wanted[0];
		if (!next || wanted[i]->asked < next->asked)
			next = wanted[i];
	}
	return next;
}

/* -EAGAIN: nothing is to be asked now. */
static int ask_next(struct top_feed *feed, struct top_rows *rows,
        const struct top_row *const *wanted, size_t n_wanted, double now)
{
	const struct top_row *row;

	if (now >= feed->next_list) {
		feed->next_list = now + feed->interval;
		feed->curves_left = CURVES;
		return ask(feed, TOP_LIST, "List", NULL);
	}
	row = feed->curves_left ? whose_turn(feed, wanted, n_wanted, now) : NULL;
	if (!row)
		return -EAGAIN;
	feed->curves_left--;
	top_rows_find(rows, row->pid)->asked = now;
	feed->asked_pid = row->pid;
	return ask(feed, TOP_CURVE, "Curve", question_pid(row->pid));
}

/* What mtld said of one process says nothing against what it says of others. */
static int not_readable(const struct top_feed *feed, struct top_rows *rows)
{
	struct top_row *row = top_rows_find(rows, feed->asked_pid);

	if (row)
		row->unreadable = true;
	return 1;
}

/* A refused curve (too few observations, somebody else's process) leaves the row as it is. */
static int take(struct top_feed *feed, struct top_rows *rows, const struct client_reply *reply)
{
	enum top_question question = feed->waiting;
	struct json_object *curve;
	int r;

	feed->waiting = TOP_NOTHING;
	if (reply->error)
		return question == TOP_LIST ? -EBADMSG : 0;
	if (question == TOP_LIST) {
		r = top_rows_list(rows, reply->parameters);
		feed->answered |= r == 0;
		return r < 0 ? r : 1;
	}
	if (!json_object_object_get_ex(reply->parameters, "curve", &curve) || !curve)
		return not_readable(feed, rows);
	r = top_rows_curve(rows, curve);
	return r == -ESRCH ? 0 : r == -EBADMSG ? not_readable(feed, rows) : r < 0 ? r : 1;
}

static int receive(struct top_feed *feed, struct top_rows *rows, int wake_fd, double seconds)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	bool is_curve = feed->waiting == TOP_CURVE;
	int r = client_receive(feed->client, seconds, wake_fd, &reply);

	if (r == -ETIMEDOUT)
		return monotonic_seconds() - feed->sent > CLIENT_REPLY_SECONDS ? lose(feed, r) : 0;
	if (r == -ECANCELED)
		return r;
	if (r == 0)
		r = take(feed, rows, &reply);
	if (r == -EBADMSG && is_curve)
		not_readable(feed, rows);
	return r == -ENOMEM || r >= 0 ? r : lose(feed, r);
}

static int sleep_until_woken(int wake_fd, double seconds)
{
	struct pollfd fd = {.fd = wake_fd, .events = POLLIN};

	return poll(&fd, 1, (int)ceil(fmax(seconds, 0) * 1000)) > 0 ? -ECANCELED : 0;
}

int top_feed_step(struct top_feed *feed, struct top_rows *rows, const struct top_row *const *wanted,
        size_t n_wanted, int wake_fd, double seconds)
{
	double now = monotonic_seconds();
	int r;

	if (!feed->client && now >= feed->next_connect)
		return connect_again(feed);
	if (!feed->client)
		return sleep_until_woken(wake_fd, fmin(seconds, feed->next_connect - now));
	r = feed->waiting == TOP_NOTHING ? ask_next(feed, rows, wanted, n_wanted, now) : 0;
	if (r == -EAGAIN)
		return sleep_until_woken(wake_fd, fmin(seconds, feed->next_list - now));
	return r != 0 ? r : receive(feed, rows, wake_fd, seconds);
}

/* SPDX-License-Identifier: MIT */
/*
 * The first curve of a running process: tracked if it is not, asked for again until there are
 * enough observations or there is no patience left, with a progress line where there is a terminal.
 */

#include "await_curve.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monotonic.h"
#include "object.h"
#include "process_stat.h"
#include "question.h"

#define AGAIN_MILLISECONDS 200
#define IDLE_SECONDS 60

int await_idle_seconds(const struct options *options)
{
	return !(options->interval > IDLE_SECONDS / 2) ? IDLE_SECONDS
	                                               : (int)fmin(3 * options->interval, 1e9);
}

static int track(struct question *question)
{
	int idle = await_idle_seconds(question->options);
	struct json_object *parameters = question_track(question->pid, idle);
	int r = question_ask(
	        question->client, question->options->socket, "Track", parameters, NULL, NULL);

	if (r != MTL_DONE)
		return r;
	question->tracked = true;
	complain(MTL_DONE, "tracking process %d from now on, until %d s after the last question",
	        question->pid, idle);
	return MTL_DONE;
}

static void show_progress(struct question *question, const struct client_reply *reply)
{
	char text[512];

	if (!isatty(STDERR_FILENO))
		return;
	reply_sentence(reply, text, sizeof(text));
	fprintf(stderr, "\r%s\033[K", text);
	question->progressed = true;
}

static void clear_progress(struct question *question)
{
	if (question->progressed)
		fputs("\r\033[K", stderr);
	question->progressed = false;
}

/* false when the user wants to stop. */
static bool pause_before_again(const struct question *question)
{
	struct pollfd wake = {.fd = question->wake_fd, .events = POLLIN};

	return poll(&wake, 1, AGAIN_MILLISECONDS) == 0;
}

/* There will be no more of it. */
static bool has_ended(const struct client_reply *reply)
{
	return strcmp(object_text(reply->parameters, "state"), "exited") == 0;
}

/* Why there may be so little of it. */
static int explain(struct question *question, const struct client_reply *reply)
{
	int code = question_explain(question->client, reply);
	struct children children;

	if (code == MTL_NOT_ENOUGH &&
	        children_look(question->options->root, question->pid, &children) == 0)
		children_complain(&children, false);
	return code;
}

/* -EAGAIN to ask again, else an exit code. */
static int not_yet(struct question *question, const struct client_reply *reply, double deadline)
{
	if (reply_is(reply, "NotTracked") && !question->tracked)
		return track(question) ?: -EAGAIN;
	if (!reply_is(reply, "NotEnoughObservations") || has_ended(reply) ||
	        monotonic_seconds() >= deadline) {
		clear_progress(question);
		return explain(question, reply);
	}
	show_progress(question, reply);
	if (pause_before_again(question))
		return -EAGAIN;
	clear_progress(question);
	return question->shown ? MTL_DONE : MTL_NOT_ENOUGH;
}

static int call_curve(struct question *question, struct client_reply *ret_reply)
{
	return client_call(question->client, "Curve",
	        question_curve(question->pid, question->options), ret_reply);
}

int await_curve(struct question *question, double seconds, struct json_object **ret_curve)
{
	double deadline = monotonic_seconds() + seconds;
	int r;

	do {
		_cleanup_(client_reply_done) struct client_reply reply = {0};
		struct json_object *curve;

		r = call_curve(question, &reply);
		if (r < 0)
			return client_explain(r, question->options->socket);
		if (reply.error) {
			r = not_yet(question, &reply, deadline);
			continue;
		}
		clear_progress(question);
		if (!json_object_object_get_ex(reply.parameters, "curve", &curve) || !curve)
			return client_explain(-EBADMSG, question->options->socket);
		*ret_curve = json_object_get(curve);
	} while (r == -EAGAIN);
	return r;
}

int await_track(struct question *question)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	int r = call_curve(question, &reply);

	if (r < 0)
		return client_explain(r, question->options->socket);
	return reply_is(&reply, "NotTracked") ? track(question) : MTL_DONE;
}

/* SPDX-License-Identifier: MIT */
/*
 * `mtl curve PID`: the curve of a running process, once or again and again.
 *
 * A process that is not tracked yet is tracked, for as long as somebody asks; with too few
 * observations the question is repeated until there are enough or --wait is over. Several processes
 * are waited for together, so that they share the time it takes.
 */

#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "await_curve.h"
#include "client.h"
#include "curve_operand.h"
#include "curve_picture.h"
#include "curve_report.h"
#include "history_report.h"
#include "question.h"
#include "saved_curve.h"
#include "size.h"
#include "stop_signals.h"

#define STREAM_SECONDS 10.0

/* For words, which say that it is the last one. */
static void put_end(struct json_object *curve)
{
	json_object_object_add(curve, "state", json_object_new_string("exited"));
}

static void find_out_end(const struct question *question, struct json_object *curve)
{
	const struct options *options = question->options;

	if (!options->json && !options->csv && question_has_ended(question->client, question->pid))
		put_end(curve);
}

static int show_once(struct question *question)
{
	_cleanup_(json_object_putp) struct json_object *curve = NULL, *record = NULL;
	const struct options *options = question->options;
	double wait = isnan(options->wait) ? AWAIT_SECONDS : options->wait;
	int code = await_curve(question, wait, &curve);

	if (code == MTL_DONE && options->record)
		code = question_ask(question->client, options->socket, "Observations",
		        question_pid(question->pid), "record", &record);
	if (code == MTL_DONE && record)
		code = question_save(record, options);
	if (curve)
		find_out_end(question, curve);
	return curve ? curve_output(curve, options) ?: code : code;
}

/* Where curves are not drawn over each other, between them. */
static void print_time(bool apart)
{
	char text[NUMBER_TEXT];

	printf("%s%s\n", apart ? "\n" : "", time_format(time(NULL), text));
}

/* One update of the stream: -EAGAIN to go on, else an exit code; of these MTL_NOT_ENOUGH unsaid. */
static int show_update(struct question *question)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	struct json_object *curve;
	int code, r = client_receive(question->client, STREAM_SECONDS, question->wake_fd, &reply);

	if (r == -ECANCELED)
		return MTL_DONE;
	if (r < 0)
		return client_explain(r, question->options->socket);
	if (reply_is(&reply, "NotEnoughObservations"))
		return MTL_NOT_ENOUGH;
	if (reply.error)
		return reply_explain(&reply);
	if (!json_object_object_get_ex(reply.parameters, "curve", &curve) || !curve)
		return client_explain(-EBADMSG, question->options->socket);
	if (!question->options->json && !terminal_describe(stdout).is_terminal)
		print_time(question->shown);
	if (!question->options->json && !reply.continues)
		put_end(curve);
	code = curve_output(curve, question->options);
	question->shown |= code == MTL_DONE;
	return code == MTL_DONE && reply.continues ? -EAGAIN : code;
}

/* From the first curve until there are too few observations, the process ends, or a signal. */
static int stream(struct question *question)
{
	_cleanup_(json_object_putp) struct json_object *first = NULL;
	const struct options *options = question->options;
	int r = await_curve(question, isnan(options->wait) ? INFINITY : options->wait, &first);

	if (r != MTL_DONE)
		return r;
	r = client_send(question->client, "Curve", question_curve(question->pid, options), true);
	if (r < 0)
		return client_explain(r, options->socket);
	do
		r = show_update(question);
	while (r == -EAGAIN);
	return r == MTL_NOT_ENOUGH ? -EAGAIN : r;
}

/* Until the process ends or the user wants to stop, which is a success. */
static int watch(struct question *question)
{
	sigset_t old_mask;
	_cleanup_close_ int signal_fd = stop_signals_catch(&old_mask);
	int r;

	question->wake_fd = signal_fd;
	if (terminal_describe(stdout).is_terminal && !question->options->json)
		fputs("\033[2J", stdout);
	do
		r = stream(question);
	while (r == -EAGAIN);
	return r;
}

static int show_history(struct question *question)
{
	_cleanup_(json_object_putp) struct json_object *history = NULL;
	const struct options *options = question->options;
	int code = question_ask(question->client, options->socket, "History",
	        question_history(question->pid, options), "history", &history);

	return code == MTL_DONE ? history_output(history, options) : code;
}

static int curve_of_process(const struct options *options, const char *operand)
{
	_cleanup_(client_freep) struct client *client = NULL;
	struct question question = {.options = options, .wake_fd = -1};
	int r = curve_operand(options, operand, &question.pid);

	if (r != MTL_DONE)
		return r;
	r = client_connect(options->socket, &client);
	if (r < 0)
		return client_explain(r, options->socket);
	question.client = client;
	if (options->history)
		return show_history(&question);
	return options->watch ? watch(&question) : show_once(&question);
}

/* Of several processes: all are tracked before the first one is waited for. */
static int track_all(const struct options *options, struct client *client, int n, char **operands,
        struct question *ret_questions)
{
	int code = MTL_DONE;

	for (int i = 0; code == MTL_DONE && i < n; i++) {
		struct question *question = &ret_questions[i];

		*question = (struct question){.options = options, .client = client, .wake_fd = -1};
		code = curve_operand(options, operands[i], &question->pid);
		code = code ?: await_track(question);
	}
	return code;
}

static int show_all(const struct options *options, struct json_object *curves)
{
	size_t n = json_object_array_length(curves);
	_cleanup_free_ struct json_object **each = calloc(n, sizeof(*each));
	int code = each ? MTL_DONE : complain(MTL_FAILED, "out of memory");

	for (size_t i = 0; code == MTL_DONE && i < n; i++) {
		each[i] = json_object_array_get_idx(curves, i);
		if (!options->json && i > 0)
			putchar('\n');
		if (!options->json)
			code = curve_show(each[i], options);
	}
	return code == MTL_DONE && options->plot ? curve_picture(options->plot, each, n) : code;
}

static int curves_of_processes(const struct options *options, int n, char **operands)
{
	_cleanup_(json_object_putp) struct json_object *object = json_object_new_object();
	_cleanup_free_ struct question *questions = calloc((size_t)n, sizeof(*questions));
	_cleanup_(client_freep) struct client *client = NULL;
	struct json_object *curves = json_object_new_array();
	double wait = isnan(options->wait) ? AWAIT_SECONDS : options->wait;
	int code, r;

	if (!questions || !object || json_object_object_add(object, "curves", curves) < 0)
		return complain(MTL_FAILED, "out of memory");
	r = client_connect(options->socket, &client);
	if (r < 0)
		return client_explain(r, options->socket);
	code = track_all(options, client, n, operands, questions);
	for (int i = 0; code == MTL_DONE && i < n; i++) {
		struct json_object *curve;

		code = await_curve(&questions[i], wait, &curve);
		if (code == MTL_DONE)
			find_out_end(&questions[i], curve);
		if (code == MTL_DONE && json_object_array_add(curves, curve) < 0)
			return complain(MTL_FAILED, "out of memory");
	}
	if (code != MTL_DONE)
		return code;
	if (options->json)
		json_output(stdout, object);
	return show_all(options, curves);
}

int command_curve(const struct options *options, int n_operands, char **operands)
{
	if (options->from && n_operands > 0)
		return complain(MTL_USAGE, "give either a process number or --from FILE, not both");
	if (!options->from && n_operands == 0)
		return complain(MTL_USAGE, "give a process number, or --from FILE");
	if (n_operands > 1 &&
	        (options->csv || options->watch || options->record || options->history))
		return complain(
		        MTL_USAGE, "--csv, --watch, --record and --history are for one process");
	if (n_operands > 1)
		return curves_of_processes(options, n_operands, operands);
	return options->from ? saved_curve(options) : curve_of_process(options, operands[0]);
}

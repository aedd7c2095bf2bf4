/* SPDX-License-Identifier: MIT */
/*
 * `mtl export`: what mtld knows, for Prometheus (/metrics) and for people (the page at /).
 *
 * Two threads: that of the HTTP server (http_server.c), and this one, which sleeps until somebody
 * wants an answer newer than a second, asks mtld (export_ask.c), makes the three forms of the
 * answer and publishes them. Nothing is asked while nobody looks.
 */

#include "options.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export_ask.h"
#include "http_server.h"
#include "json_fields.h"
#include "stop_signals.h"

#define USUAL_ADDRESS "127.0.0.1:9857"
#define SWEEP_MILLISECONDS 5000

struct exporter {
	struct asker *asker;
	struct http_server *server;
	int stop_fd;
	bool is_away; /* mtld, as was said */
};

static void answers_done(struct http_answers *answers)
{
	for (size_t i = 0; i < HTTP_FORMS; i++)
		free(answers->text[i]);
}

static int json_answer(const struct export_state *state, char **ret_text, size_t *ret_length)
{
	_cleanup_(json_object_putp) struct json_object *object = NULL;
	const char *text;
	int r = export_curves(state, &object);

	if (r < 0)
		return r;
	text = json_object_to_json_string_length(
	        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, ret_length);
	*ret_text = text ? strdup(text) : NULL;
	return *ret_text ? 0 : -ENOMEM;
}

static int publish(struct http_server *server, const struct export_state *state)
{
	_cleanup_(answers_done) struct http_answers answers = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < HTTP_FORMS; i++)
		r = i == HTTP_JSON ? json_answer(state, &answers.text[i], &answers.length[i])
		                   : export_metrics(state, i == HTTP_OPENMETRICS, &answers.text[i],
		                             &answers.length[i]);
	return r ?: http_server_publish(server, &answers);
}

/* For the journal: when it changes, and at first when it is not there. */
static void say_whether_up(struct exporter *exporter, const struct export_state *state)
{
	if (state->up && exporter->is_away)
		complain(MTL_DONE, "mtld answers again");
	if (!state->up && !exporter->is_away)
		complain(MTL_DONE, "%s", state->reason);
	exporter->is_away = !state->up;
}

static int one_round(struct exporter *exporter)
{
	const struct export_state *state;

	http_server_wanted_clear(exporter->server);
	state = asker_ask(exporter->asker);
	say_whether_up(exporter, state);
	return publish(exporter->server, state);
}

/* Until it is told to stop. */
static int serve(struct exporter *exporter)
{
	struct pollfd fds[] = {
	        {.fd = exporter->stop_fd, .events = POLLIN},
	        {.fd = http_server_wanted_fd(exporter->server), .events = POLLIN},
	};
	int r = 0;

	while (r == 0) {
		if (poll(fds, 2, SWEEP_MILLISECONDS) < 0 && errno != EINTR)
			return -errno;
		http_server_sweep(exporter->server);
		if (fds[0].revents)
			return 0;
		if (fds[1].revents)
			r = one_round(exporter);
	}
	return r;
}

static void say_where(const struct http_server *server)
{
	const struct http_address *address = http_server_address(server);
	char name[HTTP_ADDRESS_TEXT];

	if (!http_address_is_loopback(address))
		complain(MTL_DONE,
		        "note: who reaches %s can read the names and the memory behaviour of all "
		        "tracked processes; there is neither a password nor encryption",
		        http_address_text(address, name));
	complain(MTL_DONE, "page http://%s/, metrics http://%s/metrics",
	        http_address_text(address, name), http_address_text(address, name));
}

static int start(struct exporter *exporter, const struct options *options)
{
	struct http_address address = options->listen;
	char own_name[HOST_NAME_MAX + 1] = "", error[256];
	int r;

	if (address.length == 0)
		http_address_parse(USUAL_ADDRESS, &address, error, sizeof(error));
	gethostname(own_name, sizeof(own_name) - 1);
	r = asker_new(options, &exporter->asker);
	if (r == -E2BIG)
		return complain(MTL_USAGE,
		        "export: --sizes lists more than %d sizes, each of which "
		        "makes series of its own for every process",
		        EXPORT_SIZES_MAX);
	if (r == 0)
		r = http_server_start(&address, own_name, options->allow_host, &exporter->server,
		        error, sizeof(error));
	else
		snprintf(error, sizeof(error), "%s", strerror(-r));
	return r < 0 ? complain(MTL_FAILED, "%s", error) : MTL_DONE;
}

int command_export(const struct options *options, int n_operands, char **operands)
{
	struct exporter exporter = {.stop_fd = -1};
	sigset_t mask;
	int code, r;

	(void)n_operands, (void)operands;
	exporter.stop_fd = stop_signals_catch(&mask);
	if (exporter.stop_fd < 0)
		return complain(
		        MTL_FAILED, "cannot wait for signals: %s", strerror(-exporter.stop_fd));
	code = start(&exporter, options);
	if (code == MTL_DONE) {
		say_where(exporter.server);
		r = serve(&exporter);
		if (r < 0)
			code = complain(MTL_FAILED, "cannot go on serving: %s", strerror(-r));
	}
	http_server_stop(exporter.server);
	asker_free(exporter.asker);
	close(exporter.stop_fd); /* the signal stays blocked: it has been obeyed */
	return code;
}

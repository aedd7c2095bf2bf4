/* SPDX-License-Identifier: MIT */
/*
 * Rounds of questions. A round happens when somebody wants an answer, one a second at most, so an
 * exporter nobody asks costs mtld nothing.
 *
 * Status and List are cheap. A curve is estimated anew for each question, out of the CPU time mtld
 * has for sampling; so questions for curves are paid for with tokens: one comes a second, at most
 * as many as there are processes are kept. Scraped every 15 s, up to 15 curves are fresh each time;
 * asked every second, as the page does, one curve is, by turns. The age of each is told.
 *
 * Questions for curves are asked `aside`: they keep no process from being forgotten.
 *
 * Which processes: those with the highest share of CPU time since they are tracked, a figure that
 * does not jump about, so that series do not come and go.
 */

#include "export_ask.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "machine.h"
#include "miss_curve.h"
#include "monotonic.h"
#include "object.h"
#include "option_values.h"
#include "question.h"

#define TOP_USUAL 32
#define PAGE_SIZES_MAX 128 /* sizes of the page's curves */

struct asker {
	const struct options *options;
	struct client *client; /* NULL: not connected */
	double tokens, tokens_at;
	double deadline; /* of this round */
	size_t top;
	struct export_state state;
};

static void process_done(struct export_process *process)
{
	json_object_put(process->process);
	json_object_put(process->curve);
	*process = (struct export_process){0};
}

static void forget_processes(struct export_state *state)
{
	for (size_t i = 0; i < state->n; i++)
		process_done(&state->processes[i]);
	free(state->processes);
	state->processes = NULL;
	state->n = state->left_out = 0;
}

void export_state_done(struct export_state *state)
{
	forget_processes(state);
	json_object_put(state->status);
	free(state->sizes.values);
	*state = (struct export_state){0};
}

/* Powers of two, the same on all machines, and what this one has. */
static int usual_sizes(struct export_state *state)
{
	static const double powers[] = {256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20,
	        16 << 20, 32 << 20, 64 << 20};
	size_t n = sizeof(powers) / sizeof(*powers);
	double *values = malloc((n + CACHE_LEVELS_MAX) * sizeof(*values));

	if (!values)
		return -ENOMEM;
	memcpy(values, powers, sizeof(powers));
	for (size_t i = 0; i < state->caches.n; i++)
		if (state->caches.levels[i].level > 1)
			values[n++] = state->caches.levels[i].size_bytes;
	state->sizes = (struct number_list){values, numbers_sort_unique(values, n)};
	return 0;
}

static int given_sizes(struct export_state *state, const struct number_list *sizes)
{
	size_t bytes = sizes->n * sizeof(*sizes->values);

	if (sizes->n > EXPORT_SIZES_MAX)
		return -E2BIG;
	state->sizes.values = malloc(bytes);
	if (!state->sizes.values)
		return -ENOMEM;
	memcpy(state->sizes.values, sizes->values, bytes);
	state->sizes.n = sizes->n;
	return 0;
}

struct asker *asker_free(struct asker *asker)
{
	if (!asker)
		return NULL;
	client_free(asker->client);
	export_state_done(&asker->state);
	free(asker);
	return NULL;
}

int asker_new(const struct options *options, struct asker **ret_asker)
{
	_cleanup_(asker_freep) struct asker *asker = calloc(1, sizeof(*asker));
	int r;

	if (!asker)
		return -ENOMEM;
	asker->options = options;
	asker->top = options->top ?: TOP_USUAL;
	asker->tokens = (double)asker->top;
	asker->tokens_at = monotonic_seconds();
	if (machine_caches(options->root, &asker->state.caches) < 0)
		asker->state.caches.n = 0;
	r = options->sizes.n ? given_sizes(&asker->state, &options->sizes)
	                     : usual_sizes(&asker->state);
	if (r < 0)
		return r;
	*ret_asker = TAKE_PTR(asker);
	return 0;
}

/* --- one question */

static int call(struct asker *asker, const char *method, struct json_object *parameters,
        struct client_reply *ret_reply)
{
	double left = asker->deadline - monotonic_seconds();
	int r = client_send(asker->client, method, parameters, false);

	return r < 0 ? r : client_receive(asker->client, fmax(left, 0.1), -1, ret_reply);
}

/* The answer to a question that cannot be refused. */
static int ask(struct asker *asker, const char *method, struct json_object **ret_answer)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	int r = call(asker, method, NULL, &reply);

	if (r < 0)
		return r;
	if (reply.error) {
		reply_sentence(&reply, asker->state.reason, sizeof(asker->state.reason));
		return -EPROTO;
	}
	*ret_answer = json_object_get(reply.parameters);
	return 0;
}

/* --- curves */

/* What the page draws and what metrics list, in one question. */
static int sizes_of(const struct asker *asker, const struct export_process *process,
        struct number_list *ret_sizes)
{
	const struct number_list *listed = &asker->state.sizes;
	const struct cache_level *last =
	        asker->state.caches.n ? cache_geometry_level(&asker->state.caches, 0) : NULL;
	double resident = object_number(process->process, "resident_bytes");
	double *values = malloc((PAGE_SIZES_MAX + listed->n) * sizeof(*values));
	size_t n;

	if (!values)
		return -ENOMEM;
	n = mtl_default_sizes(last ? last->size_bytes : 0, isnan(resident) ? 0 : resident, values,
	        PAGE_SIZES_MAX);
	memcpy(values + n, listed->values, listed->n * sizeof(*values));
	*ret_sizes = (struct number_list){values, numbers_sort_unique(values, n + listed->n)};
	return 0;
}

static struct json_object *curve_question(
        const struct asker *asker, const struct export_process *process)
{
	struct options options = *asker->options;
	struct json_object *question = NULL;

	options.windows = (struct number_list){0};
	options.reference = NAN;
	if (sizes_of(asker, process, &options.sizes) == 0)
		question = question_curve(process->pid, &options);
	free(options.sizes.values);
	if (question &&
	        json_object_object_add(question, "aside", json_object_new_boolean(true)) < 0) {
		json_object_put(question);
		return NULL;
	}
	return question;
}

static int ask_curve(struct asker *asker, struct export_process *process)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	struct json_object *question = curve_question(asker, process), *curve;
	int r = question ? call(asker, "Curve", question, &reply) : -ENOMEM;

	if (r < 0)
		return r;
	json_object_put(process->curve);
	process->curve = NULL;
	if (reply.error)
		reply_sentence(&reply, process->why, sizeof(process->why));
	else if (json_object_object_get_ex(reply.parameters, "curve", &curve) &&
	         json_object_is_type(curve, json_type_object))
		process->curve = json_object_get(curve);
	else
		return -EBADMSG;
	process->asked = monotonic_seconds();
	process->final = strcmp(object_text(process->process, "state"), "exited") == 0;
	return 0;
}

static struct export_process *oldest(struct export_state *state)
{
	struct export_process *found = NULL;

	for (size_t i = 0; i < state->n; i++) {
		struct export_process *process = &state->processes[i];

		if (!process->final && process->asked < state->now &&
		        (!found || process->asked < found->asked))
			found = process;
	}
	return found;
}

static int ask_curves(struct asker *asker)
{
	double limit = fmax(1, (double)asker->state.n);
	struct export_process *process;
	int r = 0;

	asker->tokens = fmin(limit, asker->tokens + asker->state.now - asker->tokens_at);
	asker->tokens_at = asker->state.now;
	while (r == 0 && asker->tokens >= 1 && monotonic_seconds() < asker->deadline &&
	        (process = oldest(&asker->state))) {
		asker->tokens--;
		r = ask_curve(asker, process);
	}
	return r;
}

/* --- the list */

/* Share of CPU time since it is tracked. */
static double busy(const struct export_process *process)
{
	double share = object_number(process->process, "cpu_seconds") /
	               object_number(process->process, "wall_seconds");

	return isfinite(share) ? share : 0;
}

static int by_busy(const void *left, const void *right)
{
	const struct export_process *l = left, *r = right;
	double a = busy(l), b = busy(r);

	return a != b ? (a < b) - (a > b) : (l->pid > r->pid) - (l->pid < r->pid);
}

/* What was known of the same process, tracked without a break. */
static void inherit(struct export_process *process, struct export_state *before)
{
	for (size_t i = 0; i < before->n; i++) {
		struct export_process *old = &before->processes[i];

		if (old->pid != process->pid || !old->process ||
		        object_number(old->process, "wall_seconds") >
		                object_number(process->process, "wall_seconds"))
			continue;
		process->curve = TAKE_PTR(old->curve);
		memcpy(process->why, old->why, sizeof(process->why));
		process->asked = old->asked;
		process->final = old->final;
		process->pod = old->pod;
	}
}

static bool is_listed(const struct export_process *processes, size_t n, int pid)
{
	for (size_t i = 0; i < n; i++)
		if (processes[i].pid == pid)
			return true;
	return false;
}

static int take_list(struct asker *asker, struct json_object *list)
{
	size_t most = json_object_array_length(list), n = 0;
	struct export_process *processes = calloc(most + 1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	for (size_t i = 0; i < most; i++) {
		struct json_object *object = json_object_array_get_idx(list, i);
		double pid = json_object_is_type(object, json_type_object)
		                     ? object_number(object, "pid")
		                     : NAN;

		if (!(pid >= 1 && pid <= INT_MAX) || is_listed(processes, n, (int)pid))
			continue;
		processes[n++] = (struct export_process){.pid = (int)pid,
		        .process = json_object_get(object),
		        .asked = -INFINITY,
		        .why = "not asked for yet"};
	}
	qsort(processes, n, sizeof(*processes), by_busy);
	for (size_t i = asker->top; i < n; i++)
		process_done(&processes[i]);
	most = n < asker->top ? n : asker->top;
	for (size_t i = 0; i < most; i++)
		inherit(&processes[i], &asker->state);
	forget_processes(&asker->state);
	asker->state.processes = processes;
	asker->state.n = most;
	asker->state.left_out = n - most;
	return 0;
}

/* Container runtimes move a process only before it runs what it is there for; but mtld may have
 * been quicker. */
static void look_up_pods(struct asker *asker)
{
	for (size_t i = 0; i < asker->state.n; i++) {
		struct export_process *process = &asker->state.processes[i];

		if (!*process->pod.uid)
			pod_of_process(asker->options->root, process->pid, &process->pod);
	}
}

/* --- a round */

static int ask_all(struct asker *asker)
{
	_cleanup_(json_object_putp) struct json_object *status = NULL, *answer = NULL;
	struct json_object *list;
	int r = ask(asker, "Status", &status);

	r = r ?: ask(asker, "List", &answer);
	if (r < 0)
		return r;
	if (!json_object_object_get_ex(answer, "processes", &list) ||
	        !json_object_is_type(list, json_type_array))
		return -EBADMSG;
	json_object_put(asker->state.status);
	asker->state.status = TAKE_PTR(status);
	r = take_list(asker, list);
	if (r < 0)
		return r;
	look_up_pods(asker);
	return ask_curves(asker);
}

/* A connection of an earlier round may have ended with the mtld of then. */
static int ask_over(struct asker *asker)
{
	bool kept = asker->client;
	int r = kept ? 0 : client_connect(asker->options->socket, &asker->client);

	r = r ?: ask_all(asker);
	if (r < 0 && r != -EPROTO)
		asker->client = client_free(asker->client);
	return kept && (r == -ECONNRESET || r == -EPIPE) ? ask_over(asker) : r;
}

const struct export_state *asker_ask(struct asker *asker)
{
	struct export_state *state = &asker->state;
	int r;

	state->now = monotonic_seconds();
	asker->deadline = state->now + ASK_SECONDS;
	*state->reason = '\0';
	r = ask_over(asker);
	state->up = r == 0;
	if (r < 0 && r != -EPROTO) {
		complain_into(state->reason, sizeof(state->reason));
		client_explain(r, asker->options->socket);
		complain_into(NULL, 0);
	}
	if (r < 0) {
		forget_processes(state);
		json_object_put(state->status);
		state->status = NULL;
	}
	return state;
}

/* SPDX-License-Identifier: MIT */
/*
 * `mtl trace FILE|-`: the miss-ratio curve of a recorded trace, and what else follows from it.
 * Needs neither mtld nor root.
 *
 * Reading order: this file, trace_session.c (a file into engines), trace_pass.c (accesses into
 * lines), trace_engine.c and trace_methods.c (tables of what takes lines and makes curves of them),
 * trace_caches.c, trace_curve.c and trace_report.c (results); --emit is trace_emit.c and
 * trace_emissions.c, --compare trace_compare.c. The readers begin in trace_reader.c.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "curve_report.h"
#include "json_fields.h"
#include "options.h"
#include "trace_compare.h"
#include "trace_curve.h"
#include "trace_session.h"

/* The method's engine, then for each cache its simulator and its profile. */
static struct engine_wish *make_wishes(const struct trace_session *session,
        const struct trace_method *method, const struct trace_cache_list *list)
{
	struct engine_wish *wishes = calloc(1 + 2 * list->n, sizeof(*wishes));

	if (!wishes)
		return NULL;
	wishes[0] = trace_method_wish(method, session->facts.line_bytes);
	for (size_t i = 0; i < list->n; i++) {
		wishes[1 + 2 * i] = trace_cache_wish(&list->caches[i]);
		wishes[2 + 2 * i] = trace_cache_profile_wish(&list->caches[i]);
	}
	return wishes;
}

/* Exact distances are of lines of one size. */
static struct trace_engine *stack_for(
        const struct trace_session *session, const struct trace_cache *cache)
{
	struct trace_engine *engine = trace_pass_engine(session->pass, 0);

	return engine->wish.type == ENGINE_STACK && engine->wish.line_bytes == cache->line_bytes
	               ? engine
	               : NULL;
}

static int take_caches(const struct trace_session *session, const struct trace_cache_list *list,
        struct trace_curve *curve)
{
	int r = 0;

	if (!list->n)
		return 0;
	curve->caches = calloc(list->n, sizeof(*curve->caches));
	if (!curve->caches)
		return -ENOMEM;
	curve->n_caches = list->n;
	for (size_t i = 0; r == 0 && i < list->n; i++)
		r = trace_cache_result(&list->caches[i],
		        trace_pass_engine(session->pass, 1 + 2 * i),
		        trace_pass_engine(session->pass, 2 + 2 * i),
		        stack_for(session, &list->caches[i]), &curve->caches[i]);
	return r;
}

/* The curve at the sizes asked for; without any, a curve for programs has more of them where it
 * falls. */
static int curve_at_sizes(const struct trace_session *session, const struct trace_method *method,
        struct trace_curve *ret_curve)
{
	const struct options *options = session->options;
	struct trace_engine *engine = trace_pass_engine(session->pass, 0);
	_cleanup_(trace_curve_done) struct trace_curve curve = {0};
	struct number_list sizes = {0};
	int r = trace_sizes(&session->facts, &options->sizes, &sizes);

	r = r ?: trace_curve_new(&session->facts, method, engine, &sizes, &curve);
	free(sizes.values);
	if (r == 0 && options->json && !options->sizes.n) {
		r = trace_curve_falls(&curve, &sizes);
		if (r == 0) {
			r = trace_curve_new(&session->facts, method, engine, &sizes, ret_curve);
			free(sizes.values);
		}
		return r;
	}
	if (r < 0)
		return r;
	*ret_curve = curve;
	curve = (struct trace_curve){0};
	return 0;
}

static int take_curve(const struct trace_session *session, const struct trace_method *method,
        struct trace_curve *ret_curve)
{
	_cleanup_(trace_curve_done) struct trace_curve curve = {0};
	int r = curve_at_sizes(session, method, &curve);

	r = r ?: take_caches(session, &session->options->caches, &curve);
	if (r < 0)
		return r;
	*ret_curve = curve;
	curve = (struct trace_curve){0};
	return 0;
}

static int write_json(const struct trace_curve *curve)
{
	_cleanup_json_ struct json_object *object = NULL;
	int r = trace_curve_to_json(curve, &object);

	if (r == 0)
		json_output(stdout, object);
	return r;
}

static int write_curve(const struct options *options, const struct trace_curve *curve)
{
	struct terminal terminal = terminal_describe(stdout);
	int r = 0;

	if (options->json)
		r = write_json(curve);
	else if (options->csv)
		trace_curve_csv(stdout, curve);
	else
		r = trace_curve_report(stdout, curve, &terminal);
	if (r < 0 && ferror(stdout))
		return MTL_FAILED;
	return r < 0 ? complain(MTL_FAILED, "cannot show the curve: %s", strerror(-r)) : MTL_DONE;
}

static int curve_of_trace(const struct options *options, const char *path)
{
	_cleanup_(trace_session_done) struct trace_session session = {0};
	_cleanup_(trace_curve_done) struct trace_curve curve = {0};
	struct trace_method method = trace_method_chosen(&options->method);
	const struct trace_curve *drawn[] = {&curve};
	struct engine_wish *wishes;
	int code = trace_session_open(options, path, &session), r;

	if (code != MTL_DONE)
		return code;
	if (options->caches.machine)
		complain(MTL_DONE, "note: %s", options->caches.note);
	wishes = make_wishes(&session, &method, &options->caches);
	code = wishes ? trace_session_run(&session, wishes, 1 + 2 * options->caches.n)
	              : complain(MTL_FAILED, "out of memory");
	free(wishes);
	if (code != MTL_DONE)
		return code;
	r = take_curve(&session, &method, &curve);
	if (r == -ENODATA)
		return complain(MTL_FAILED,
		        "%s has sampled nothing of %s: it is too small, or the share is",
		        method.name, session.facts.name);
	if (r < 0)
		return complain(MTL_FAILED, "cannot make a curve of %s: %s", session.facts.name,
		        strerror(-r));
	if (options->plot)
		code = trace_curves_plot(options->plot, drawn, 1);
	if (options->json || options->csv)
		trace_say_note(&session.facts);
	return code == MTL_DONE ? write_curve(options, &curve) : code;
}

int command_trace(const struct options *options, int n_operands, char **operands)
{
	(void)n_operands;
	if (options->windows.n && !options->emission)
		return complain(MTL_USAGE, "trace: --windows goes with --emit footprint");
	if (options->emission)
		return trace_emit(options, operands[0]);
	if (options->compare)
		return trace_compare(options, operands[0]);
	return curve_of_trace(options, operands[0]);
}

/* SPDX-License-Identifier: MIT */
/*
 * Share and Partition: curves of tracked processes, and curves that come with the call, to what lib
 * says of them in one cache. The answers are the objects of `mtl share` and `mtl partition`, made
 * by the same functions. What divides a cache is not written anywhere, and masks are not named:
 * that is for who applies it.
 *
 * Bounds keep every turn of the loop below 20 ms: Share answers with every pair (32 programs of 500
 * points: 7 ms), clusters try every arrangement (6 in 64 ways: 9 to 15 ms), a division of 64 ways
 * among 64 groups takes 2 ms. Estimating a process's curve takes 13 ms with all the observations it
 * may have, so there is one a turn (cache_work.h).
 */

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "cache_work.h"
#include "cleanup.h"
#include "division.h"
#include "method.h"
#include "mtl.h"
#include "share.h"

DEFINE_CLEANUP(struct json_object, json_object_put)
DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

#define SHARE_MAX 32
#define PARTITION_MAX 64
#define CLUSTERS_MAX 6

static int invalid(struct reply *ret_reply, const char *parameter, const char *reason)
{
	return reply_make(ret_reply, "io.mtld.InvalidParameter", "parameter", json_text(parameter),
	        "reason", json_text(reason), NULL);
}

static int named(struct reply *ret_reply, const char *error, const char *reason)
{
	return reply_make(ret_reply, error, "reason", json_text(reason), NULL);
}

/* --- the curves */

static int live_curve(const struct methods_context *context, pid_t pid,
        const struct cache_work *work, struct json_object **ret_curve)
{
	const struct mtl_estimate_options options = {
	        .sizes = work->sizes, .n_sizes = work->n_sizes};
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	struct mtl_curve_origin origin;
	int r = manager_curve(context->manager, pid, &options, &curve, &origin);

	manager_asked(context->manager, pid);
	if (r < 0)
		return r;
	text_clean(origin.comm);
	return mtl_curve_to_json(curve, &origin, ret_curve);
}

/* 0: taken; 1: the reply says why not. */
static int take_live(const struct methods_context *context, const struct peer *peer,
        struct cache_work *work, struct reply *ret_reply)
{
	_cleanup_(json_object_putp) struct json_object *curve = NULL;
	pid_t pid = cache_work_wants(work);
	struct parameter_problem problem;
	struct manager_process process;
	int r = method_find_process(context, peer, pid, &process, ret_reply);

	if (r)
		return r;
	r = live_curve(context, pid, work, &curve);
	if (r == -EINVAL)
		r = invalid(ret_reply, "size", "no curve can be given at sizes of such a cache");
	else if (r < 0)
		r = method_refused(context, ret_reply, pid, r);
	else if (cache_work_take(work, curve, &problem) < 0)
		r = named(ret_reply, "io.mtld.Failed", problem.reason);
	else
		return 0;
	return r < 0 ? r : 1;
}

static void free_work(void *work)
{
	cache_work_free(work);
}

static int begin(const struct arguments *arguments, const struct demand_cache *cache, size_t most,
        struct reply *ret_reply)
{
	struct parameter_problem problem;
	struct cache_work *work;
	int r = cache_work_new(arguments, cache, most, &work, &problem);

	if (r < 0)
		return method_bad_parameter(&problem, r, ret_reply) ?: 1;
	arguments->call->work = work;
	arguments->call->work_free = free_work;
	ret_reply->unfinished = true;
	return 1;
}

/* One step towards all curves. 0: they are there; 1: the reply has an error or is unfinished. */
static int gather(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, const struct demand_cache *cache, size_t most,
        struct reply *ret_reply)
{
	struct cache_work *work = arguments->call->work;
	struct parameter_problem problem;
	int r;

	if (!work)
		return begin(arguments, cache, most, ret_reply);
	if (cache_work_wants(work)) {
		r = take_live(context, peer, work, ret_reply);
		ret_reply->unfinished = r == 0;
		return r ?: 1;
	}
	r = cache_work_check(work, &problem);
	return r < 0 ? method_bad_parameter(&problem, r, ret_reply) ?: 1 : 0;
}

/* --- Share */

int method_share(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	_cleanup_(mtl_share_done) struct share share = {0};
	struct demand_cache cache = {arguments->size, 1};
	const struct cache_work *work;
	int r = gather(context, peer, arguments, &cache, SHARE_MAX, ret_reply);

	if (r)
		return r < 0 ? r : 0;
	work = arguments->call->work;
	r = mtl_share_new(&work->list, cache.bytes, &share);
	return r ?: mtl_share_to_json(&share, &ret_reply->parameters);
}

/* --- Partition */

/* What cannot be, whatever the curves say. 0: it can; 1: the reply says why not. */
static int check_terms(
        const struct arguments *arguments, struct division_terms *terms, struct reply *ret_reply)
{
	size_t n = arguments->pids.n +
	           (arguments->curves ? json_object_array_length(arguments->curves) : 0);
	char reason[128];
	int r;

	if (arguments->objective &&
	        mtl_objective_from_name(arguments->objective, &terms->objective) < 0)
		r = invalid(ret_reply, "objective", "must be \"total\", \"fair\" or \"guarantee\"");
	else if (fmod(terms->cache.bytes, terms->cache.ways) != 0)
		r = invalid(ret_reply, "size", "must be a multiple of ways");
	else if (terms->clusters && n > CLUSTERS_MAX) {
		snprintf(reason, sizeof(reason),
		        "every arrangement is tried: at most %d pids and curves", CLUSTERS_MAX);
		r = invalid(ret_reply, "clusters", reason);
	} else if (!terms->clusters && n > terms->cache.ways / terms->least) {
		snprintf(reason, sizeof(reason), "%zu groups cannot have %u each", n, terms->least);
		r = invalid(ret_reply, "ways", reason);
	} else
		return 0;
	return r < 0 ? r : 1;
}

/* Why there is no division. */
static int no_division(
        const struct division_terms *terms, int r, const char *reason, struct reply *ret_reply)
{
	if (r == -ENODATA)
		return named(ret_reply, "io.mtld.TooUncertain", reason);
	if (r == -ENOSPC)
		return invalid(ret_reply,
		        terms->objective == MTL_GUARANTEE ? "objective" : "least_ways", reason);
	return r == -ENOMEM ? r : named(ret_reply, "io.mtld.Failed", reason);
}

static int divide(
        const struct cache_work *work, const struct division_terms *terms, struct reply *ret_reply)
{
	_cleanup_(mtl_division_done) struct division division = {0};
	char reason[1024];
	int r = mtl_division_new(&work->list, terms, &division, reason, sizeof(reason));

	r = r ?: mtl_division_certain(&division, reason, sizeof(reason));
	return r < 0 ? no_division(terms, r, reason, ret_reply)
	             : mtl_division_to_json(&division, &ret_reply->parameters);
}

int method_partition(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	double weights[PARTITION_MAX];
	struct division_terms terms = {.cache = {arguments->size, arguments->ways},
	        .clusters = arguments->clusters,
	        .least = arguments->least_ways ?: 1,
	        .weights = weights};
	struct parameter_problem problem;
	const struct cache_work *work;
	int r = check_terms(arguments, &terms, ret_reply);

	r = r ?: gather(context, peer, arguments, &terms.cache, PARTITION_MAX, ret_reply);
	if (r)
		return r < 0 ? r : 0;
	work = arguments->call->work;
	r = cache_work_weights(work, arguments->weights, weights, &problem);
	return r < 0 ? method_bad_parameter(&problem, r, ret_reply)
	             : divide(work, &terms, ret_reply);
}

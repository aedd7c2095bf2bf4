/* SPDX-License-Identifier: MIT */
/*
 * A question about a cache and those who are in it, while their curves are gathered.
 *
 * Curves that come with the call are strangers' words. A message is bounded (json_message.h), so is
 * what it can hold; what a curve may be is judged by lib, number by number, before anything is
 * computed from it, and the peer is told the place.
 *
 * Curves of tracked processes have to be estimated, which takes as long as answering Curve: one a
 * turn, so that no client delays the others by asking about many.
 */

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cache_work.h"
#include "cleanup.h"

DEFINE_CLEANUP(struct cache_work, cache_work_free)

#define NAME_MAX_BYTES 128
#define POINTS_MAX 512
#define WEIGHT_LEAST 1e-12
#define WEIGHT_MOST 1e12

static const struct parameter curve_members[] = {
        {"name", parameter_string, offsetof(struct arguments, name), true, 0, 0},
        {"curve", parameter_object, offsetof(struct arguments, curve), true, 0, 0},
};

static const struct parameter weight_members[] = {
        {"name", parameter_string, offsetof(struct arguments, name), true, 0, 0},
        {"weight", parameter_number, offsetof(struct arguments, weight), true, WEIGHT_LEAST,
                WEIGHT_MOST},
};

static int problem_at(struct parameter_problem *problem, const char *array, size_t i,
        const char *member, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The problem of "array[i].member". -ERANGE. */
static int problem_at(struct parameter_problem *problem, const char *array, size_t i,
        const char *member, const char *format, ...)
{
	va_list arguments;

	snprintf(problem->name, sizeof(problem->name), "%s[%zu].%s", array, i, member);
	va_start(arguments, format);
	vsnprintf(problem->reason, sizeof(problem->reason), format, arguments);
	va_end(arguments);
	return -ERANGE;
}

/* The i'th object of an array by its table. */
static int read_entry(struct json_object *array, const char *name, size_t i,
        const struct parameter members[2], struct arguments *ret_entry,
        struct parameter_problem *ret_problem)
{
	struct parameter_problem inner;
	int r;

	memset(ret_entry, 0, sizeof(*ret_entry));
	r = parameters_read(members, 2, json_object_array_get_idx(array, i), ret_entry, &inner);
	if (r == -EBADMSG || r == -ERANGE)
		problem_at(ret_problem, name, i, inner.name, "%s", inner.reason);
	return r;
}

static bool is_taken(const struct demand_list *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list->operands[i].name, name) == 0)
			return true;
	return false;
}

/* More numbers than a curve needs are more than it may have. */
static int check_length(struct json_object *curve, const char *member, size_t i,
        struct parameter_problem *ret_problem)
{
	struct json_object *array = json_object_object_get(curve, member);
	size_t n =
	        json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;

	return n <= POINTS_MAX
	               ? 0
	               : problem_at(ret_problem, "curves", i, "curve",
	                         "%s: has %zu entries, more than %d", member, n, POINTS_MAX);
}

static int read_curve(struct cache_work *work, const struct arguments *entry, size_t i, size_t at,
        struct parameter_problem *ret_problem)
{
	struct demand_operand *operand = &work->list.operands[at];
	char reason[sizeof(ret_problem->reason)];
	int r;

	if (!*entry->name || strlen(entry->name) > NAME_MAX_BYTES)
		return problem_at(ret_problem, "curves", i, "name", "must have 1 to %d bytes",
		        NAME_MAX_BYTES);
	if (is_taken(&work->list, at, entry->name))
		return problem_at(ret_problem, "curves", i, "name",
		        "is another one's: name each program once");
	operand->name = strdup(entry->name);
	if (!operand->name)
		return -ENOMEM;
	r = check_length(entry->curve, "points", i, ret_problem);
	r = r ?: check_length(entry->curve, "footprint", i, ret_problem);
	if (r < 0)
		return r;
	r = mtl_demand_operand_read(entry->curve, work->miss_cost, operand, reason, sizeof(reason));
	return r == -EBADMSG ? problem_at(ret_problem, "curves", i, "curve", "%s", reason) : r;
}

static int read_curves(
        struct cache_work *work, struct json_object *curves, struct parameter_problem *ret_problem)
{
	size_t n = curves ? json_object_array_length(curves) : 0, before = work->list.n - n;
	struct arguments entry;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		r = read_entry(curves, "curves", i, curve_members, &entry, ret_problem);
		r = r ?: read_curve(work, &entry, i, before + i, ret_problem);
	}
	return r;
}

static int name_pids(
        struct cache_work *work, const struct pids *pids, struct parameter_problem *ret_problem)
{
	for (size_t i = 0; i < pids->n; i++) {
		struct demand_operand *operand = &work->list.operands[i];
		char name[16];

		snprintf(name, sizeof(name), "%d", pids->values[i]);
		if (is_taken(&work->list, i, name)) {
			problem_at(ret_problem, "pids", i, "", "is there twice");
			snprintf(ret_problem->name, sizeof(ret_problem->name), "pids[%zu]", i);
			return -ERANGE;
		}
		operand->kind = DEMAND_PROCESS;
		operand->pid = pids->values[i];
		operand->name = strdup(name);
		if (!operand->name)
			return -ENOMEM;
	}
	return 0;
}

int cache_work_new(const struct arguments *arguments, const struct demand_cache *cache, size_t most,
        struct cache_work **ret_work, struct parameter_problem *ret_problem)
{
	_cleanup_(cache_work_freep) struct cache_work *work = calloc(1, sizeof(*work));
	size_t n = arguments->pids.n;
	int r;

	n += arguments->curves ? json_object_array_length(arguments->curves) : 0;
	if (n < 2 || n > most) {
		snprintf(ret_problem->name, sizeof(ret_problem->name), "pids");
		snprintf(ret_problem->reason, sizeof(ret_problem->reason),
		        "pids and curves together must be 2 to %zu", most);
		return -ERANGE;
	}
	if (!work)
		return -ENOMEM;
	work->miss_cost = arguments->miss_cost > 0 ? arguments->miss_cost : NAN;
	work->n_sizes = mtl_demand_sizes(cache, work->sizes);
	r = mtl_demand_list_new(n, &work->list);
	r = r ?: name_pids(work, &arguments->pids, ret_problem);
	r = r ?: read_curves(work, arguments->curves, ret_problem);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		work->list.demands[i] = work->list.operands[i].demand;
	*ret_work = TAKE_PTR(work);
	return 0;
}

struct cache_work *cache_work_free(struct cache_work *work)
{
	if (work)
		mtl_demand_list_done(&work->list);
	free(work);
	return NULL;
}

pid_t cache_work_wants(const struct cache_work *work)
{
	return work->next < work->list.n ? work->list.operands[work->next].pid : 0;
}

int cache_work_take(
        struct cache_work *work, struct json_object *curve, struct parameter_problem *ret_problem)
{
	struct demand_operand *operand = &work->list.operands[work->next];
	char reason[160];
	int r = mtl_demand_operand_read(curve, work->miss_cost, operand, reason, sizeof(reason));

	if (r == -EBADMSG)
		snprintf(ret_problem->reason, sizeof(ret_problem->reason),
		        "the curve of process %d is of no use here: %s", operand->pid, reason);
	if (r < 0)
		return r;
	work->list.demands[work->next++] = operand->demand;
	return 0;
}

int cache_work_check(const struct cache_work *work, struct parameter_problem *ret_problem)
{
	snprintf(ret_problem->name, sizeof(ret_problem->name), "curves");
	return mtl_demand_list_check(
	               &work->list, ret_problem->reason, sizeof(ret_problem->reason)) < 0
	               ? -ERANGE
	               : 0;
}

static int take_weight(const struct cache_work *work, const struct arguments *entry, size_t i,
        double *ret_weights, struct parameter_problem *ret_problem)
{
	size_t at = 0;

	while (at < work->list.n && strcmp(work->list.operands[at].name, entry->name) != 0)
		at++;
	if (at == work->list.n)
		return problem_at(ret_problem, "weights", i, "name",
		        "no group is called so: pids by their number, curves by their name");
	if (ret_weights[at] > 0)
		return problem_at(ret_problem, "weights", i, "name", "is there twice");
	ret_weights[at] = entry->weight;
	return 0;
}

int cache_work_weights(const struct cache_work *work, struct json_object *weights,
        double *ret_weights, struct parameter_problem *ret_problem)
{
	size_t n = weights ? json_object_array_length(weights) : 0;
	struct arguments entry;
	int r = 0;

	for (size_t i = 0; i < work->list.n; i++)
		ret_weights[i] = 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = read_entry(weights, "weights", i, weight_members, &entry, ret_problem);
		r = r ?: take_weight(work, &entry, i, ret_weights, ret_problem);
	}
	for (size_t i = 0; i < work->list.n; i++)
		if (ret_weights[i] == 0)
			ret_weights[i] = 1;
	return r;
}

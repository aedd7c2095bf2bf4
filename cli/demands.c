/* SPDX-License-Identifier: MIT */
/*
 * Operands as demands: saved curves, and what mtld knows of processes and groups of them.
 *
 * All processes are tracked before the first is waited for, so that observations come in at the
 * same time.
 */

#include "demands.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "await_curve.h"
#include "cleanup.h"
#include "demand_group.h"
#include "json_file.h"
#include "operand.h"
#include "size.h"
#include "terminal.h"

/* What is being made of operands. */
struct loading {
	const struct options *options;
	struct operand_list operands;
	struct demand_list list;
	struct demand_group *groups; /* empty where the operand is not one */
};

static void loading_done(struct loading *loading)
{
	for (size_t i = 0; loading->groups && i < loading->operands.n; i++)
		demand_group_done(&loading->groups[i]);
	free(loading->groups);
	mtl_demand_list_done(&loading->list);
	operands_done(&loading->operands);
}

static bool is_group(const struct operand *operand)
{
	return operand->kind == DEMAND_CGROUP || operand->kind == DEMAND_RESCTRL;
}

/* --- processes */

/* The tasks of the default group are the rest: not those that other operands have. */
static bool is_rest(const struct operand *operand)
{
	return operand->kind == DEMAND_RESCTRL && !*operand->path;
}

static struct pid_set set_of(const struct demand_operand *operand)
{
	return (struct pid_set){operand->pids, operand->n_pids};
}

static void take_out(struct demand_operand *from, const struct pid_set *set)
{
	size_t kept = 0;

	for (size_t i = 0; i < from->n_pids; i++)
		if (!pid_set_has(set, from->pids[i]))
			from->pids[kept++] = from->pids[i];
	from->n_pids = kept;
}

static int check_apart(const struct demand_operand *one, const struct demand_operand *other)
{
	const struct pid_set set = set_of(other);
	char names[2][NAME_SHOWN];

	for (size_t i = 0; i < one->n_pids; i++)
		if (pid_set_has(&set, one->pids[i]))
			return complain(MTL_USAGE,
			        "process %d is in %s and in %s: a process can be in one of them "
			        "only; name groups that do not overlap",
			        one->pids[i], show_name(one->name, names[0], NAME_SHOWN),
			        show_name(other->name, names[1], NAME_SHOWN));
	return MTL_DONE;
}

static int separate(struct loading *loading)
{
	struct demand_operand *operands = loading->list.operands;
	int code = MTL_DONE;

	for (size_t i = 0; i < loading->list.n; i++) {
		for (size_t j = 0; code == MTL_DONE && j < loading->list.n; j++) {
			const struct pid_set set = set_of(&operands[j]);

			if (j == i)
				continue;
			if (is_rest(&loading->operands.operands[i]))
				take_out(&operands[i], &set);
			else if (j < i && !is_rest(&loading->operands.operands[j]))
				code = check_apart(&operands[j], &operands[i]);
		}
	}
	return code;
}

static int find_processes(struct loading *loading)
{
	size_t n = loading->operands.n;
	_cleanup_free_ struct operand_members *members = calloc(n, sizeof(*members));
	int code = members ? MTL_DONE : complain(MTL_FAILED, "out of memory");

	for (size_t i = 0; code == MTL_DONE && i < n; i++) {
		struct demand_operand *operand = &loading->list.operands[i];

		code = operand_processes(
		        loading->options, &loading->operands.operands[i], &members[i]);
		operand->pids = members[i].set.pids;
		operand->n_pids = members[i].set.n;
		members[i].set = (struct pid_set){0};
	}
	code = code ?: separate(loading);
	for (size_t i = 0; members && i < n; i++) {
		if (code == MTL_DONE && is_group(&loading->operands.operands[i]) &&
		        demand_group_new(loading->options->root, &loading->list.operands[i],
		                &members[i], &loading->groups[i]) < 0)
			code = complain(MTL_FAILED, "out of memory");
		operand_members_done(&members[i]);
	}
	return code;
}

/* --- the curves */

/* Takes a curve into an operand. */
static int take_curve(struct json_object *curve, const struct options *options, const char *source,
        struct demand_operand *operand)
{
	char error[256] = "", shown[NAME_SHOWN];
	int r = mtl_demand_operand_read(curve, options->miss_cost, operand, error, sizeof(error));

	show_name(source, shown, sizeof(shown));
	if (r == -EBADMSG)
		return complain(MTL_FAILED,
		        "%s is not a curve of `mtl curve --json` or `mtl trace --json`: %s", shown,
		        error);
	return r < 0 ? complain(MTL_FAILED, "cannot use %s: %s", shown, strerror(-r)) : MTL_DONE;
}

/* A pipe gives what it has once, and may keep whoever opens it waiting, for signals too. */
static bool is_pipe(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static int load_file(
        const struct options *options, const char *path, struct demand_operand *operand)
{
	_cleanup_(json_object_putp) struct json_object *object = NULL;
	char error[256], shown[NAME_SHOWN];
	int r;

	show_name(path, shown, sizeof(shown));
	if (options->watch && is_pipe(path))
		return complain(MTL_USAGE,
		        "partition: --watch reads files again in each round, and %s is none that "
		        "can be read again",
		        shown);
	r = json_file_read(path, &object, error, sizeof(error));
	if (r == -EBADMSG)
		return complain(MTL_FAILED,
		        "%s is not a curve of `mtl curve --json` or `mtl trace --json`: %s", shown,
		        error);
	if (r < 0)
		return complain(MTL_FAILED, "cannot read %s: %s%s", shown, error,
		        r == -ENOENT || r == -EISDIR ? "; nor is there a control group of that name"
		                                     : "");
	return take_curve(object, options, path, operand);
}

/* --- what mtld knows */

static int ask_process(const struct loading *loading, struct client *client, size_t i, bool track)
{
	const struct options *options = loading->options;
	_cleanup_(json_object_putp) struct json_object *curve = NULL;
	struct demand_operand *operand = &loading->list.operands[i];
	struct question question = {options, client, operand->pid, -1, false, false, false};
	double wait = isnan(options->wait) ? AWAIT_SECONDS : options->wait;
	int code = track ? await_track(&question) : await_curve(&question, wait, &curve);

	if (curve)
		return take_curve(curve, options, operand->name, operand);
	return code == MTL_DONE ? code : complain(code, "this was process %d", operand->pid);
}

static int ask_group(const struct loading *loading, struct client *client, size_t i, bool track)
{
	const struct options *options = loading->options;
	struct demand_operand *operand = &loading->list.operands[i];
	struct demand_group *group = &loading->groups[i];
	double wait = isnan(options->wait) ? AWAIT_SECONDS : options->wait;
	char shown[NAME_SHOWN];
	size_t tracked;
	int code;

	if (!track)
		return members_await(client, options, wait, group->members, group->n)
		               ?: demand_group_settle(options, group, operand);
	code = members_track(client, options, group->members, group->n, &tracked);
	if (code == MTL_DONE && tracked)
		complain(MTL_DONE,
		        "tracking %zu process%s of %s from now on, until %d s after the last "
		        "question",
		        tracked, tracked == 1 ? "" : "es",
		        show_name(operand->name, shown, sizeof(shown)),
		        await_idle_seconds(options));
	return code;
}

/* All are tracked, then all are waited for. */
static int ask_all(const struct loading *loading, struct client *client)
{
	int code = MTL_DONE;

	for (int round = 0; round < 2; round++)
		for (size_t i = 0; code == MTL_DONE && i < loading->list.n; i++)
			if (is_group(&loading->operands.operands[i]))
				code = ask_group(loading, client, i, round == 0);
			else if (loading->list.operands[i].pid)
				code = ask_process(loading, client, i, round == 0);
	return code;
}

static int load_processes(const struct loading *loading, const struct demand_cache *cache)
{
	_cleanup_(client_freep) struct client *client = NULL;
	struct options asking = *loading->options;
	struct loading question = *loading;
	double sizes[DEMAND_SIZES_MAX];
	int r = client_connect(asking.socket, &client);

	if (r < 0)
		return client_explain(r, asking.socket);
	asking.windows = (struct number_list){0};
	asking.sizes = (struct number_list){sizes, mtl_demand_sizes(cache, sizes)};
	question.options = &asking;
	return ask_all(&question, client);
}

/* --- all of them */

static int check_alike(const struct demand_list *list)
{
	char error[256];

	return mtl_demand_list_check(list, error, sizeof(error)) < 0
	               ? complain(MTL_USAGE, "%s", error)
	               : MTL_DONE;
}

static void name_operands(struct loading *loading)
{
	for (size_t i = 0; i < loading->list.n; i++) {
		struct operand *from = &loading->operands.operands[i];
		struct demand_operand *operand = &loading->list.operands[i];

		operand->name = TAKE_PTR(from->name);
		operand->kind = from->kind;
		operand->pid = from->pid;
	}
}

static int load(struct loading *loading, const struct demand_cache *cache)
{
	struct demand_list *list = &loading->list;
	bool live = false;
	int code;

	name_operands(loading);
	code = find_processes(loading);

	for (size_t i = 0; code == MTL_DONE && i < list->n; i++) {
		live |= list->operands[i].kind != DEMAND_FILE;
		if (list->operands[i].kind == DEMAND_FILE)
			code = load_file(loading->options, loading->operands.operands[i].path,
			        &list->operands[i]);
	}
	if (code == MTL_DONE && live)
		code = load_processes(loading, cache);
	for (size_t i = 0; code == MTL_DONE && i < list->n; i++)
		list->demands[i] = list->operands[i].demand;
	return code == MTL_DONE ? check_alike(list) : code;
}

int demands_check(
        const char *command, const struct options *options, int n, char **operands, bool divided)
{
	_cleanup_(operands_done) struct operand_list list = {0};
	int code = operands_new(command, options, n, operands, &list);

	if (code == MTL_DONE && divided)
		code = operands_check_modes(options, &list);
	return code == MTL_DONE && options->apply ? operands_check_apply(&list) : code;
}

int demands_load(const struct options *options, int n, char **operands,
        const struct demand_cache *cache, struct demand_list *ret_list)
{
	_cleanup_(loading_done) struct loading loading = {.options = options};
	int code = operands_new("it", options, n, operands, &loading.operands);

	if (code != MTL_DONE)
		return code;
	loading.groups = calloc((size_t)n, sizeof(*loading.groups));
	if (!loading.groups || mtl_demand_list_new((size_t)n, &loading.list) < 0)
		return complain(MTL_FAILED, "out of memory");
	code = load(&loading, cache);
	if (code != MTL_DONE)
		return code;
	*ret_list = loading.list;
	loading.list = (struct demand_list){0};
	return MTL_DONE;
}

void demand_cell(const struct demand_operand *operand, char ret_text[DEMAND_CELL])
{
	char name[DEMAND_CELL / 2], comm[DEMAND_CELL / 2];

	show_name(operand->comm, comm, sizeof(comm));
	snprintf(ret_text, DEMAND_CELL, "%s%s%s", show_name(operand->name, name, sizeof(name)),
	        operand->n_pids ? " " : "", operand->n_pids ? comm : "");
}

char *demand_size_format(const struct demand_list *list, double size, char *ret_text)
{
	return (list->operands[0].is_data ? count_format : size_format)(size, ret_text);
}

void demand_csv_name(FILE *file, const struct demand_operand *operand)
{
	fputc('"', file);
	for (const char *c = operand->name; *c; c++)
		fprintf(file, *c == '"' ? "\"\"" : "%c", *c);
	fputc('"', file);
}

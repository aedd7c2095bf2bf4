/* SPDX-License-Identifier: MIT */
/*
 * Operands that are curves: what lib makes demands of, from files and from mtld.
 *
 * All processes are tracked before the first is waited for, so that observations come in at the
 * same time.
 */

#include "demands.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "await_curve.h"
#include "cleanup.h"
#include "json_file.h"
#include "size.h"
#include "terminal.h"

#define ENDING ".json"

bool demands_is_pid(const char *operand)
{
	return *operand && operand[strspn(operand, "0123456789")] == '\0';
}

/* a/b.json -> b; a name that is nothing but the ending stays. */
static char *name_of(const char *operand)
{
	const char *slash = strrchr(operand, '/'), *base = slash && slash[1] ? slash + 1 : operand;
	size_t length = strlen(base), ending = strlen(ENDING);

	if (length > ending && strcmp(base + length - ending, ENDING) == 0)
		length -= ending;
	return strndup(base, length);
}

static int check_names(const char *command, int n, char *const *names)
{
	char shown[NAME_SHOWN];

	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			if (strcmp(names[i], names[j]) == 0)
				return complain(MTL_USAGE,
				        "%s: two operands are called %s: name each program once, "
				        "files by different names",
				        command, show_name(names[i], shown, sizeof(shown)));
	return MTL_DONE;
}

int demands_check(const char *command, int n, char **operands)
{
	char **names = calloc((size_t)n + 1, sizeof(*names));
	bool complete = names;
	int code;

	for (int i = 0; names && i < n; i++) {
		names[i] = name_of(operands[i]);
		complete = complete && names[i];
	}
	if (!complete)
		code = complain(MTL_FAILED, "out of memory");
	else if (n < 2)
		code = complain(MTL_USAGE,
		        "%s: one program has a cache to itself: name two or more, as PID or FILE",
		        command);
	else
		code = check_names(command, n, names);
	for (int i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
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

static int load_file(
        const struct options *options, const char *path, struct demand_operand *operand)
{
	_cleanup_(json_object_putp) struct json_object *object = NULL;
	char error[256], shown[NAME_SHOWN];
	int r = json_file_read(path, &object, error, sizeof(error));

	show_name(path, shown, sizeof(shown));
	if (r == -EBADMSG)
		return complain(MTL_FAILED,
		        "%s is not a curve of `mtl curve --json` or `mtl trace --json`: %s", shown,
		        error);
	if (r < 0)
		return complain(MTL_FAILED, "cannot read %s: %s", shown, error);
	return take_curve(object, options, path, operand);
}

static int await_all(struct client *client, const struct options *options, struct demand_list *list)
{
	double wait = isnan(options->wait) ? AWAIT_SECONDS : options->wait;
	int code = MTL_DONE;

	for (int asked = 0; asked < 2; asked++) {
		for (size_t i = 0; code == MTL_DONE && i < list->n; i++) {
			_cleanup_(json_object_putp) struct json_object *curve = NULL;
			struct demand_operand *operand = &list->operands[i];
			struct question question = {
			        options, client, operand->pid, -1, false, false, false};

			if (operand->pid && !asked)
				code = await_track(&question);
			else if (operand->pid)
				code = await_curve(&question, wait, &curve);
			if (curve)
				code = take_curve(curve, options, operand->name, operand);
			else if (code != MTL_DONE)
				complain(code, "this was process %d", operand->pid);
		}
	}
	return code;
}

static int load_processes(
        const struct options *options, const struct demand_cache *cache, struct demand_list *list)
{
	_cleanup_(client_freep) struct client *client = NULL;
	struct options asking = *options;
	double sizes[DEMAND_SIZES_MAX];
	int r = client_connect(options->socket, &client);

	if (r < 0)
		return client_explain(r, options->socket);
	asking.windows = (struct number_list){0};
	asking.sizes = (struct number_list){sizes, mtl_demand_sizes(cache, sizes)};
	return await_all(client, &asking, list);
}

/* --- all of them */

static int check_alike(const struct demand_list *list)
{
	char error[256];

	return mtl_demand_list_check(list, error, sizeof(error)) < 0
	               ? complain(MTL_USAGE, "%s", error)
	               : MTL_DONE;
}

static int name_operand(const char *text, struct demand_operand *operand)
{
	char error[256];

	if (demands_is_pid(text) && pid_parse(text, &operand->pid, error, sizeof(error)) < 0)
		return complain(MTL_USAGE, "%s", error);
	operand->n_pids = operand->pid > 0;
	operand->pids = calloc(1, sizeof(int));
	if (operand->pids)
		*operand->pids = operand->pid;
	operand->name = name_of(text);
	return operand->name && operand->pids ? MTL_DONE : complain(MTL_FAILED, "out of memory");
}

static int load(const struct options *options, char **operands, const struct demand_cache *cache,
        struct demand_list *list)
{
	int code = MTL_DONE, processes = 0;

	for (size_t i = 0; code == MTL_DONE && i < list->n; i++) {
		code = name_operand(operands[i], &list->operands[i]);
		processes += list->operands[i].pid > 0;
	}
	for (size_t i = 0; code == MTL_DONE && i < list->n; i++)
		if (!list->operands[i].pid)
			code = load_file(options, operands[i], &list->operands[i]);
	if (code == MTL_DONE && processes)
		code = load_processes(options, cache, list);
	for (size_t i = 0; code == MTL_DONE && i < list->n; i++)
		list->demands[i] = list->operands[i].demand;
	return code == MTL_DONE ? check_alike(list) : code;
}

int demands_load(const struct options *options, int n, char **operands,
        const struct demand_cache *cache, struct demand_list *ret_list)
{
	_cleanup_(mtl_demand_list_done) struct demand_list list = {0};
	int code;

	if (mtl_demand_list_new((size_t)n, &list) < 0)
		return complain(MTL_FAILED, "out of memory");
	code = load(options, operands, cache, &list);
	if (code != MTL_DONE)
		return code;
	*ret_list = list;
	list = (struct demand_list){0};
	return MTL_DONE;
}

void demand_csv_name(FILE *file, const struct demand_operand *operand)
{
	fputc('"', file);
	for (const char *c = operand->name; *c; c++)
		fprintf(file, *c == '"' ? "\"\"" : "%c", *c);
	fputc('"', file);
}

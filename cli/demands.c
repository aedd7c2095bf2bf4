/* SPDX-License-Identifier: MIT */
/*
 * Operands that are curves: what demand_json.c makes demands of, from files and from mtld.
 *
 * Between its points a demand is a straight line, so a live curve is asked for at the sizes that
 * matter: STEPS even ones up to the cache's size, all multiples of a way among them; below the
 * first, and above the cache, in steps of sqrt(2). All processes are tracked before the first is
 * waited for, so that observations come in at the same time.
 *
 * Curves that cannot be in one cache are refused: of different clocks, of bytes and of data.
 */

#include "demands.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "await_curve.h"
#include "cleanup.h"
#include "json_file.h"
#include "object.h"
#include "size.h"
#include "terminal.h"

#define STEPS 128
#define FINE 24 /* steps of sqrt(2): below to 1/4096, above to 8 times */
#define COARSE 6
#define ENDING ".json"
#define MISS_SECONDS 1e-7
#define MISS_ACCESSES 100

DEFINE_CLEANUP(struct mtl_demand, mtl_demand_free)

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

static int fill_sizes(const struct demand_cache *cache, struct number_list *ret_sizes)
{
	unsigned steps = cache->ways > STEPS ? cache->ways : STEPS / cache->ways * cache->ways;
	double step = cache->bytes / steps, size;
	struct number_list sizes = {calloc(steps + FINE + COARSE, sizeof(double)), 0};

	if (!sizes.values)
		return -ENOMEM;
	for (int i = FINE; i > 0; i--) {
		size = step * exp2(-0.5 * i);
		if (size >= 1)
			sizes.values[sizes.n++] = size;
	}
	for (unsigned i = 1; i <= steps; i++)
		sizes.values[sizes.n++] = i == steps ? cache->bytes : step * i;
	for (int i = 1; i <= COARSE; i++)
		sizes.values[sizes.n++] = cache->bytes * exp2(0.5 * i);
	*ret_sizes = sizes;
	return 0;
}

static bool is_text(struct json_object *object, const char *key, const char *text)
{
	return strcmp(object_text(object, key), text) == 0;
}

/* Takes a curve into an operand. */
static int take_curve(struct json_object *curve, const struct options *options, const char *source,
        struct demand_operand *operand)
{
	bool trace = json_object_is_type(curve, json_type_object) &&
	             json_object_object_get_ex(curve, "accesses", NULL);
	double cost = !isnan(options->miss_cost) ? options->miss_cost
	              : trace                    ? MISS_ACCESSES
	                                         : MISS_SECONDS;
	char error[256] = "", shown[NAME_SHOWN];
	int r = mtl_demand_from_json(
	        curve, operand->name, cost, &operand->demand, error, sizeof(error));

	show_name(source, shown, sizeof(shown));
	if (r == -EBADMSG)
		return complain(MTL_FAILED,
		        "%s is not a curve of `mtl curve --json` or `mtl trace --json`: %s", shown,
		        error);
	if (r < 0)
		return complain(MTL_FAILED, "cannot use %s: %s", shown, strerror(-r));
	if (strcmp(operand->demand->unit, "run") == 0)
		operand->accesses = object_number(curve, "accesses");
	else
		printable(object_text(curve, "comm"), operand->comm, sizeof(operand->comm));
	operand->is_data = is_text(curve, "format", "tokens") || is_text(curve, "format", "oracle");
	return MTL_DONE;
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
	int r = client_connect(options->socket, &client), code;

	if (r < 0)
		return client_explain(r, options->socket);
	asking.windows = (struct number_list){0};
	if (fill_sizes(cache, &asking.sizes) < 0)
		return complain(MTL_FAILED, "out of memory");
	code = await_all(client, &asking, list);
	free(asking.sizes.values);
	return code;
}

/* --- all of them */

static int check_alike(const struct demand_list *list)
{
	const struct demand_operand *first = &list->operands[0];

	for (size_t i = 1; i < list->n; i++) {
		const struct demand_operand *other = &list->operands[i];
		const struct demand_operand *trace = first->accesses > 0 ? first : other;

		if (!first->accesses != !other->accesses)
			return complain(MTL_USAGE,
			        "%s is a trace and %s a live curve: how long a run of a trace "
			        "takes is not known, so they cannot be in one cache",
			        trace->name, (trace == first ? other : first)->name);
		if (first->is_data != other->is_data)
			return complain(MTL_USAGE,
			        "sizes are numbers of data in %s and bytes in %s: they cannot be "
			        "in one cache",
			        (first->is_data ? first : other)->name,
			        (first->is_data ? other : first)->name);
	}
	return MTL_DONE;
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
	_cleanup_(demands_done) struct demand_list list = {0};
	int code;

	list.operands = calloc((size_t)n, sizeof(*list.operands));
	list.demands = calloc((size_t)n, sizeof(struct mtl_demand *));
	if (!list.operands || !list.demands)
		return complain(MTL_FAILED, "out of memory");
	list.n = (size_t)n;
	code = load(options, operands, cache, &list);
	if (code != MTL_DONE)
		return code;
	*ret_list = list;
	list = (struct demand_list){0};
	return MTL_DONE;
}

void demands_done(struct demand_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->operands[i].name);
		free(list->operands[i].pids);
		mtl_demand_free(list->operands[i].demand);
	}
	free(list->operands);
	free(list->demands);
	*list = (struct demand_list){0};
}

bool demand_note(const struct demand_operand *operand, double bytes, char *ret_text, size_t size)
{
	const struct mtl_demand *demand = operand->demand;
	char name[NAME_SHOWN], one[NUMBER_TEXT], other[NUMBER_TEXT];

	show_name(operand->name, name, sizeof(name));
	if (bytes < demand->smallest_known_bytes)
		snprintf(ret_text, size,
		        "the curve of %s says nothing of less than %s: its misses in %s are a "
		        "guess",
		        name, size_format(demand->smallest_known_bytes, one),
		        size_format(bytes, other));
	else if (!operand->accesses && bytes >= demand->footprint_bytes)
		snprintf(ret_text, size,
		        "%s touches %s within %s, the longest time looked at: what it comes back "
		        "to "
		        "later is not seen",
		        name, size_format(demand->footprint_bytes, one),
		        seconds_format(demand->longest_time, other));
	else
		return false;
	return true;
}

const char *demands_unit(const struct demand_list *list)
{
	return list->operands[0].accesses > 0 ? "misses" : "misses/s";
}

void demand_csv_name(FILE *file, const struct demand_operand *operand)
{
	fputc('"', file);
	for (const char *c = operand->name; *c; c++)
		fprintf(file, *c == '"' ? "\"\"" : "%c", *c);
	fputc('"', file);
}

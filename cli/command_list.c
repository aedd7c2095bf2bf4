/* SPDX-License-Identifier: MIT */
/*
 * `mtl list`: the tracked processes, one a line.
 */

#include "options.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "curve_report.h"
#include "object.h"
#include "question.h"
#include "size.h"
#include "table.h"

#define CELL 256

typedef void (*cell_function)(struct json_object *process, char *ret_text);

struct list_column {
	struct table_column head;
	cell_function cell;
	bool optional; /* left out where it has nothing to say of any process */
};

static void cell_pid(struct json_object *process, char *ret_text)
{
	snprintf(ret_text, CELL, "%.0f", object_number(process, "pid"));
}

static void cell_comm(struct json_object *process, char *ret_text)
{
	printable(object_text(process, "comm"), ret_text, CELL);
}

static void cell_state(struct json_object *process, char *ret_text)
{
	snprintf(ret_text, CELL, "%s", object_text(process, "state"));
}

static void cell_threads(struct json_object *process, char *ret_text)
{
	snprintf(ret_text, CELL, "%.0f", object_number(process, "threads"));
}

/* "12 of 60, 9 s more" until there is a curve. */
static void cell_observations(struct json_object *process, char *ret_text)
{
	double have = object_number(process, "observations");
	double needed = object_number(process, "observations_needed");
	double seconds = object_number(process, "first_curve_seconds");
	int n = snprintf(ret_text, CELL, have < needed ? "%.0f of %.0f" : "%.0f", have, needed);

	if (have < needed && !isnan(seconds))
		snprintf(ret_text + n, CELL - n, ", %.0f s more", ceil(seconds));
}

static void cell_rate(struct json_object *process, char *ret_text)
{
	ratio_format(object_number(process, "observations_per_second"), ret_text);
}

static void cell_lost(struct json_object *process, char *ret_text)
{
	snprintf(ret_text, CELL, "%.0f", object_number(process, "lost"));
}

static void cell_resident(struct json_object *process, char *ret_text)
{
	size_format(object_number(process, "resident_bytes"), ret_text);
}

static void cell_cpu(struct json_object *process, char *ret_text)
{
	seconds_format(object_number(process, "cpu_seconds"), ret_text);
}

static void cell_overhead(struct json_object *process, char *ret_text)
{
	percent_format(object_number(process, "overhead_target"), ret_text);
}

/* Predicted / counted misses of the last-level cache. */
static void cell_llc(struct json_object *process, char *ret_text)
{
	ratio_format(object_number(process, "llc_ratio"), ret_text);
}

static void cell_reuse(struct json_object *process, char *ret_text)
{
	percent_format(object_number(process, "reuse_difference"), ret_text);
}

/* Why it is tracked, unless somebody named it, and why its state is what it is. */
static void cell_reason(struct json_object *process, char *ret_text)
{
	const char *reason = object_text(process, "reason"), *between = "";
	struct json_object *list = NULL, *first = NULL;
	char cgroup[CELL / 2];
	int n = 0;

	*ret_text = '\0';
	if (strcmp(object_text(process, "tracked_by"), "top") == 0)
		n = snprintf(ret_text, CELL, "top by CPU time");
	else if (strcmp(object_text(process, "tracked_by"), "cgroup") == 0)
		n = snprintf(ret_text, CELL, "of cgroup %s",
		        printable(object_text(process, "cgroup"), cgroup, sizeof(cgroup)));
	if (n > 0)
		between = "; ";
	if (strcmp(reason, "-") != 0)
		snprintf(ret_text + n, CELL - n, "%s%s", between, reason);
	else if (json_object_object_get_ex(process, "backoff", &list) &&
	         json_object_is_type(list, json_type_array) &&
	         (first = json_object_array_get_idx(list, 0)))
		snprintf(ret_text + n, CELL - n, "%ssampled less: %s", between,
		        object_text(first, "text"));
}

static const struct list_column columns[] = {
        {{"PID", RIGHT, 0}, cell_pid, false},
        {{"COMMAND", LEFT, 0}, cell_comm, false},
        {{"STATE", LEFT, 0}, cell_state, false},
        {{"THREADS", RIGHT, 0}, cell_threads, false},
        {{"OBSERVATIONS", RIGHT, 0}, cell_observations, false},
        {{"OBS/s", RIGHT, 0}, cell_rate, false},
        {{"LOST", RIGHT, 0}, cell_lost, false},
        {{"RESIDENT", RIGHT, 0}, cell_resident, false},
        {{"CPU TIME", RIGHT, 0}, cell_cpu, false},
        {{"OVERHEAD", RIGHT, 0}, cell_overhead, false},
        {{"LLC", RIGHT, 0}, cell_llc, true},
        {{"REUSE", RIGHT, 0}, cell_reuse, true},
        {{"REASON", LEFT, 0}, cell_reason, true},
};

#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* The columns of this table, in order; returns how many. */
static size_t choose(struct json_object *processes, const struct list_column **ret_chosen)
{
	size_t n = 0;

	for (size_t i = 0; i < N_COLUMNS; i++) {
		bool told = !columns[i].optional;
		char text[CELL];

		for (size_t p = 0; !told && p < json_object_array_length(processes); p++) {
			columns[i].cell(json_object_array_get_idx(processes, p), text);
			told = *text && strcmp(text, "-") != 0;
		}
		if (told)
			ret_chosen[n++] = &columns[i];
	}
	return n;
}

static int add_process(struct table *table, const struct list_column *const *chosen, size_t n,
        struct json_object *process)
{
	char texts[N_COLUMNS][CELL];
	const char *cells[N_COLUMNS];

	for (size_t i = 0; i < n; i++) {
		chosen[i]->cell(process, texts[i]);
		cells[i] = texts[i];
	}
	return table_add(table, cells, false);
}

static int show(struct json_object *processes)
{
	_cleanup_(table_freep) struct table *table = NULL;
	struct terminal terminal = terminal_describe(stdout);
	const struct list_column *chosen[N_COLUMNS];
	struct table_column heads[N_COLUMNS];
	size_t n_columns = choose(processes, chosen);
	int r;

	if (json_object_array_length(processes) == 0) {
		puts(geteuid() == 0
		                ? "no process is tracked: `mtl track PID`, or `mtl curve PID`"
		                : "none of yours is tracked: `mtl track PID`, or `mtl curve PID`");
		return 0;
	}
	for (size_t i = 0; i < n_columns; i++)
		heads[i] = chosen[i]->head;
	r = table_new(heads, n_columns, &terminal, &table);
	for (size_t i = 0; r == 0 && i < json_object_array_length(processes); i++)
		r = add_process(table, chosen, n_columns, json_object_array_get_idx(processes, i));
	return r ?: table_print(table, stdout);
}

int command_list(const struct options *options, int n_operands, char **operands)
{
	_cleanup_(json_object_putp) struct json_object *answer = NULL;
	_cleanup_(client_freep) struct client *client = NULL;
	struct json_object *processes;
	int r = client_connect(options->socket, &client);

	(void)n_operands, (void)operands;
	if (r < 0)
		return client_explain(r, options->socket);
	r = question_ask(client, options->socket, "List", NULL, NULL, &answer);
	if (r != MTL_DONE)
		return r;
	if (!json_object_object_get_ex(answer, "processes", &processes) ||
	        !json_object_is_type(processes, json_type_array))
		return client_explain(-EBADMSG, options->socket);
	if (options->json) {
		json_output(stdout, answer);
		return MTL_DONE;
	}
	r = show(processes);
	return r < 0 ? complain(MTL_FAILED, "cannot show the list: %s", strerror(-r)) : MTL_DONE;
}

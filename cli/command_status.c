/* SPDX-License-Identifier: MIT */
/*
 * `mtl status`: how the daemon is, one property a line.
 */

#include "options.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "client.h"
#include "curve_report.h"
#include "object.h"
#include "question.h"
#include "size.h"
#include "table.h"

#define CELL 512

typedef void (*cell_function)(struct json_object *object, const char *key, char *ret_text);

struct property {
	const char *key;
	const char *group; /* NULL: the reply itself, else the object in it that holds the key */
	const char *title;
	cell_function cell;
};

static void cell_text(struct json_object *object, const char *key, char *ret_text)
{
	printable(object_text(object, key), ret_text, CELL);
}

static void cell_count(struct json_object *object, const char *key, char *ret_text)
{
	double count = object_number(object, key);

	isnan(count) ? (void)strcpy(ret_text, "-") : (void)snprintf(ret_text, CELL, "%.0f", count);
}

static void cell_seconds(struct json_object *object, const char *key, char *ret_text)
{
	seconds_format(object_number(object, key), ret_text);
}

static void cell_duration(struct json_object *object, const char *key, char *ret_text)
{
	duration_format(object_number(object, key), ret_text);
}

static void cell_target_percent(struct json_object *object, const char *key, char *ret_text)
{
	char share[NUMBER_TEXT];

	snprintf(ret_text, CELL, "%s of a target's CPU time",
	        percent_format(object_number(object, key), share));
}

static void cell_core_percent(struct json_object *object, const char *key, char *ret_text)
{
	char share[NUMBER_TEXT];

	percent_format(object_number(object, key), share);
	if (strcmp(share, "-") == 0)
		strcpy(ret_text, "not known yet");
	else
		snprintf(ret_text, CELL, "%s of one core", share);
}

static const struct property properties[] = {
        {"version", NULL, "version", cell_text},
        {"pid", NULL, "pid", cell_count},
        {"uptime_seconds", NULL, "up for", cell_duration},
        {"rung", NULL, "rung", cell_text},
        {"reason", NULL, "reason", cell_text},
        {"method", "calibration", "method", cell_text},
        {"slots", "calibration", "watch slots", cell_count},
        {"trap_seconds", "calibration", "a trap costs", cell_seconds},
        {"arm_seconds", "calibration", "arming costs", cell_seconds},
        {"switch_seconds", "calibration", "a context switch costs", cell_seconds},
        {"shift_seconds", "calibration", "a watch is live after", cell_seconds},
        {"resolution_seconds", "calibration", "resolution", cell_seconds},
        {"max_overhead", NULL, "budget", cell_target_percent},
        {"max_daemon_cpu", NULL, "budget of mtld", cell_core_percent},
        {"daemon_cpu", NULL, "mtld uses", cell_core_percent},
        {"processes", NULL, "tracked processes", cell_count},
        {"max_processes", NULL, "at most", cell_count},
        {"lost", NULL, "lost samples", cell_count},
        {"clients", NULL, "clients", cell_count},
};

static void cell_ratio(struct json_object *object, const char *key, char *ret_text)
{
	ratio_format(object_number(object, key), ret_text);
}

static void cell_percent(struct json_object *object, const char *key, char *ret_text)
{
	percent_format(object_number(object, key), ret_text);
}

/* only where they have something to say */
static const struct property occasional[] = {
        {"address_reason", NULL, "addresses missing", cell_text},
        {"llc_ratio", "agreement", "LLC misses, predicted / counted", cell_ratio},
        {"reuse_difference", "agreement", "reuse times differ by", cell_percent},
        {"reuse_reason", NULL, "no reuse times", cell_text},
};

static int add_property(
        struct table *table, struct json_object *status, const struct property *property)
{
	struct json_object *object = status;
	char text[CELL];
	const char *cells[] = {property->title, text};

	if (property->group &&
	        (!json_object_object_get_ex(status, property->group, &object) || !object))
		return 0;
	property->cell(object, property->key, text);
	return table_add(table, cells, false);
}

static bool has_value(struct json_object *status, const struct property *property)
{
	struct json_object *object = status, *value;

	if (property->group && !json_object_object_get_ex(status, property->group, &object))
		return false;
	return json_object_object_get_ex(object, property->key, &value) && value;
}

/* The period of a clock is in nanoseconds. */
static char *period_text(struct json_object *event, char *ret_text)
{
	double period = object_number(event, "period");
	const char *name = object_text(event, "event"), *clock = strstr(name, "-clock");

	return clock && strcmp(clock, "-clock") == 0 ? seconds_format(period * 1e-9, ret_text)
	                                             : ratio_format(period, ret_text);
}

/* page-faults: 1200 of 1250 addresses used, 50 lost; one in 101, throttled 3 times, starved 10 % */
static int add_event(struct table *table, struct json_object *event)
{
	double samples = object_number(event, "samples") - object_number(event, "foreign");
	double throttled = object_number(event, "throttled");
	double starved = object_number(event, "starved");
	char text[CELL], title[CELL], name[CELL / 2], period[NUMBER_TEXT];
	const char *cells[] = {title, text};
	int n;

	printable(object_text(event, "event"), name, sizeof(name));
	snprintf(title, sizeof(title), "addresses of %s", name);
	n = snprintf(text, sizeof(text), "%.0f of %.0f used, %.0f lost, %.0f unseen; one in %s",
	        object_number(event, "delivered"), samples, object_number(event, "lost"),
	        object_number(event, "unseen"), period_text(event, period));
	if (throttled > 0)
		n += snprintf(text + n, sizeof(text) - n, "; throttled %.0f times", throttled);
	if (starved > 0.01)
		snprintf(text + n, sizeof(text) - n, "; others had the counter %.0f %% of the time",
		        starved * 100);
	return table_add(table, cells, false);
}

/* /a.slice: 3 of 5 members are tracked (max_processes (8) are tracked) */
static int add_group(struct table *table, struct json_object *group)
{
	char name[CELL / 2], reason[CELL / 4], text[CELL];
	const char *cells[] = {"control group", text};
	int n;

	printable(object_text(group, "cgroup"), name, sizeof(name));
	printable(object_text(group, "reason"), reason, sizeof(reason));
	n = snprintf(text, sizeof(text), "%s: %.0f of %.0f members are tracked", name,
	        object_number(group, "tracked"), object_number(group, "members"));
	if (strcmp(reason, "-") != 0)
		snprintf(text + n, sizeof(text) - n, " (%s)", reason);
	return table_add(table, cells, false);
}

static int add_each(struct table *table, struct json_object *status, const char *key,
        int (*add)(struct table *table, struct json_object *element))
{
	struct json_object *array = NULL;
	int r = 0;

	json_object_object_get_ex(status, key, &array);
	for (size_t i = 0; r == 0 && array && i < json_object_array_length(array); i++)
		r = add(table, json_object_array_get_idx(array, i));
	return r;
}

static int show(struct json_object *status)
{
	static const struct table_column columns[] = {{NULL, LEFT, 0}, {NULL, LEFT, 25}};
	_cleanup_(table_freep) struct table *table = NULL;
	struct terminal terminal = terminal_describe(stdout);
	int r = table_new(columns, 2, &terminal, &table);

	for (size_t i = 0; r == 0 && i < sizeof(properties) / sizeof(properties[0]); i++)
		r = add_property(table, status, &properties[i]);
	r = r ?: add_each(table, status, "cgroups", add_group);
	r = r ?: add_each(table, status, "address_samples", add_event);
	for (size_t i = 0; r == 0 && i < sizeof(occasional) / sizeof(occasional[0]); i++)
		if (has_value(status, &occasional[i]))
			r = add_property(table, status, &occasional[i]);
	return r ?: table_print(table, stdout);
}

int command_status(const struct options *options, int n_operands, char **operands)
{
	_cleanup_(json_object_putp) struct json_object *status = NULL;
	_cleanup_(client_freep) struct client *client = NULL;
	int r = client_connect(options->socket, &client);

	(void)n_operands, (void)operands;
	if (r < 0)
		return client_explain(r, options->socket);
	r = question_ask(client, options->socket, "Status", NULL, NULL, &status);
	if (r != MTL_DONE)
		return r;
	if (options->json) {
		json_output(stdout, status);
		return MTL_DONE;
	}
	r = show(status);
	return r < 0 ? complain(MTL_FAILED, "cannot show the status: %s", strerror(-r)) : MTL_DONE;
}

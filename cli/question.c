/* SPDX-License-Identifier: MIT */
/*
 * Calls of the interface as the commands need them: parameters built from options, one member
 * taken from the reply, everything that can go wrong said once.
 */

#include "question.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "curve_report.h"
#include "object.h"
#include "size.h"

static bool put(struct json_object *object, const char *key, struct json_object *value)
{
	if (value && json_object_object_add(object, key, value) == 0)
		return true;
	json_object_put(value);
	return false;
}

static bool put_list(struct json_object *object, const char *key, const struct number_list *list)
{
	struct json_object *array;

	if (list->n == 0)
		return true;
	array = json_object_new_array_ext((int)list->n);
	if (!put(object, key, array))
		return false;
	for (size_t i = 0; i < list->n; i++) {
		struct json_object *number = json_object_new_double(list->values[i]);

		if (!number || json_object_array_add(array, number) < 0)
			return false;
	}
	return true;
}

struct json_object *question_pid(int pid)
{
	_cleanup_(json_object_putp) struct json_object *object = json_object_new_object();

	if (!object || !put(object, "pid", json_object_new_int(pid)))
		return NULL;
	return TAKE_PTR(object);
}

struct json_object *question_track(int pid, double idle_seconds)
{
	_cleanup_(json_object_putp) struct json_object *object = question_pid(pid);

	if (!object || !put(object, "idle_seconds", json_object_new_double(idle_seconds)))
		return NULL;
	return TAKE_PTR(object);
}

struct json_object *question_history(int pid, const struct options *options)
{
	_cleanup_(json_object_putp) struct json_object *object = question_pid(pid);

	if (!object || !put_list(object, "sizes", &options->sizes))
		return NULL;
	return TAKE_PTR(object);
}

struct json_object *question_curve(int pid, const struct options *options)
{
	_cleanup_(json_object_putp) struct json_object *object = question_pid(pid);

	if (!object || !put_list(object, "sizes", &options->sizes) ||
	        !put_list(object, "windows", &options->windows))
		return NULL;
	if (!isnan(options->reference) &&
	        !put(object, "reference", json_object_new_double(options->reference)))
		return NULL;
	return TAKE_PTR(object);
}

/* What List says of the process; NULL: nothing. Belongs to the answer. */
static struct json_object *listed(struct json_object *answer, double pid)
{
	struct json_object *processes;

	if (!json_object_object_get_ex(answer, "processes", &processes) ||
	        !json_object_is_type(processes, json_type_array))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(processes); i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);

		if (object_number(process, "pid") == pid)
			return process;
	}
	return NULL;
}

static bool has_ended(struct json_object *process)
{
	return strcmp(object_text(process, "state"), "exited") == 0;
}

/* As a reason; "" when List says nothing. */
static void how_much_it_ran(struct json_object *answer, double pid, char *ret_text, size_t size)
{
	struct json_object *process = listed(answer, pid);
	char seconds[NUMBER_TEXT];

	*ret_text = '\0';
	if (!process)
		return;
	seconds_format(object_number(process, "cpu_seconds"), seconds);
	snprintf(ret_text, size,
	        has_ended(process) ? "it has ended after %s of CPU time"
	                           : "it has used %s of CPU time so far",
	        seconds);
}

bool question_has_ended(struct client *client, int pid)
{
	_cleanup_(client_reply_done) struct client_reply list = {0};
	struct json_object *process;

	if (client_call(client, "List", NULL, &list) < 0 || list.error)
		return false;
	process = listed(list.parameters, pid);
	return process && has_ended(process);
}

int question_explain(struct client *client, const struct client_reply *reply)
{
	_cleanup_(client_reply_done) struct client_reply list = {0};
	char reason[128];

	if (!reply_is(reply, "NotEnoughObservations") ||
	        strcmp(object_text(reply->parameters, "reason"), "-") != 0 ||
	        client_call(client, "List", NULL, &list) < 0 || list.error)
		return reply_explain(reply);
	how_much_it_ran(
	        list.parameters, object_number(reply->parameters, "pid"), reason, sizeof(reason));
	if (*reason)
		put(reply->parameters, "reason", json_object_new_string(reason));
	return reply_explain(reply);
}

int question_call(struct client *client, const char *method, struct json_object *parameters,
        const char *member, struct json_object **ret_value)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	struct json_object *value;
	int r = client_call(client, method, parameters, &reply);

	if (r < 0)
		return r;
	if (reply.error)
		return question_explain(client, &reply);
	value = reply.parameters;
	if (member && (!json_object_object_get_ex(reply.parameters, member, &value) || !value))
		return -EBADMSG;
	if (ret_value)
		*ret_value = json_object_get(value);
	return MTL_DONE;
}

int question_ask(struct client *client, const char *path, const char *method,
        struct json_object *parameters, const char *member, struct json_object **ret_value)
{
	int r = question_call(client, method, parameters, member, ret_value);

	return r < 0 ? client_explain(r, path) : r;
}

int question_save(struct json_object *object, const struct options *options)
{
	const char *path = options->record;
	FILE *file = fopen(path, "we");
	bool failed;

	if (!file)
		return complain(MTL_FAILED, "cannot write %s: %s", path, strerror(errno));
	json_output(file, object);
	failed = ferror(file);
	failed |= fclose(file) != 0;
	if (failed)
		return complain(MTL_FAILED, "cannot write %s: %s", path, strerror(errno));
	if (!options->json && !options->csv)
		complain(MTL_DONE, "the observations are saved: `mtl curve --from %s`", path);
	return MTL_DONE;
}

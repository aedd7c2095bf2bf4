/* SPDX-License-Identifier: MIT */
/*
 * What the governor does with a process, for List (docs/PROTOCOL.md).
 */
#include "governing_json.h"

#include <stdio.h>

#include "json_message.h"

static struct json_object *checked_json(const struct check_result *checked)
{
	struct json_object *object = json_object_new_object();
	bool known = checked->pairs > 0 && !*checked->reason;

	json_object_object_add(object, "pairs", json_object_new_int64(known ? checked->pairs : 0));
	json_object_object_add(object, "loss", json_number(checked->loss));
	json_object_object_add(object, "low", json_number(checked->low));
	json_object_object_add(object, "high", json_number(checked->high));
	json_object_object_add(object, "reason", known ? NULL : json_text(checked->reason));
	return object;
}

static struct json_object *backoff_json(const struct manager_backoff *backoff)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "reason", json_text(backoff->reason));
	json_object_object_add(object, "share", json_number(backoff->share));
	json_object_object_add(object, "seconds", json_number(backoff->seconds));
	json_object_object_add(object, "text", json_text(backoff->text));
	return object;
}

void governing_reason(const struct manager_process *process, char *ret_text, size_t size)
{
	const struct manager_governing *governing = &process->governing;
	int at = snprintf(ret_text, size, "%s", process->reason);

	if (manager_has_ended(process))
		return;
	for (unsigned i = 0; i < governing->n_backoff && (size_t)at < size; i++)
		at += snprintf(ret_text + at, size - (size_t)at, "%s%s", at ? "; " : "",
		        governing->backoff[i].text);
}

void governing_json(const struct manager_governing *governing, struct json_object *object)
{
	struct json_object *list = json_object_new_array();

	json_object_object_add(object, "overhead_checked", checked_json(&governing->checked));
	for (unsigned i = 0; i < governing->n_backoff; i++)
		json_object_array_add(list, backoff_json(&governing->backoff[i]));
	json_object_object_add(object, "backoff", list);
}

// SPDX-License-Identifier: MIT
/* Members of Status that are objects themselves. */
#include "status_json.h"

#include "json_message.h"

struct json_object *calibration_json(const struct manager_status *status)
{
	struct json_object *object = *status->method ? json_object_new_object() : NULL;

	if (!object)
		return NULL;
	json_object_object_add(object, "method", json_text(status->method));
	json_object_object_add(object, "slots", json_object_new_int64(status->slots));
	json_object_object_add(object, "trap_seconds", json_number(status->trap_seconds));
	json_object_object_add(object, "arm_seconds", json_number(status->arm_seconds));
	json_object_object_add(object, "switch_seconds", json_number(status->switch_seconds));
	json_object_object_add(object, "shift_seconds", json_number(status->shift_seconds));
	json_object_object_add(
	        object, "resolution_seconds", json_number(status->resolution_seconds));
	return object;
}

struct json_object *scores_json(const struct manager_status *status)
{
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	json_object_object_add(object, "llc_ratio", json_number(status->llc_ratio));
	json_object_object_add(object, "reuse_difference", json_number(status->reuse_difference));
	json_object_object_add(object, "processes", json_object_new_int64(status->scored));
	return object;
}

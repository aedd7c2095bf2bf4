/* SPDX-License-Identifier: MIT */
#include "object.h"

#include <math.h>

double object_number(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) || !value)
		return NAN;
	return json_object_get_double(value);
}

const char *object_text(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) || !value)
		return "-";
	return json_object_get_string(value);
}

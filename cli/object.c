/* SPDX-License-Identifier: MIT */
#include "object.h"

#include <errno.h>
#include <math.h>

#include "json_fields.h"

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

int object_put_number(struct json_object *object, const char *key, double number)
{
	if (isfinite(number))
		return mtl_json_put(object, key, mtl_json_number_new(number));
	return json_object_object_add(object, key, NULL) < 0 ? -ENOMEM : 0;
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_OBJECT_H
#define MTL_CLI_OBJECT_H

#include <json-c/json.h>

/* Members of a JSON object as the tables show them: NAN, or "-", when absent or null. */
double object_number(struct json_object *object, const char *key);
const char *object_text(struct json_object *object, const char *key);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_GOVERNING_JSON_H
#define MTLD_GOVERNING_JSON_H

#include <json-c/json.h>
#include "manager.h"

/* Adds overhead_checked and backoff to the object of a process. */
void governing_json(const struct manager_governing *governing, struct json_object *object);

#endif

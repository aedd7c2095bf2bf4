/* SPDX-License-Identifier: MIT */
#ifndef MTLD_GOVERNING_JSON_H
#define MTLD_GOVERNING_JSON_H

#include <json-c/json.h>
#include "manager.h"

/* Adds overhead_checked and backoff to the object of a process. */
/* Why it has no curve yet, as far as that is known: its reason, what it is sampled less for. "": not. */
void governing_reason(const struct manager_process *process, char *ret_text, size_t size);

void governing_json(const struct manager_governing *governing, struct json_object *object);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_STATUS_JSON_H
#define MTLD_STATUS_JSON_H

/* Members of Status that are objects themselves (docs/PROTOCOL.md). NULL: none, or no memory. */

#include <json-c/json.h>
#include "manager.h"

struct json_object *calibration_json(const struct manager_status *status);
struct json_object *scores_json(const struct manager_status *status);

#endif

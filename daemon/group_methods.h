/* SPDX-License-Identifier: MIT */
#ifndef MTLD_GROUP_METHODS_H
#define MTLD_GROUP_METHODS_H

#include <json-c/json.h>
#include "method.h"

method_function method_track_cgroup, method_untrack_cgroup;

/* What is followed, for Status. */
struct json_object *cgroups_json(const struct methods_context *context);

/* On whose account a process is tracked and when it has its first curve, added to its entry of List. */
void tracking_json(const struct manager_process *process, struct json_object *object);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * TrackCgroup and UntrackCgroup: control groups whose members are tracked as they come and go.
 * Members may belong to anybody, so only privileged peers may ask.
 */
#include "group_methods.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "json_message.h"

static int no_such_cgroup(struct reply *ret_reply, const char *name)
{
	return reply_make(ret_reply, "io.mtld.NoSuchCgroup", "cgroup", json_text(name), NULL);
}

static int refused(
        const struct methods_context *context, struct reply *ret_reply, const char *name, int r)
{
	char reason[96];

	if (r == -ENOENT)
		return no_such_cgroup(ret_reply, name);
	if (r == -ENOSYS || r == -ENOMEM)
		return method_refused(context, ret_reply, 0, r);
	if (r == -EOPNOTSUPP)
		snprintf(reason, sizeof(reason),
		        "it is threaded: its processes are those of the domain above it");
	else if (r == -EINVAL)
		snprintf(reason, sizeof(reason), "it must be a path without ..; / is all of them");
	else if (r == -E2BIG)
		snprintf(reason, sizeof(reason),
		        "%u control groups are followed, which is the limit",
		        (unsigned)MANAGER_CGROUPS_MAX);
	else
		snprintf(reason, sizeof(reason), "%s", strerror(-r));
	return reply_make(ret_reply, "io.mtld.InvalidParameter", "parameter", json_text("cgroup"),
	        "reason", json_text(reason), NULL);
}

static int not_permitted(struct reply *ret_reply)
{
	return reply_make(ret_reply, "io.mtld.PermissionDenied", "reason",
	        json_text("members of a control group may be anybody's"), NULL);
}

int method_track_cgroup(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	int r = peer->privileged ? 0 : not_permitted(ret_reply);

	if (r < 0 || ret_reply->error)
		return r;
	r = manager_track_cgroup(context->manager, arguments->cgroup);
	return r < 0 ? refused(context, ret_reply, arguments->cgroup, r) : 0;
}

int method_untrack_cgroup(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	int r = peer->privileged ? 0 : not_permitted(ret_reply);

	if (r < 0 || ret_reply->error)
		return r;
	r = manager_untrack_cgroup(context->manager, arguments->cgroup);
	return r < 0 ? refused(context, ret_reply, arguments->cgroup, r) : 0;
}

/* Why not all of its members are tracked; "": they are. */
static void say_why(const struct manager_cgroup *cgroup, const struct config *config,
        char *ret_reason, size_t size)
{
	*ret_reason = '\0';
	if (cgroup->error == -EUSERS)
		snprintf(ret_reason, size, "max_processes (%u) are tracked", config->max_processes);
	else if (cgroup->error == -ENOENT)
		snprintf(ret_reason, size, "it is not there");
	else if (cgroup->error == -EOPNOTSUPP)
		snprintf(ret_reason, size, "it is threaded: ask for the domain above it");
	else if (cgroup->error < 0)
		snprintf(ret_reason, size, "%s", strerror(-cgroup->error));
	else if (cgroup->elsewhere > 0)
		snprintf(ret_reason, size, "%u are of another pid namespace", cgroup->elsewhere);
}

struct json_object *cgroups_json(const struct methods_context *context)
{
	struct json_object *cgroups = json_object_new_array();
	struct manager_cgroup cgroup;

	for (unsigned i = 0; cgroups && manager_cgroup_at(context->manager, i, &cgroup) == 0; i++) {
		struct json_object *object = json_object_new_object();
		char reason[96];

		if (!object)
			break;
		say_why(&cgroup, context->config, reason, sizeof(reason));
		json_object_object_add(object, "cgroup", json_text(cgroup.name));
		json_object_object_add(object, "members", json_object_new_int64(cgroup.members));
		json_object_object_add(object, "tracked", json_object_new_int64(cgroup.tracked));
		json_object_object_add(object, "reason", *reason ? json_text(reason) : NULL);
		json_object_array_add(cgroups, object);
	}
	return cgroups;
}

void tracking_json(const struct manager_process *process, struct json_object *object)
{
	const char *basis = process->first_curve_basis;

	json_object_object_add(
	        object, "first_curve_seconds", json_number(process->first_curve_seconds));
	json_object_object_add(object, "first_curve_basis", *basis ? json_text(basis) : NULL);
	json_object_object_add(object, "tracked_by", json_text(process->tracked_by));
	json_object_object_add(
	        object, "cgroup", process->cgroup ? json_text(process->cgroup) : NULL);
}

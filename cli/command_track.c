/* SPDX-License-Identifier: MIT */
/*
 * `mtl track PID` and `mtl untrack PID`: one call each; with cgroup:PATH for the members of a
 * control group.
 */

#include "options.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "client.h"
#include "operand.h"
#include "question.h"
#include "size.h"
#include "terminal.h"

static int call_with_pid(
        const struct options *options, const char *operand, const char *method, double idle)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	_cleanup_(client_freep) struct client *client = NULL;
	struct json_object *parameters;
	char error[256];
	int pid, r;

	if (pid_parse(operand, &pid, error, sizeof(error)) < 0)
		return complain(MTL_USAGE, "%s", error);
	r = client_connect(options->socket, &client);
	if (r < 0)
		return client_explain(r, options->socket);
	parameters = question_pid(pid);
	if (parameters && !isnan(idle))
		json_object_object_add(parameters, "idle_seconds", json_object_new_double(idle));
	r = client_call(client, method, parameters, &reply);
	if (r < 0)
		return client_explain(r, options->socket);
	if (reply_is(&reply, "NotTracked"))
		return complain(MTL_FAILED, "process %d is not tracked", pid);
	return reply.error ? reply_explain(&reply) : MTL_DONE;
}

static int explain_no_cgroup(const char *name, const char *method)
{
	char shown[NAME_SHOWN];

	show_name(name, shown, sizeof(shown));
	if (strcmp(method, "TrackCgroup") == 0)
		return complain(MTL_FAILED, NO_SUCH_CGROUP, shown);
	return complain(MTL_FAILED,
	        "control group %s is not followed: `mtl status` lists those that are", shown);
}

static int call_with_cgroup(const struct options *options, const char *name, const char *method)
{
	_cleanup_(client_reply_done) struct client_reply reply = {0};
	struct json_object *parameters = json_object_new_object();
	_cleanup_(client_freep) struct client *client = NULL;
	int r;

	if (parameters)
		json_object_object_add(parameters, "cgroup", json_object_new_string(name));
	r = client_connect(options->socket, &client);
	if (r < 0) {
		json_object_put(parameters);
		return client_explain(r, options->socket);
	}
	r = client_call(client, method, parameters, &reply);
	if (r < 0)
		return client_explain(r, options->socket);
	if (reply_is(&reply, "NoSuchCgroup"))
		return explain_no_cgroup(name, method);
	return reply.error ? reply_explain(&reply) : MTL_DONE;
}

int command_track(const struct options *options, int n_operands, char **operands)
{
	const char *cgroup = operand_cgroup(operands[0]);

	(void)n_operands;
	if (cgroup && !isnan(options->idle))
		return complain(MTL_USAGE,
		        "--idle is for processes: a control group is followed until "
		        "`mtl untrack`, or until it is removed");
	return cgroup ? call_with_cgroup(options, cgroup, "TrackCgroup")
	              : call_with_pid(options, operands[0], "Track", options->idle);
}

int command_untrack(const struct options *options, int n_operands, char **operands)
{
	const char *cgroup = operand_cgroup(operands[0]);

	(void)n_operands;
	return cgroup ? call_with_cgroup(options, cgroup, "UntrackCgroup")
	              : call_with_pid(options, operands[0], "Untrack", NAN);
}

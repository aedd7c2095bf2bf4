/* SPDX-License-Identifier: MIT */
/*
 * `mtl track PID` and `mtl untrack PID`: one call each.
 */

#include "options.h"

#include <errno.h>
#include <math.h>

#include "client.h"
#include "question.h"
#include "size.h"

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

int command_track(const struct options *options, int n_operands, char **operands)
{
	(void)n_operands;
	return call_with_pid(options, operands[0], "Track", options->idle);
}

int command_untrack(const struct options *options, int n_operands, char **operands)
{
	(void)n_operands;
	return call_with_pid(options, operands[0], "Untrack", NAN);
}

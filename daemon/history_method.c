// SPDX-License-Identifier: MIT
/*
 * History: what is known of a process at chosen sizes over the last hour. Who may see its curve may
 * see this.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include "cleanup.h"
#include "history_ring.h"
#include "method.h"
#include "service.h"

DEFINE_CLEANUP(struct mtl_history, mtl_history_free)

static int too_many_sizes(struct reply *ret_reply)
{
	struct parameter_problem problem = {.name = "sizes"};

	snprintf(problem.reason, sizeof(problem.reason), "at most %d sizes", HISTORY_ASKED);
	return method_bad_parameter(&problem, -ERANGE, ret_reply);
}

int method_history(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	_cleanup_(mtl_history_freep) struct mtl_history *history = NULL;
	struct manager_process process;
	struct json_object *object;
	int r = method_find_process(context, peer, arguments->pid, &process, ret_reply);

	if (r)
		return r < 0 ? r : 0;
	if (arguments->sizes.n > HISTORY_ASKED)
		return too_many_sizes(ret_reply);
	r = manager_history(context->manager, arguments->pid, arguments->sizes.values,
	        arguments->sizes.n, &history);
	if (r < 0)
		return method_refused(context, ret_reply, arguments->pid, r);
	text_clean(history->comm);
	r = mtl_history_to_json(history, &object);
	return r < 0 ? method_refused(context, ret_reply, arguments->pid, r)
	             : reply_make(ret_reply, NULL, "history", object, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Curve: one estimate, or the one of a moment ago (recent_curves.h).
 */
#include "cleanup.h"
#include "method.h"
#include "mtl.h"
#include "recent_curves.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

/* 0 and the curve as it is now; 1: the reply says why there is none. */
static int estimate(const struct methods_context *context, const struct arguments *arguments,
        struct json_object **ret_curve, struct reply *ret_reply)
{
	const struct mtl_estimate_options options = {
	        .sizes = arguments->sizes.n ? arguments->sizes.values : NULL,
	        .n_sizes = arguments->sizes.n,
	        .windows = arguments->windows.n ? arguments->windows.values : NULL,
	        .n_windows = arguments->windows.n,
	        .reference_bytes = arguments->reference,
	};
	_cleanup_(mtl_curve_freep) struct mtl_curve *now = NULL;
	struct mtl_curve_origin origin;
	int r = manager_curve(context->manager, arguments->pid, &options, &now, &origin);

	if (r == 0) {
		text_clean(origin.comm);
		r = mtl_curve_to_json(now, &origin, ret_curve);
	}
	if (r < 0)
		r = method_refused(context, ret_reply, arguments->pid, r) ?: 1;
	return r;
}

/* Of a process that has ended each curve is made anew: it is the last one. */
int method_curve(const struct methods_context *context, const struct peer *peer,
        const struct arguments *arguments, struct reply *ret_reply)
{
	struct manager_process process;
	struct json_object *object = NULL;
	bool ended;
	int r = method_find_process(context, peer, arguments->pid, &process, ret_reply);

	if (r)
		return r;
	ended = manager_has_ended(&process);
	if (!arguments->aside)
		manager_asked(context->manager, arguments->pid);
	if (!ended)
		object = recent_curves_find(context->recent, arguments, process.wall_seconds);
	if (!object) {
		r = estimate(context, arguments, &object, ret_reply);
		if (r)
			return r < 0 ? r : 0;
		recent_curves_keep(context->recent, arguments, process.wall_seconds, object);
	}
	r = reply_make(ret_reply, NULL, "curve", object, NULL);
	ret_reply->continues = r == 0 && !ended;
	return r;
}

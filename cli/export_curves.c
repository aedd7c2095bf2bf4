/* SPDX-License-Identifier: MIT */
/* What the page of `mtl export` draws, as one object: answers of mtld as they are, by process. */

#include "export_state.h"

#include <errno.h>
#include <math.h>

#include "curve_report.h"
#include "json_fields.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

static int put_text(struct json_object *object, const char *name, const char *text)
{
	if (!*text)
		return json_object_object_add(object, name, NULL) < 0 ? -ENOMEM : 0;
	return mtl_json_put(object, name, mtl_json_text_new(text));
}

/* An answer, or null. */
static int put_answer(struct json_object *object, const char *name, struct json_object *answer)
{
	return json_object_object_add(object, name, json_object_get(answer)) < 0 ? -ENOMEM : 0;
}

static int put_caches(struct json_object *object, const struct cache_geometry *caches)
{
	struct json_object *array = json_object_new_array();
	int r = mtl_json_put(object, "caches", array);

	for (size_t i = 0; r == 0 && i < caches->n; i++) {
		struct json_object *cache = json_object_new_object();

		r = mtl_json_append(array, cache);
		r = r ?: mtl_json_put_number(cache, "level", caches->levels[i].level);
		r = r ?: mtl_json_put_number(cache, "size_bytes", caches->levels[i].size_bytes);
	}
	return r;
}

/* null where there is no curve, or none that this mtl can read. */
static int put_sentence(struct json_object *object, struct json_object *answer)
{
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	struct mtl_curve_origin origin;
	char sentence[512] = "", error[128];

	if (answer && mtl_curve_from_json(answer, &curve, &origin, error, sizeof(error)) == 0)
		curve_sentence(curve, sentence, sizeof(sentence));
	return put_text(object, "sentence", sentence);
}

static int put_process(struct json_object *array, const struct export_process *process, double now)
{
	struct json_object *object = json_object_new_object();
	int r = mtl_json_append(array, object);

	r = r ?: put_answer(object, "process", process->process);
	r = r ?: put_answer(object, "curve", process->curve);
	r = r ?: put_sentence(object, process->curve);
	r = r ?: put_text(object, "reason", process->curve ? "" : process->why);
	r = r
	            ?: mtl_json_put_number(object, "age_seconds",
	                       process->curve ? fmax(0, now - process->asked) : NAN);
	r = r ?: put_text(object, "pod_uid", process->pod.uid);
	r = r ?: put_text(object, "container_id", process->pod.container);
	return r ?: put_text(object, "qos", process->pod.qos);
}

int export_curves(const struct export_state *state, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	struct json_object *array;
	int r;

	if (!object)
		return -ENOMEM;
	r = mtl_json_put(object, "up", json_object_new_boolean(state->up));
	r = r ?: put_text(object, "reason", state->reason);
	r = r ?: put_answer(object, "status", state->status);
	r = r ?: put_caches(object, &state->caches);
	r = r ?: mtl_json_put_number(object, "left_out", (double)state->left_out);
	array = json_object_new_array();
	r = r ?: mtl_json_put(object, "processes", array);
	for (size_t i = 0; r == 0 && i < state->n; i++)
		r = put_process(array, &state->processes[i], state->now);
	if (r < 0)
		return r;
	*ret_object = TAKE_PTR(object);
	return 0;
}

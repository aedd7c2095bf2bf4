/* SPDX-License-Identifier: MIT */
/*
 * The answer of `mtl probe` as JSON (docs/PROTOCOL.md, Probe). What is not known is null. The same
 * object is what lib/saved_probe.c reads again.
 */

#include "probe.h"

#include <errno.h>
#include <math.h>

#include "json_fields.h"

static double known(double number)
{
	return number > 0 ? number : NAN;
}

static int put_text(struct json_object *object, const char *name, const char *text)
{
	return mtl_json_put(object, name, json_object_new_string(text));
}

#define PUT_NUMBERS(object, ...)                                                                   \
	mtl_json_put_numbers(object, (const struct json_number[]){__VA_ARGS__},                    \
	        sizeof((const struct json_number[]){__VA_ARGS__}) / sizeof(struct json_number))

static int put_verdict(struct json_object *object, const struct probe_step *step)
{
	int r = put_text(object, "verdict", probe_verdict_name(step->verdict));

	return r ?: put_text(object, "reason", step->reason);
}

static int append_level(struct json_object *levels, const struct probe_level *level)
{
	struct json_object *object = json_object_new_object();
	const struct cache_level *said = &level->said;
	const struct probe_step *step = &level->step;
	int r = mtl_json_append(levels, object);

	r = r ?: PUT_NUMBERS(object, {"level", said->level});
	r = r ?: put_text(object, "type", said->type);
	r = r
	            ?: PUT_NUMBERS(object, {"size_bytes", known(said->size_bytes)},
	                       {"ways", known(said->ways)}, {"sets", known(said->sets)},
	                       {"line_bytes", known(said->line_bytes)},
	                       {"aliasing_stride_bytes", known(cache_aliasing_stride(said))},
	                       {"predicted_onset", known(step->predicted)},
	                       {"measured_onset", known(step->measured)},
	                       {"step_ratio", step->step_ratio},
	                       {"control_ratio", step->control_ratio},
	                       {"measured_capacity_bytes", round(level->capacity_bytes)});
	return r ?: put_verdict(object, step);
}

static int put_tlb(struct json_object *root, const struct probe_tlb *tlb)
{
	struct json_object *object = json_object_new_object();
	const struct probe_step *step = &tlb->step;
	double entries = step->measured ? step->measured - 1.0 : NAN;
	int r = mtl_json_put(root, "tlb", object);

	r = r
	            ?: PUT_NUMBERS(object, {"page_bytes", tlb->page_bytes},
	                       {"predicted_entries",
	                               known(step->predicted ? step->predicted - 1.0 : 0)},
	                       {"measured_entries", entries},
	                       {"measured_reach_bytes", entries * tlb->page_bytes},
	                       {"step_ratio", step->step_ratio},
	                       {"control_ratio", step->control_ratio},
	                       {"huge_page_ratio", tlb->huge_ratio});
	return r ?: put_verdict(object, step);
}

static int put_cpu(struct json_object *root, const struct cpu_identity *cpu)
{
	struct json_object *object = json_object_new_object();
	int r = mtl_json_put(root, "cpu", object);

	r = r ?: put_text(object, "vendor", cpu->vendor);
	r = r ?: put_text(object, "family", cpu->family);
	r = r ?: put_text(object, "model", cpu->model);
	r = r ?: put_text(object, "stepping", cpu->stepping);
	r = r ?: put_text(object, "microcode", cpu->microcode);
	return r ?: mtl_json_put(object, "hypervisor", json_object_new_boolean(cpu->hypervisor));
}

static int put_curve(struct json_object *root, const struct probe_curve *curve)
{
	struct json_object *points = json_object_new_array();
	int r = mtl_json_put(root, "latency", points);

	for (size_t i = 0; r == 0 && i < curve->n; i++) {
		struct json_object *point = json_object_new_object();

		r = mtl_json_append(points, point);
		r = r
		            ?: PUT_NUMBERS(point, {"footprint_bytes", curve->bytes[i]},
		                       {"nanoseconds", curve->nanoseconds[i]},
		                       {"low", curve->low[i]}, {"high", curve->high[i]});
	}
	return r;
}

int probe_to_json(const struct probe *probe, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	struct json_object *levels = json_object_new_array();
	int r = mtl_json_put(object, "levels", levels);

	for (size_t i = 0; r == 0 && i < probe->n_levels; i++)
		r = append_level(levels, &probe->levels[i]);
	if (r == 0 && probe->has_tlb)
		r = put_tlb(object, &probe->tlb);
	else if (r == 0)
		r = json_object_object_add(object, "tlb", NULL) < 0 ? -ENOMEM : 0;
	r = r ?: put_text(object, "source", cache_source_name(probe->source));
	r = r ?: put_cpu(object, &probe->cpu);
	r = r ?: put_curve(object, &probe->curve);
	r = r ?: mtl_json_put_number(object, "seconds", probe->seconds);
	if (r < 0)
		return r;
	*ret_object = object;
	object = NULL;
	return 0;
}

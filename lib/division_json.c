/* SPDX-License-Identifier: MIT */
/*
 * A division as an object (docs/PROTOCOL.md, Partition).
 */

#include "division.h"

#include <errno.h>
#include <json-c/json.h>

#include "cleanup.h"
#include "json_fields.h"
#include "words.h"

#define TEXT 400

static int put_text(struct json_object *object, const char *key, const char *text)
{
	return mtl_json_put(object, key, mtl_json_text_new(text));
}

static int put_misses(struct json_object *group, const struct division *division, size_t i)
{
	const struct demand_operand *operand = &division->list->operands[i];
	double misses = division->chosen.misses[i];
	int r;

	if (operand->accesses > 0)
		r = mtl_json_put_number(group, "miss_ratio", misses / operand->accesses);
	else
		r = mtl_json_put_number(group, "misses_per_second", misses);
	r = r ?: mtl_json_put_number(group, "misses", misses);
	r = r ?: mtl_json_put_number(group, "equal_share", division->equal.misses[i]);
	return r ?: mtl_json_put_number(group, "unpartitioned", division->whole.misses[i]);
}

static int put_group(struct json_object *groups, const struct division *division, size_t i)
{
	const struct demand_operand *operand = &division->list->operands[i];
	struct json_object *group = json_object_new_object();
	char mask[NUMBER_TEXT], reason[TEXT];
	int r = mtl_json_append(groups, group);

	mtl_division_reason(division, i, reason, sizeof(reason));
	r = r ?: mtl_demand_operand_put(group, operand);
	r = r ?: mtl_json_put(group, "ways", json_object_new_int64(division->ways[i]));
	if (division->masks)
		r = r ?: put_text(group, "mask", mtl_division_mask(division, i, mask));
	r = r ?: put_misses(group, division, i);
	r = r ?: mtl_json_put_number(group, "weight", division->weights[i]);
	if (division->clusters)
		r = r
		            ?: mtl_json_put(group, "cluster",
		                       json_object_new_int64(division->cluster[i]));
	if (division->lines) {
		r = r ?: put_text(group, "resctrl_group", division->lines[i].group);
		r = r ?: put_text(group, "schemata", division->lines[i].schemata);
	}
	return r ?: put_text(group, "reason", reason);
}

static int put_gain(struct json_object *object, const char *key, const struct division_gain *gain)
{
	struct json_object *inner = json_object_new_object();
	int r = mtl_json_put(object, key, inner);

	r = r ?: mtl_json_put_number(inner, "gain", gain->gain);
	r = r ?: mtl_json_put_number(inner, "low", gain->least);
	return r ?: mtl_json_put_number(inner, "high", gain->most);
}

static int put_slowdowns(struct json_object *object, const struct division *division)
{
	struct json_object *inner = json_object_new_object();
	int r = mtl_json_put(object, "worst_slowdown", inner);

	r = r ?: mtl_json_put_number(inner, "total", division->chosen.worst);
	r = r ?: mtl_json_put_number(inner, "equal_share", division->equal.worst);
	return r ?: mtl_json_put_number(inner, "unpartitioned", division->whole.worst);
}

static int put_notes(struct json_object *object, const struct division *division)
{
	struct json_object *notes = json_object_new_array();
	char text[TEXT];
	int r = mtl_json_put(object, "notes", notes);

	for (size_t i = 0; r == 0 && i < division->list->n; i++) {
		r = mtl_demand_operand_put_notes(notes, &division->list->operands[i]);
		if (mtl_division_note(division, i, text, sizeof(text)))
			r = r ?: mtl_json_append(notes, mtl_json_text_new(text));
	}
	return r;
}

static int put_rest(struct json_object *object, const struct division *division)
{
	enum division_advice advice = mtl_division_advice(division);
	char verdict[TEXT];
	int r = mtl_json_put_number(object, "total", division->chosen.total);

	mtl_division_verdict(division, verdict, sizeof(verdict));
	r = r ?: mtl_json_put_number(object, "equal_share", division->equal.total);
	r = r ?: mtl_json_put_number(object, "unpartitioned", division->whole.total);
	r = r ?: mtl_json_put_number(object, "regret_bound", division->regret);
	r = r ?: put_text(object, "unit", division->list->demands[0]->unit);
	r = r ?: put_text(object, "objective", mtl_objective_name(division->objective));
	r = r ?: mtl_json_put_number(object, "size_bytes", division->cache.bytes);
	r = r ?: mtl_json_put(object, "ways", json_object_new_int64(division->cache.ways));
	r = r
	            ?: mtl_json_put(object, "advised",
	                       json_object_new_boolean(advice == ADVICE_DIVISION));
	r = r ?: put_text(object, "advice", mtl_division_advice_name(advice));
	r = r ?: put_gain(object, "over_equal_share", &division->over_equal);
	r = r ?: put_gain(object, "over_unpartitioned", &division->over_whole);
	r = r ?: put_slowdowns(object, division);
	r = r ?: put_text(object, "verdict", verdict);
	return r ?: put_notes(object, division);
}

int mtl_division_to_json(const struct division *division, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	struct json_object *groups;
	int r;

	if (!object)
		return -ENOMEM;
	groups = json_object_new_array();
	r = mtl_json_put(object, "groups", groups);
	for (size_t i = 0; r == 0 && i < division->list->n; i++)
		r = put_group(groups, division, i);
	r = r ?: put_rest(object, division);
	if (r == 0)
		*ret_object = TAKE_PTR(object);
	return r;
}

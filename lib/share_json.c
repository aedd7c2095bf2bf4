/* SPDX-License-Identifier: MIT */
/*
 * What programs do to each other, as an object (docs/PROTOCOL.md, Share).
 */

#include "share.h"

#include <errno.h>
#include <json-c/json.h>

#include "cleanup.h"
#include "json_fields.h"

#define NOTE 320

static int put_neighbours(struct json_object *program, const struct share *share, size_t i)
{
	struct json_object *array = json_object_new_array();
	size_t n = share->list->n;
	int r = mtl_json_put(program, "hurt_by", array);

	for (size_t j = 0; r == 0 && j < n; j++) {
		struct json_object *other = j != i ? json_object_new_object() : NULL;

		if (j == i)
			continue;
		r = mtl_json_append(array, other);
		r = r
		            ?: mtl_json_put(other, "name",
		                       mtl_json_text_new(share->list->operands[j].name));
		r = r ?: mtl_json_put_number(other, "misses_without", share->without[i * n + j]);
	}
	return r;
}

static int put_program(struct json_object *programs, const struct share *share, size_t i)
{
	const struct demand_operand *operand = &share->list->operands[i];
	struct json_object *program = json_object_new_object();
	int r = mtl_json_append(programs, program);

	r = r ?: mtl_demand_operand_put(program, operand);
	r = r ?: mtl_json_put_number(program, "footprint_bytes", operand->demand->footprint_bytes);
	r = r ?: mtl_json_put_number(program, "occupancy_bytes", share->occupancy[i]);
	r = r ?: mtl_json_put_number(program, "misses_alone", share->alone[i]);
	r = r ?: mtl_json_put_number(program, "misses_together", share->together[i]);
	if (operand->accesses > 0) {
		r = r
		            ?: mtl_json_put_number(program, "miss_ratio_alone",
		                       share->alone[i] / operand->accesses);
		r = r
		            ?: mtl_json_put_number(program, "miss_ratio_together",
		                       share->together[i] / operand->accesses);
	}
	return r ?: put_neighbours(program, share, i);
}

static int put_notes(struct json_object *object, const struct share *share)
{
	struct json_object *notes = json_object_new_array();
	char note[NOTE];
	int r = mtl_json_put(object, "notes", notes);

	for (size_t i = 0; r == 0 && i < share->list->n; i++) {
		const struct demand_operand *operand = &share->list->operands[i];

		r = mtl_demand_operand_put_notes(notes, operand);
		if (mtl_share_note(share, i, note, sizeof(note)))
			r = r ?: mtl_json_append(notes, mtl_json_text_new(note));
	}
	return r;
}

static double sum(const double *numbers, size_t n)
{
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += numbers[i];
	return all;
}

int mtl_share_to_json(const struct share *share, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	struct json_object *programs;
	size_t n = share->list->n;
	int r;

	if (!object)
		return -ENOMEM;
	r = mtl_json_put_number(object, "size_bytes", share->size_bytes);
	r = r
	            ?: mtl_json_put(object, "unit",
	                       json_object_new_string(share->list->demands[0]->unit));
	r = r ?: mtl_json_put_number(object, "fill_time", share->time);
	r = r ?: mtl_json_put_number(object, "misses_alone", sum(share->alone, n));
	r = r ?: mtl_json_put_number(object, "misses_together", sum(share->together, n));
	r = r ?: mtl_json_put(object, "programs", programs = json_object_new_array());
	for (size_t i = 0; r == 0 && i < n; i++)
		r = put_program(programs, share, i);
	r = r ?: put_notes(object, share);
	if (r == 0)
		*ret_object = TAKE_PTR(object);
	return r;
}

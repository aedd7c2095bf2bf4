/* SPDX-License-Identifier: MIT */
/*
 * Demands with names, and what can be said of them before any answer: which of them cannot be in
 * one cache, and where a curve knows nothing.
 *
 * A run of a trace takes as long as it takes: how long is not known, so traces and live curves have
 * no clock in common. Traces that name data have sizes in data, all others in bytes.
 *
 * Between its points a demand is a straight line, so a live curve is asked for at the sizes that
 * matter: STEPS even ones up to the cache's size, all multiples of a way among them; below the
 * first, and above the cache, in steps of sqrt(2).
 */

#include "demand_list.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "words.h"

#define MISS_SECONDS 1e-7
#define MISS_ACCESSES 100
#define STEPS 128
#define FINE 24 /* steps of sqrt(2): below to 1/4096, above to 8 times */
#define COARSE 6

int mtl_demand_list_new(size_t n, struct demand_list *ret_list)
{
	_cleanup_(mtl_demand_list_done) struct demand_list list = {0};

	list.operands = calloc(n, sizeof(*list.operands));
	list.demands = calloc(n, sizeof(struct mtl_demand *));
	if (!list.operands || !list.demands)
		return -ENOMEM;
	list.n = n;
	*ret_list = list;
	list = (struct demand_list){0};
	return 0;
}

void mtl_demand_list_done(struct demand_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->operands[i].name);
		free(list->operands[i].pids);
		free(list->operands[i].notes);
		mtl_demand_free(list->operands[i].demand);
	}
	free(list->operands);
	free(list->demands);
	*list = (struct demand_list){0};
}

static struct json_object *member_of(struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	json_object_object_get_ex(object, key, &member);
	return member;
}

static bool is_text(struct json_object *object, const char *key, const char *text)
{
	struct json_object *member = member_of(object, key);

	return json_object_is_type(member, json_type_string) &&
	       strcmp(json_object_get_string(member), text) == 0;
}

int mtl_demand_operand_read(struct json_object *curve, double miss_cost,
        struct demand_operand *operand, char *ret_error, size_t error_size)
{
	bool live = json_object_is_type(curve, json_type_object) && member_of(curve, "cpu_seconds");
	double usual = live ? MISS_SECONDS : MISS_ACCESSES;
	int r = mtl_demand_from_json(curve, operand->name, isnan(miss_cost) ? usual : miss_cost,
	        &operand->demand, ret_error, error_size);

	if (r < 0)
		return r;
	if (strcmp(operand->demand->unit, "run") == 0)
		operand->accesses = json_object_get_double(member_of(curve, "accesses"));
	else
		mtl_name_text(json_object_get_string(member_of(curve, "comm")), operand->comm,
		        sizeof(operand->comm));
	operand->is_data = is_text(curve, "format", "tokens") || is_text(curve, "format", "oracle");
	return 0;
}

size_t mtl_demand_sizes(const struct demand_cache *cache, double *ret_sizes)
{
	unsigned steps = STEPS / cache->ways * cache->ways;
	double step = cache->bytes / steps;
	size_t n = 0;

	for (int i = FINE; i > 0; i--)
		if (step * exp2(-0.5 * i) >= 1)
			ret_sizes[n++] = step * exp2(-0.5 * i);
	for (unsigned i = 1; i <= steps; i++)
		ret_sizes[n++] = i == steps ? cache->bytes : step * i;
	for (int i = 1; i <= COARSE; i++)
		ret_sizes[n++] = cache->bytes * exp2(0.5 * i);
	return n;
}

int mtl_demand_list_check(const struct demand_list *list, char *ret_error, size_t error_size)
{
	const struct demand_operand *first = &list->operands[0];
	char one[NAME_SHOWN], two[NAME_SHOWN];

	for (size_t i = 1; i < list->n; i++) {
		const struct demand_operand *other = &list->operands[i];
		bool traces = first->accesses > 0, data = first->is_data;

		if (traces == (other->accesses > 0) && data == other->is_data)
			continue;
		mtl_name_text(first->name, one, sizeof(one));
		mtl_name_text(other->name, two, sizeof(two));
		if (traces != (other->accesses > 0))
			snprintf(ret_error, error_size,
			        "%s is a trace and %s a live curve: how long a run of a trace "
			        "takes is not known, so they cannot be in one cache",
			        traces ? one : two, traces ? two : one);
		else
			snprintf(ret_error, error_size,
			        "sizes are numbers of data in %s and bytes in %s: they cannot be "
			        "in one cache",
			        data ? one : two, data ? two : one);
		return -EINVAL;
	}
	return 0;
}

bool mtl_demand_note(
        const struct demand_operand *operand, double bytes, char *ret_text, size_t size)
{
	const struct mtl_demand *demand = operand->demand;
	char name[NAME_SHOWN], one[NUMBER_TEXT], other[NUMBER_TEXT];

	char *(*format)(double, char *) = operand->is_data ? mtl_count_format : mtl_size_format;

	mtl_name_text(operand->name, name, sizeof(name));
	if (bytes < demand->smallest_known_bytes)
		snprintf(ret_text, size,
		        "the curve of %s says nothing of less than %s: its misses in %s are a "
		        "guess",
		        name, format(demand->smallest_known_bytes, one), format(bytes, other));
	else if (!operand->accesses && bytes >= demand->footprint_bytes)
		snprintf(ret_text, size,
		        "%s touches %s within %s, the longest time looked at: what it comes back "
		        "to "
		        "later is not seen",
		        name, mtl_size_format(demand->footprint_bytes, one),
		        mtl_seconds_format(demand->longest_time, other));
	else
		return false;
	return true;
}

const char *mtl_demands_unit(const struct demand_list *list)
{
	return list->operands[0].accesses > 0 ? "misses" : "misses/s";
}

/* SPDX-License-Identifier: MIT */
/*
 * The answer of `mtl probe`, saved, as the geometry of this machine.
 *
 * Prediction and measurement are both in it. Where they agree, or nothing could be measured, the
 * prediction counts, since it is exact where it is true. A measured number of ways counts where
 * that is the verdict; either the number of sets is as said then, or the size is, whichever is
 * nearer to the measured capacity. A measured capacity is no exact number (other programs and other
 * virtual machines take their part of it); it counts where there is no prediction, or where this is
 * a factor CAPACITY_BELIEVED or more away from it: hypervisors name caches of hundreds of megabytes
 * of which a virtual machine has a few.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cache_geometry.h"
#include "json_fields.h"
#include "words.h"

#define CAPACITY_BELIEVED 2
#define BYTES_MAX 0x1p50

/* 0: null, absent, or no such number. */
static double number(struct json_object *object, const char *name, double most)
{
	struct json_object *value;
	double number;

	if (!json_object_object_get_ex(object, name, &value) ||
	        mtl_json_read_double(value, 0, &number) < 0 || number > most)
		return 0;
	return number;
}

static const char *text(struct json_object *object, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(object, name, &value) &&
	                       json_object_is_type(value, json_type_string)
	               ? json_object_get_string(value)
	               : "";
}

static bool is_same(struct json_object *cpu, const struct cpu_identity *identity)
{
	struct json_object *hypervisor;

	return json_object_object_get_ex(cpu, "hypervisor", &hypervisor) &&
	       json_object_get_boolean(hypervisor) == identity->hypervisor &&
	       !strcmp(text(cpu, "vendor"), identity->vendor) &&
	       !strcmp(text(cpu, "family"), identity->family) &&
	       !strcmp(text(cpu, "model"), identity->model) &&
	       !strcmp(text(cpu, "stepping"), identity->stepping) &&
	       !strcmp(text(cpu, "microcode"), identity->microcode);
}

static double size_of(double predicted, double measured)
{
	double ratio = predicted > 0 ? fmax(predicted / measured, measured / predicted) : INFINITY;

	return measured > 0 && ratio >= CAPACITY_BELIEVED ? measured : predicted;
}

static double nearer(double one, double other, double measured)
{
	return other > 0 && measured > 0 && fabs(log(other / measured)) < fabs(log(one / measured))
	               ? other
	               : one;
}

static struct cache_level read_level(struct json_object *object)
{
	double onset = number(object, "measured_onset", UINT16_MAX);
	struct cache_level level = {
	        .level = (unsigned)number(object, "level", CACHE_LEVELS_MAX),
	        .size_bytes = size_of(number(object, "size_bytes", BYTES_MAX),
	                number(object, "measured_capacity_bytes", BYTES_MAX)),
	        .ways = (unsigned)number(object, "ways", UINT32_MAX),
	        .line_bytes = (unsigned)number(object, "line_bytes", UINT16_MAX),
	};
	double named = number(object, "size_bytes", BYTES_MAX);
	size_t length = strlen(text(object, "type"));

	if (!strcmp(text(object, "verdict"), "differs") && onset > 1) {
		level.ways = (unsigned)onset - 1;
		level.size_bytes = nearer(level.size_bytes,
		        level.ways * number(object, "aliasing_stride_bytes", BYTES_MAX),
		        number(object, "measured_capacity_bytes", BYTES_MAX));
	}
	if (named > 0 && level.size_bytes == number(object, "measured_capacity_bytes", BYTES_MAX) &&
	        level.size_bytes != named)
		level.named_bytes = named;
	if (level.ways && level.line_bytes)
		level.sets = (unsigned)fmin(
		        level.size_bytes / level.ways / level.line_bytes, UINT32_MAX);
	if (length < sizeof(level.type))
		memcpy(level.type, text(object, "type"), length + 1);
	return level;
}

bool cache_level_doubt(const struct cache_level *level, char *ret_text, size_t size)
{
	char had[NUMBER_TEXT], named[NUMBER_TEXT];

	if (!(level->named_bytes > 0))
		return false;
	snprintf(ret_text, size,
	        "of L%u, which is said to have %s, %s could be had when `mtl probe` ran: others' "
	        "use of it and a wrong size look alike",
	        level->level, mtl_size_format(level->named_bytes, named),
	        mtl_size_format(level->size_bytes, had));
	return true;
}

int cache_geometry_from_probe(struct json_object *object, const struct cpu_identity *identity,
        struct cache_geometry *ret_geometry)
{
	struct cache_geometry geometry = {.source = CACHE_FROM_PROBE};
	struct json_object *cpu, *levels, *tlb;

	if (!json_object_object_get_ex(object, "cpu", &cpu) ||
	        !json_object_object_get_ex(object, "levels", &levels) ||
	        !json_object_is_type(levels, json_type_array))
		return -EBADMSG;
	if (!is_same(cpu, identity))
		return -ESTALE;
	for (size_t i = 0; i < json_object_array_length(levels) && geometry.n < CACHE_LEVELS_MAX;
	        i++) {
		struct cache_level level = read_level(json_object_array_get_idx(levels, i));
		unsigned before = geometry.n ? geometry.levels[geometry.n - 1].level : 0;

		if (level.level > before && cache_level_is_plausible(&level))
			geometry.levels[geometry.n++] = level;
	}
	if (json_object_object_get_ex(object, "tlb", &tlb))
		geometry.tlb_entries =
		        (unsigned)(number(tlb, "measured_entries", UINT16_MAX)
		                           ?: number(tlb, "predicted_entries", UINT16_MAX));
	if (geometry.n == 0)
		return -EBADMSG;
	*ret_geometry = geometry;
	return 0;
}

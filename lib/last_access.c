/* SPDX-License-Identifier: MIT */
/* Growing and shrinking the table of last accesses; the way of an access is in the header. */

#include "last_access.h"

#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"

#define LEAST_CAPACITY 16

static int allocate(
        struct mtl_last_access *table, uint64_t capacity, struct mtl_last_slot **ret_slots)
{
	uint64_t bytes = capacity * sizeof(struct mtl_last_slot);
	struct mtl_last_slot *slots;

	if (table->bytes + bytes > table->most)
		return -ENOMEM;
	slots = calloc(capacity, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	table->bytes += bytes;
	if (table->bytes > table->peak)
		table->peak = table->bytes;
	*ret_slots = slots;
	return 0;
}

static void release(struct mtl_last_access *table, struct mtl_last_segment *segment)
{
	free(segment->slots);
	table->bytes -= segment->capacity * sizeof(struct mtl_last_slot);
}

int mtl_last_access_init(struct mtl_last_access *ret_table, uint64_t most_bytes)
{
	struct mtl_last_access table = {.most = most_bytes ? most_bytes : UINT64_MAX};

	for (unsigned i = 0; i < LAST_SEGMENTS; i++) {
		if (allocate(&table, LEAST_CAPACITY, &table.segments[i].slots) < 0) {
			mtl_last_access_done(&table);
			return -ENOMEM;
		}
		table.segments[i].capacity = LEAST_CAPACITY;
	}
	*ret_table = table;
	return 0;
}

void mtl_last_access_done(struct mtl_last_access *table)
{
	for (unsigned i = 0; i < LAST_SEGMENTS; i++)
		free(table->segments[i].slots);
	*table = (struct mtl_last_access){0};
}

int mtl_last_access_grow(struct mtl_last_access *table, struct mtl_last_segment *segment)
{
	struct mtl_last_segment grown = {.used = segment->used};
	int r;

	grown.capacity = segment->capacity + segment->capacity / 4;
	r = allocate(table, grown.capacity, &grown.slots);
	if (r < 0)
		return r;
	for (uint64_t i = 0; i < segment->capacity; i++) {
		const struct mtl_last_slot *slot = &segment->slots[i];

		if (slot->time)
			*mtl_last_probe(&grown, mtl_hash(slot->datum), slot->datum) = *slot;
	}
	release(table, segment);
	*segment = grown;
	return 0;
}

/* Is the cyclic interval (from, to] of slots where an entry of this home may not be moved past? */
static int stays(uint64_t from, uint64_t to, uint64_t home)
{
	return from <= to ? from < home && home <= to : from < home || home <= to;
}

/* Later entries of the run move up, unless that would put them before their home (Knuth, 6.4 R). */
void mtl_last_access_remove(struct mtl_last_access *table, uint64_t datum)
{
	uint64_t hash = mtl_hash(datum);
	struct mtl_last_segment *segment = mtl_last_segment_of(table, hash);
	struct mtl_last_slot *slots = segment->slots;
	uint64_t hole = (uint64_t)(mtl_last_probe(segment, hash, datum) - slots);

	if (!slots[hole].time)
		return;
	for (uint64_t i = hole;;) {
		i = i + 1 < segment->capacity ? i + 1 : 0;
		if (!slots[i].time)
			break;
		if (stays(hole, i, mtl_last_home(segment, mtl_hash(slots[i].datum))))
			continue;
		slots[hole] = slots[i];
		hole = i;
	}
	slots[hole].time = 0;
	segment->used--;
	table->used--;
}

struct mtl_last_slot *mtl_last_access_next(
        const struct mtl_last_access *table, struct mtl_last_cursor *cursor)
{
	for (; cursor->segment < LAST_SEGMENTS; cursor->segment++, cursor->slot = 0) {
		const struct mtl_last_segment *segment = &table->segments[cursor->segment];

		while (cursor->slot < segment->capacity) {
			struct mtl_last_slot *slot = &segment->slots[cursor->slot++];

			if (slot->time)
				return slot;
		}
	}
	return NULL;
}

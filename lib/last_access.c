/* SPDX-License-Identifier: MIT */
/* Growing and shrinking the table of last accesses; the way of an access is in the header. */

#include "last_access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define LEAST_CAPACITY 16
#define AHEAD 32 /* accesses between prefetch and use */

static int allocate(
        struct mtl_last_access *table, uint64_t capacity, struct mtl_last_slot **ret_slots)
{
	uint64_t bytes = capacity * sizeof(struct mtl_last_slot);
	struct mtl_last_slot *slots;

	if (table->bytes + bytes > table->most)
		return -ENOMEM;
	slots = aligned_alloc(LAST_SLOTS_A_LINE * sizeof(*slots), bytes);
	if (!slots)
		return -ENOMEM;
	memset(slots, 0, bytes);
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

/* Room for more in a segment. */
static int grow(struct mtl_last_access *table, struct mtl_last_segment *segment)
{
	uint64_t lines = segment->capacity / LAST_SLOTS_A_LINE;
	struct mtl_last_segment grown = {
	        .capacity = (lines + lines / 4) * LAST_SLOTS_A_LINE,
	        .used = segment->used,
	};
	int r = allocate(table, grown.capacity, &grown.slots);

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

static struct mtl_last_slot *insert(struct mtl_last_access *table, uint64_t hash, uint64_t datum)
{
	struct mtl_last_segment *segment = &table->segments[mtl_last_segment_index(hash)];
	struct mtl_last_slot *slot;

	if (segment->used >= segment->capacity / 4 * 3 && grow(table, segment) < 0)
		return NULL;
	segment->used++;
	table->used++;
	slot = mtl_last_probe(segment, hash, datum);
	slot->datum = datum;
	return slot;
}

/* The first slot to look at, for __builtin_prefetch(): a function that does nothing but that is
 * taken for one without effect. */
static const void *home_of(const struct mtl_last_access *table, uint64_t hash)
{
	const struct mtl_last_segment *segment = &table->segments[mtl_last_segment_index(hash)];

	return &segment->slots[mtl_last_home(segment, hash)];
}

size_t mtl_last_access_renew(struct mtl_last_access *table, const uint64_t *data, size_t n,
        uint64_t now, uint64_t *ret_times)
{
	uint64_t hashes[AHEAD];

	for (size_t i = 0; i < n && i < AHEAD; i++)
		__builtin_prefetch(home_of(table, hashes[i] = mtl_hash(data[i])), 1);
	for (size_t i = 0; i < n; i++) {
		uint64_t hash = hashes[i % AHEAD];
		struct mtl_last_slot *slot = mtl_last_probe(
		        &table->segments[mtl_last_segment_index(hash)], hash, data[i]);

		if (i + AHEAD < n)
			__builtin_prefetch(
			        home_of(table, hashes[i % AHEAD] = mtl_hash(data[i + AHEAD])), 1);
		ret_times[i] = slot->time;
		if (!slot->time && !(slot = insert(table, hash, data[i])))
			return i;
		slot->time = now + i;
	}
	return n;
}

struct mtl_last_slot *mtl_last_access_slot(struct mtl_last_access *table, uint64_t datum)
{
	uint64_t hash = mtl_hash(datum);
	struct mtl_last_slot *slot =
	        mtl_last_probe(&table->segments[mtl_last_segment_index(hash)], hash, datum);

	return slot->time ? slot : insert(table, hash, datum);
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
	struct mtl_last_segment *segment = &table->segments[mtl_last_segment_index(hash)];
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
	slots[hole] = (struct mtl_last_slot){0};
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

/* SPDX-License-Identifier: MIT */
/* Growing and shrinking the table of last accesses; the way of an access is in the header. */

#include "last_access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define LEAST_CAPACITY 16
#define BLOCK 64 /* accesses that wait for memory together */

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
static struct mtl_last_slot *home_of(const struct mtl_last_access *table, uint64_t hash)
{
	const struct mtl_last_segment *segment = &table->segments[mtl_last_segment_index(hash)];

	return &segment->slots[mtl_last_home(segment, hash)];
}

struct mtl_last_slot *mtl_last_access_slot(struct mtl_last_access *table, uint64_t datum)
{
	uint64_t hash = mtl_hash(datum);
	struct mtl_last_slot *slot =
	        mtl_last_probe(&table->segments[mtl_last_segment_index(hash)], hash, datum);

	return slot->time ? slot : insert(table, hash, datum);
}

/* The datum's slot if it is in use and in the line where it is at home; nearly all are. */
static inline struct mtl_last_slot *at_home(struct mtl_last_slot *home, uint64_t datum)
{
	unsigned match = mtl_last_match(home, datum);
	struct mtl_last_slot *slot = &home[__builtin_ctz(match | 1u << (LAST_SLOTS_A_LINE - 1))];

	return __builtin_expect(match && slot->time, 1) ? slot : NULL;
}

/* No memory for the access at `failed`: those after it that were done are undone, last one first.
 */
static void undo(struct mtl_last_access *table, const uint64_t *data, size_t n, size_t failed,
        const uint64_t *late, size_t n_late, const uint64_t *times)
{
	for (size_t i = n; i-- > failed + 1;) {
		if (n_late > 0 && late[n_late - 1] == i)
			n_late--;
		else
			mtl_last_access_slot(table, data[i])->time = times[i];
	}
}

/*
 * Data that are not in the line where they are at home, or new, come after all the others of the
 * block, in their order. None of the others is the same datum.
 */
static size_t renew_block(struct mtl_last_access *table, const uint64_t *data, size_t n,
        uint64_t now, uint64_t *ret_times)
{
	struct mtl_last_slot *homes[BLOCK], *slot;
	uint64_t late[BLOCK];
	size_t n_late = 0;

	for (size_t i = 0; i < n; i++) {
		homes[i] = home_of(table, mtl_hash(data[i]));
		__builtin_prefetch(homes[i], 1);
	}
	for (size_t i = 0; i < n; i++) {
		slot = at_home(homes[i], data[i]);
		if (slot) {
			ret_times[i] = slot->time;
			slot->time = now + i;
		} else {
			late[n_late++] = i;
			__builtin_prefetch(homes[i] + LAST_SLOTS_A_LINE, 1);
		}
	}
	for (size_t k = 0; k < n_late; k++) {
		slot = mtl_last_access_slot(table, data[late[k]]);
		if (!slot) {
			undo(table, data, n, late[k], late, n_late, ret_times);
			return late[k];
		}
		ret_times[late[k]] = slot->time;
		slot->time = now + late[k];
	}
	return n;
}

size_t mtl_last_access_renew(struct mtl_last_access *table, const uint64_t *data, size_t n,
        uint64_t now, uint64_t *ret_times)
{
	size_t done = 0;

	while (done < n) {
		size_t block = n - done < BLOCK ? n - done : BLOCK;
		size_t renewed =
		        renew_block(table, data + done, block, now + done, ret_times + done);

		done += renewed;
		if (renewed < block)
			break;
	}
	return done;
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

/* SPDX-License-Identifier: MIT */
/*
 * Names of tokens: an open-addressed table of hashes over texts that are kept whole. Two texts are
 * the same when their bytes are; the hash only says where to look. Texts lie one behind the other
 * in blocks that never move; the table doubles when three quarters full. All that is allocated,
 * with both tables while it doubles, stays within the limit.
 */

#include "trace_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)1 << 20)
#define BLOCK_FIRST ((size_t)1 << 12) /* blocks double from here on */
#define SLOTS_FIRST ((size_t)256)

struct name {
	uint64_t number;
	uint32_t length;
	char text[];
};

struct slot {
	uint64_t hash;
	struct name *name; /* NULL: free */
};

struct block {
	struct block *before;
	char bytes[];
};

struct trace_names {
	struct slot *slots;
	size_t n_slots;
	uint64_t count, allocated, limit;
	bool limited; /* the last time memory was asked for */
	struct block *block;
	size_t used, room; /* bytes of the block */
};

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static uint64_t hash_of(const char *text, uint32_t length)
{
	uint64_t hash = length, word;

	for (; length >= 8; length -= 8, text += 8) {
		memcpy(&word, text, 8);
		hash = mix((hash ^ word) * UINT64_C(0x9e3779b97f4a7c15));
	}
	word = 0;
	memcpy(&word, text, length);
	return mix((hash ^ word) * UINT64_C(0x9e3779b97f4a7c15));
}

static void *allocate(struct trace_names *names, size_t size)
{
	void *memory;

	names->limited =
	        names->limit > 0 && (size > names->limit || names->allocated > names->limit - size);
	if (names->limited)
		return NULL;
	memory = calloc(1, size);
	names->allocated += memory ? size : 0;
	return memory;
}

static bool grow(struct trace_names *names, size_t n_slots)
{
	struct slot *slots = allocate(names, n_slots * sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < names->n_slots; i++) {
		size_t at = names->slots[i].hash & (n_slots - 1);
		if (!names->slots[i].name)
			continue;
		while (slots[at].name)
			at = (at + 1) & (n_slots - 1);
		slots[at] = names->slots[i];
	}
	free(names->slots);
	names->allocated -= names->n_slots * sizeof(*slots);
	names->slots = slots;
	names->n_slots = n_slots;
	return true;
}

int trace_names_new(uint64_t memory_bytes, struct trace_names **ret_names)
{
	struct trace_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->limit = memory_bytes;
	*ret_names = names;
	return 0;
}

struct trace_names *trace_names_free(struct trace_names *names)
{
	struct block *before;

	if (!names)
		return NULL;
	for (; names->block; names->block = before) {
		before = names->block->before;
		free(names->block);
	}
	free(names->slots);
	free(names);
	return NULL;
}

static bool add_block(struct trace_names *names, size_t least)
{
	size_t room = names->room ? names->room * 2 : BLOCK_FIRST;
	struct block *block;

	room = room > BLOCK_BYTES ? BLOCK_BYTES : room;
	room = room < least ? least : room;
	block = allocate(names, sizeof(*block) + room);
	if (!block)
		return false;
	block->before = names->block;
	names->block = block;
	names->used = 0;
	names->room = room;
	return true;
}

static struct name *keep(struct trace_names *names, const char *text, uint32_t length)
{
	size_t size = (sizeof(struct name) + length + 7) & ~(size_t)7;
	struct name *name;

	if (names->room - names->used < size && !add_block(names, size))
		return NULL;
	name = (struct name *)(names->block->bytes + names->used);
	names->used += size;
	name->number = ++names->count;
	name->length = length;
	memcpy(name->text, text, length);
	return name;
}

/* Where the text is, or the free slot where it belongs. */
static struct slot *find(
        const struct trace_names *names, uint64_t hash, const void *text, uint32_t length)
{
	for (size_t at = hash;; at++) {
		struct slot *slot = &names->slots[at & (names->n_slots - 1)];
		if (!slot->name || (slot->hash == hash && slot->name->length == length &&
		                           !memcmp(slot->name->text, text, length)))
			return slot;
	}
}

uint64_t trace_names_number(struct trace_names *names, const void *text, uint32_t length)
{
	uint64_t hash = hash_of(text, length);
	struct slot *slot = names->n_slots ? find(names, hash, text, length) : NULL;

	if (slot && slot->name)
		return slot->name->number;
	if (names->count >= names->n_slots / 4 * 3) {
		if (!grow(names, names->n_slots ? names->n_slots * 2 : SLOTS_FIRST))
			return 0;
		slot = find(names, hash, text, length);
	}
	slot->name = keep(names, text, length);
	slot->hash = hash;
	return slot->name ? slot->name->number : 0;
}

uint64_t trace_names_count(const struct trace_names *names)
{
	return names->count;
}

bool trace_names_limited(const struct trace_names *names)
{
	return names->limited;
}

uint64_t trace_names_limit(const struct trace_names *names)
{
	return names->limit;
}

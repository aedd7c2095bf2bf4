/* SPDX-License-Identifier: MIT */
/*
 * A set-associative cache, simulated: each set is an array of its lines, the most recently used
 * first (LRU within the set). An access walks through its set and pushes every line one place
 * further until it finds its own; a miss pushes the last one out. So an access costs as much as its
 * line is deep, at most `ways`.
 *
 * A set takes ways + 1 words: how many lines it holds, then these.
 */

#include <errno.h>
#include <stdlib.h>
#include "cleanup.h"
#include "mtl.h"

struct mtl_set_cache {
	uint64_t sets, ways;
	uint64_t mask; /* sets - 1 when that picks the set; 0: the remainder does */
	uint64_t accesses, misses;
	uint64_t cells[]; /* sets x (ways + 1) */
};

int mtl_set_cache_new(
        uint64_t sets, uint64_t ways, uint64_t memory_bytes, struct mtl_set_cache **ret_cache)
{
	struct mtl_set_cache *cache;
	uint64_t bytes, row;

	if (sets == 0 || ways == 0)
		return -EINVAL;
	if (__builtin_add_overflow(ways, 1, &row) || __builtin_mul_overflow(row, sets, &bytes) ||
	        __builtin_mul_overflow(bytes, sizeof(*cache->cells), &bytes) ||
	        __builtin_add_overflow(bytes, sizeof(*cache), &bytes))
		return -ENOMEM;
	if (memory_bytes && bytes > memory_bytes)
		return -ENOMEM;
	cache = calloc(1, bytes);
	if (!cache)
		return -ENOMEM;
	cache->sets = sets;
	cache->ways = ways;
	cache->mask = (sets & (sets - 1)) == 0 ? sets - 1 : 0;
	*ret_cache = cache;
	return 0;
}

struct mtl_set_cache *mtl_set_cache_free(struct mtl_set_cache *cache)
{
	free(cache);
	return NULL;
}

/* Puts a line first. Was it in the set? */
static bool renew(uint64_t *set, uint64_t ways, uint64_t line)
{
	uint64_t *held = &set[0], *lines = &set[1], carried = line;

	for (uint64_t i = 0; i < *held; i++) {
		uint64_t here = lines[i];
		lines[i] = carried;
		if (here == line)
			return true;
		carried = here;
	}
	if (*held < ways)
		lines[(*held)++] = carried;
	return false;
}

void mtl_set_cache_access(struct mtl_set_cache *cache, const uint64_t *lines, size_t n)
{
	uint64_t misses = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t line = lines[i];
		uint64_t set = cache->mask ? line & cache->mask : line % cache->sets;
		misses += !renew(&cache->cells[set * (cache->ways + 1)], cache->ways, line);
	}
	cache->accesses += n;
	cache->misses += misses;
}

uint64_t mtl_set_cache_accesses(const struct mtl_set_cache *cache)
{
	return cache->accesses;
}

uint64_t mtl_set_cache_misses(const struct mtl_set_cache *cache)
{
	return cache->misses;
}

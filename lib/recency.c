/* SPDX-License-Identifier: MIT */
/*
 * Marks on a line of positions, and how many are after one (recency.h).
 *
 * A block of 512 positions is one cache line of bits, 16 counts another. Counting the marks after a
 * position takes the rest of its block and the rest of its 16 counts at every level; all 16 are
 * added under a mask, which compilers turn into vector instructions without a branch.
 */

#include "recency.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_LOG2 9
#define FAN_LOG2 4
#define FAN (1u << FAN_LOG2)
#define WORDS (1u << (BLOCK_LOG2 - 6))
#define CACHE_LINE 64

static uint64_t round_up(uint64_t value, unsigned log2)
{
	return (value + (UINT64_C(1) << log2) - 1) >> log2;
}

/* Counts of a level, made up to whole cache lines. */
static uint64_t counts_at(uint64_t capacity, unsigned level)
{
	uint64_t n = round_up(capacity, BLOCK_LOG2 + FAN_LOG2 * level);

	return round_up(n, FAN_LOG2) << FAN_LOG2;
}

/* As many as it takes to have no more than 16 counts in the last one. */
static unsigned levels_for(uint64_t capacity)
{
	unsigned levels = 1;

	while (counts_at(capacity, levels - 1) > FAN)
		levels++;
	return levels;
}

uint64_t mtl_recency_bytes_for(uint64_t capacity)
{
	uint64_t bytes = round_up(capacity, BLOCK_LOG2) * WORDS * sizeof(uint64_t);

	for (unsigned level = 0; level < levels_for(capacity); level++)
		bytes += counts_at(capacity, level) * sizeof(uint32_t);
	return bytes + CACHE_LINE;
}

static void lay_out(struct mtl_recency *r, char *memory)
{
	r->bits = (uint64_t *)memory;
	memory += round_up(r->capacity, BLOCK_LOG2) * WORDS * sizeof(uint64_t);
	for (unsigned level = 0; level < r->levels; level++) {
		r->counts[level] = (uint32_t *)memory;
		memory += counts_at(r->capacity, level) * sizeof(uint32_t);
	}
}

static void count_up(struct mtl_recency *r, uint64_t position, uint32_t by)
{
	position >>= BLOCK_LOG2;
	for (unsigned level = 0; level < r->levels; level++, position >>= FAN_LOG2)
		r->counts[level][position] += by;
}

/* Eight counts at once; a processor without such registers takes them in pieces. */
typedef uint32_t counts_vector __attribute__((vector_size(32), aligned(4), may_alias));

/* From [FAN - 1 - place] on: a mask of the counts after a place. */
static const uint32_t later[2 * FAN] = {
        [FAN] = -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

static inline __attribute__((always_inline)) uint64_t ones_after(
        const uint64_t *block, unsigned place)
{
	uint64_t sum = 0;

	for (unsigned word = 0; word < WORDS; word++) {
		uint64_t mask = word > place / 64    ? UINT64_MAX
		                : word == place / 64 ? UINT64_MAX << (place % 64) << 1
		                                     : 0;

		sum += (uint64_t)__builtin_popcountll(block[word] & mask);
	}
	return sum;
}

static inline __attribute__((always_inline)) uint64_t marks_after(
        const struct mtl_recency *r, uint64_t position)
{
	uint64_t block = position >> BLOCK_LOG2;
	uint64_t sum = ones_after(&r->bits[block * WORDS], position & (WORDS * 64 - 1));
	counts_vector counts = {0};

	for (unsigned level = 0; level < r->levels; level++, block >>= FAN_LOG2) {
		const counts_vector *group =
		        (const void *)&r->counts[level][block & ~(uint64_t)(FAN - 1)];
		const counts_vector *mask = (const void *)&later[FAN - 1 - (block & (FAN - 1))];

		counts += (group[0] & mask[0]) + (group[1] & mask[1]);
	}
	for (unsigned i = 0; i < 8; i++)
		sum += counts[i];
	return sum;
}

uint64_t mtl_recency_after_anywhere(const struct mtl_recency *r, uint64_t position)
{
	return marks_after(r, position);
}

#if defined(__x86_64__)
/* For processors that count bits and have vectors of eight counts. */
__attribute__((target("avx2,popcnt"))) static uint64_t marks_after_avx2(
        const struct mtl_recency *r, uint64_t position)
{
	return marks_after(r, position);
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}
#else
#define marks_after_avx2 mtl_recency_after_anywhere
static bool has_avx2(void)
{
	return false;
}
#endif

int mtl_recency_init(struct mtl_recency *ret_recency, uint64_t capacity, uint64_t marks)
{
	struct mtl_recency r = {.capacity = capacity, .levels = levels_for(capacity)};

	r.after = has_avx2() ? marks_after_avx2 : mtl_recency_after_anywhere;
	r.bytes = mtl_recency_bytes_for(capacity);
	r.memory = calloc(1, r.bytes);
	if (!r.memory)
		return -ENOMEM;
	lay_out(&r, (char *)r.memory + (CACHE_LINE - (uintptr_t)r.memory % CACHE_LINE));
	while (r.marks < marks)
		mtl_recency_add(&r);
	*ret_recency = r;
	return 0;
}

void mtl_recency_done(struct mtl_recency *recency)
{
	free(recency->memory);
	*recency = (struct mtl_recency){0};
}

uint64_t mtl_recency_add(struct mtl_recency *r)
{
	uint64_t position = r->end++;

	r->bits[position / 64] |= UINT64_C(1) << (position % 64);
	count_up(r, position, 1);
	r->marks++;
	return position;
}

void mtl_recency_remove(struct mtl_recency *r, uint64_t position)
{
	r->bits[position / 64] &= ~(UINT64_C(1) << (position % 64));
	count_up(r, position, -1);
	r->marks--;
}

uint64_t mtl_recency_renew(struct mtl_recency *r, uint64_t position)
{
	uint64_t after = r->after(r, position);

	mtl_recency_remove(r, position);
	mtl_recency_add(r);
	return after;
}

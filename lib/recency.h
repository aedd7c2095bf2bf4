/* SPDX-License-Identifier: MIT */
#ifndef MTL_RECENCY_H
#define MTL_RECENCY_H

/*
 * The order in which data were used last, as marks on a line of positions: each datum has its mark
 * where it was last used, and how many marks are after a position is the depth in the LRU stack.
 *
 * Marks are bits. A count of marks stands above every 512 positions, then one above every 16
 * counts, and so on; moving a mark and counting those after it take a handful of cache lines each.
 * When the line is used up, its user closes the ranks: the k-th mark moves to position k.
 */

#include <stdint.h>

#define RECENCY_LEVELS 16

struct mtl_recency {
	uint64_t capacity; /* positions 0 ... capacity - 1 */
	uint64_t end;      /* next free position */
	uint64_t marks;    /* how many there are */
	uint64_t *bits;
	uint32_t *counts[RECENCY_LEVELS]; /* [0]: of 512 positions; each 16 have one above */
	unsigned levels;
	uint64_t bytes;
	void *memory; /* what bits and counts are in */
	uint64_t (*after)(const struct mtl_recency *recency, uint64_t position); /* as below */
};

/* Room for capacity positions, of which the first `marks` are marked. -ENOMEM. */
int mtl_recency_init(struct mtl_recency *ret_recency, uint64_t capacity, uint64_t marks);
void mtl_recency_done(struct mtl_recency *recency);
uint64_t mtl_recency_bytes_for(uint64_t capacity);

/* Marks after a position. */
static inline uint64_t mtl_recency_after(const struct mtl_recency *recency, uint64_t position)
{
	return recency->after(recency, position);
}

/* The same on any processor; the other way needs vectors. */
uint64_t mtl_recency_after_anywhere(const struct mtl_recency *recency, uint64_t position);

/* Sets the mark at `end`, which must be below capacity, and moves end on; returns its position. */
uint64_t mtl_recency_add(struct mtl_recency *recency);
void mtl_recency_remove(struct mtl_recency *recency, uint64_t position);
/* The way of most accesses: counts the marks after a position and moves its mark to the end. */
uint64_t mtl_recency_renew(struct mtl_recency *recency, uint64_t position);

/* What counting the marks after a position begins with, for __builtin_prefetch(). */
static inline const void *mtl_recency_bits(const struct mtl_recency *recency, uint64_t position)
{
	return &recency->bits[position / 64];
}

#endif

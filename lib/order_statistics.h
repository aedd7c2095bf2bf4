/* SPDX-License-Identifier: MIT */
#ifndef MTL_ORDER_STATISTICS_H
#define MTL_ORDER_STATISTICS_H

/*
 * A set of positions 0 ... n - 1 that answers "how many are below" and "which one is the k-th", in
 * O(log n) each: a Fenwick tree. For LRU stacks: the positions are times, those in the set are the
 * data's last accesses, so the d-th most recently used datum is the d-th one from above.
 */

#include <stddef.h>
#include <stdint.h>

struct mtl_positions {
	size_t n;
	size_t highest; /* greatest power of two <= n */
	uint64_t *tree;
};

/* All positions out of the set. -ENOMEM. */
int mtl_positions_init(struct mtl_positions *ret_positions, size_t n);
void mtl_positions_done(struct mtl_positions *positions);

/* Put in a position that is out, take out one that is in. */
void mtl_positions_insert(struct mtl_positions *positions, size_t position);
void mtl_positions_remove(struct mtl_positions *positions, size_t position);

/* How many positions in the set are < position. */
uint64_t mtl_positions_below(const struct mtl_positions *positions, size_t position);
/* The position in the set that has `below` others below it; there must be one. */
size_t mtl_positions_select(const struct mtl_positions *positions, uint64_t below);

#endif

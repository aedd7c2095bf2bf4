/* SPDX-License-Identifier: MIT */
/*
 * Fenwick (1994): tree[i], i = 1 ... n, counts the positions i - lowest bit of i ... i - 1, so that
 * a count below i is a sum over the bits of i, and a search for the k-th walks down them.
 */

#include <errno.h>
#include <stdlib.h>
#include "order_statistics.h"

int mtl_positions_init(struct mtl_positions *ret_positions, size_t n)
{
	uint64_t *tree = calloc(n + 1, sizeof(*tree));
	size_t highest = 1;

	if (!tree)
		return -ENOMEM;
	while (highest <= n / 2)
		highest *= 2;
	*ret_positions = (struct mtl_positions){n, highest, tree};
	return 0;
}

void mtl_positions_done(struct mtl_positions *positions)
{
	free(positions->tree);
	positions->tree = NULL;
}

void mtl_positions_insert(struct mtl_positions *positions, size_t position)
{
	for (size_t i = position + 1; i <= positions->n; i += i & -i)
		positions->tree[i]++;
}

void mtl_positions_remove(struct mtl_positions *positions, size_t position)
{
	for (size_t i = position + 1; i <= positions->n; i += i & -i)
		positions->tree[i]--;
}

uint64_t mtl_positions_below(const struct mtl_positions *positions, size_t position)
{
	uint64_t below = 0;

	for (size_t i = position; i > 0; i &= i - 1)
		below += positions->tree[i];
	return below;
}

size_t mtl_positions_select(const struct mtl_positions *positions, uint64_t below)
{
	size_t at = 0;

	for (size_t step = positions->highest; step > 0; step /= 2)
		if (at + step <= positions->n && positions->tree[at + step] <= below) {
			at += step;
			below -= positions->tree[at];
		}
	return at;
}

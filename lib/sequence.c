/* SPDX-License-Identifier: MIT */
/*
 * A trace as a sequence of data, reuse times or reuse distances (mtl.h), and the ways between them.
 *
 * AI is the hub. Data get their numbers from a hash table: O(n). Reuse times come from a table of
 * each datum's last access, and lead back to AI by copying the datum from where they point: O(n). A
 * reuse distance is the rank, by recency, of its datum in the LRU stack, which is a set of times,
 * one for each datum so far, searched both ways in O(log n): how many are not before t' gives the
 * distance, the d-th from above gives the datum.
 *
 * Of each kind of sequence there is exactly one for every AI trace. Which arrays are one:
 *   AI  each is at most one above the greatest before it;
 *   RT  each is at most the number of accesses before it, and no two lead back to the same one;
 *   RD  each is at most the number of data before it.
 * This is looked at before anything is written.
 */

#include <errno.h>
#include <stdlib.h>
#include "cleanup.h"
#include "last_access.h"
#include "mtl.h"
#include "order_statistics.h"
#include "sequence.h"

int mtl_ai_from_data(const uint64_t *data, size_t n, uint64_t *ret_ai)
{
	_cleanup_(mtl_last_access_done) struct mtl_last_access numbers = {0};
	int r = mtl_last_access_init(&numbers, 0);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		uint64_t *number = mtl_last_access_time(&numbers, data[i]);
		if (!number)
			return -ENOMEM;
		if (*number == 0)
			*number = numbers.used;
	}
	for (size_t i = 0; i < n; i++)
		ret_ai[i] = *mtl_last_access_time(&numbers, data[i]);
	return 0;
}

static int check_ai(const uint64_t *ai, size_t n, uint64_t *ret_m)
{
	uint64_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (ai[i] == 0 || ai[i] > m + 1)
			return -EINVAL;
		m += ai[i] > m;
	}
	*ret_m = m;
	return 0;
}

int mtl_rt_check(const uint64_t *rt, size_t n)
{
	_cleanup_free_ uint8_t *reused = calloc(n / 8 + 1, 1);

	if (!reused)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (rt[i] == MTL_NEVER)
			continue;
		if (rt[i] == 0 || rt[i] > i)
			return -EINVAL;
		size_t previous = i - rt[i];
		if (reused[previous / 8] & 1u << previous % 8)
			return -EINVAL;
		reused[previous / 8] |= 1u << previous % 8;
	}
	return 0;
}

static int check_rd(const uint64_t *rd, size_t n)
{
	uint64_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (rd[i] == MTL_NEVER)
			m++;
		else if (rd[i] == 0 || rd[i] > m)
			return -EINVAL;
	}
	return 0;
}

int mtl_rt_from_ai(const uint64_t *ai, size_t n, uint64_t *ret_rt)
{
	uint64_t m;
	int r = check_ai(ai, n, &m);

	if (r < 0)
		return r;
	_cleanup_free_ size_t *last = calloc(m + 1, sizeof(*last));
	if (!last)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		size_t *time = &last[ai[i]];
		ret_rt[i] = *time ? i + 1 - *time : MTL_NEVER;
		*time = i + 1;
	}
	return 0;
}

int mtl_rd_from_ai(const uint64_t *ai, size_t n, uint64_t *ret_rd)
{
	_cleanup_(mtl_positions_done) struct mtl_positions stack = {0};
	uint64_t m, seen = 0;
	int r = check_ai(ai, n, &m);

	if (r < 0)
		return r;
	_cleanup_free_ size_t *last = calloc(m + 1, sizeof(*last));
	if (!last)
		return -ENOMEM;
	r = mtl_positions_init(&stack, n);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		size_t *position = &last[ai[i]];
		bool reuse = ai[i] <= seen;
		ret_rd[i] = reuse ? seen - mtl_positions_below(&stack, *position) : MTL_NEVER;
		if (reuse)
			mtl_positions_remove(&stack, *position);
		else
			seen++;
		mtl_positions_insert(&stack, i);
		*position = i;
	}
	return 0;
}

int mtl_ai_from_rt(const uint64_t *rt, size_t n, uint64_t *ret_ai)
{
	uint64_t m = 0;
	int r = mtl_rt_check(rt, n);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		ret_ai[i] = rt[i] == MTL_NEVER ? ++m : ret_ai[i - rt[i]];
	return 0;
}

int mtl_ai_from_rd(const uint64_t *rd, size_t n, uint64_t *ret_ai)
{
	_cleanup_(mtl_positions_done) struct mtl_positions stack = {0};
	uint64_t m = 0;
	int r = check_rd(rd, n);

	if (r < 0)
		return r;
	r = mtl_positions_init(&stack, n);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (rd[i] == MTL_NEVER) {
			ret_ai[i] = ++m;
		} else {
			size_t previous = mtl_positions_select(&stack, m - rd[i]);
			ret_ai[i] = ret_ai[previous];
			mtl_positions_remove(&stack, previous);
		}
		mtl_positions_insert(&stack, i);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * The footprint of a trace, straight from its reuse times: the mean over all n - x + 1 windows of
 * length x of the distinct data in them, as one exact sum divided once.
 *
 * Additive: each datum counts at its first appearance in a window. The access at t, with reuse time
 * r, is that in the windows that start at s with
 *
 *     max(1, t - x + 1, t - r + 1) <= s <= min(t, n - x + 1).
 *
 * Incremental (Algorithm 2 of the theory): all accesses count, then repeats are taken away,
 *
 *     (n - x + 1) fp(x) = n x - sum (x - rt) over rt < x - head - tail,
 *     head = sum of x - f_k over f_k < x,    tail = sum of x - l_k over l_k < x.
 *
 * head needs the first x - 1 accesses and tail the last x - 1: there, an access u before the end
 * (the last one has u = 1) adds x - u, and takes away what its previous access added, x - u - rt,
 * if that lies in the tail too. What is left of each datum is its last access.
 *
 * Sums are below n x and do not fit 64 bits when n does not fit 32.
 */

#include <errno.h>
#include "mtl.h"
#include "sequence.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The sum over all windows. */
typedef wide window_sum(const uint64_t *rt, size_t n, size_t x);

static wide additive_sum(const uint64_t *rt, size_t n, size_t x)
{
	wide sum = 0;

	for (size_t t = 1; t <= n; t++) {
		uint64_t reach = min(rt[t - 1], x);
		uint64_t first = t > reach ? t - reach + 1 : 1, last = min(t, n - x + 1);
		sum += max(last + 1, first) - first;
	}
	return sum;
}

static wide repeats_of_body(const uint64_t *rt, size_t n, size_t x)
{
	wide sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x - min(rt[i], x);
	return sum;
}

static wide repeats_of_head(const uint64_t *rt, size_t x)
{
	wide sum = 0;

	for (size_t t = 1; t < x; t++)
		sum += rt[t - 1] == MTL_NEVER ? x - t : 0;
	return sum;
}

static wide repeats_of_tail(const uint64_t *rt, size_t n, size_t x)
{
	wide sum = 0;

	for (size_t u = 1; u < x; u++)
		sum += min(x - u, rt[n - u]);
	return sum;
}

static wide incremental_sum(const uint64_t *rt, size_t n, size_t x)
{
	return (wide)n * x - repeats_of_body(rt, n, x) - repeats_of_head(rt, x) -
	       repeats_of_tail(rt, n, x);
}

static int footprint(
        window_sum *sum, const uint64_t *rt, size_t n, size_t window, double *ret_footprint)
{
	if (window == 0 || window > n)
		return -EINVAL;
	int r = mtl_rt_check(rt, n);
	if (r < 0)
		return r;
	*ret_footprint = (double)sum(rt, n, window) / (double)(n - window + 1);
	return 0;
}

int mtl_footprint_additive(const uint64_t *rt, size_t n, size_t window, double *ret_footprint)
{
	return footprint(additive_sum, rt, n, window, ret_footprint);
}

int mtl_footprint_incremental(const uint64_t *rt, size_t n, size_t window, double *ret_footprint)
{
	return footprint(incremental_sum, rt, n, window, ret_footprint);
}

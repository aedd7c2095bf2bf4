/* SPDX-License-Identifier: MIT */
/*
 * From metrics back to what they came from.
 *
 * Miss ratios give the footprint: after one more access it has grown by 1 if the access was a miss,
 * in the mean by the miss ratio of a cache that holds the footprint so far,
 *
 *     fp(0) = 0,    fp(x + 1) = fp(x) + mr(fp(x)).
 *
 * At the sizes s(x) of Denning and Schwartz with miss ratios P(rt > x) this is their recurrence and
 * gives s back. A sum of floating-point numbers may stop just short of the size it should reach, so
 * a size counts as reached within 1e-9 of itself.
 *
 * The footprint and the boundary times give the reuse times: with W(x) = (n - x + 1) fp(x),
 *
 *     rt(x) = [W(x) - W(x-1)] - [W(x+1) - W(x)] - #{f_k = x} - #{l_k = x},
 *
 * where W(n + 1) = 0. All W are whole numbers, to which they are rounded; a double near 2^50 cannot
 * be told from a fraction beside it and is refused like one. Summing over x gives
 * n fp(1) + W(n) - 2 m: with fp(1) = 1 and fp(n) = m these are the n - m reuses.
 */

#include <errno.h>
#include <math.h>
#include "mtl.h"

#define SAME_SIZE 1e-9
#define SAME_NUMBER 0.25
#define LARGEST_SUM 0x1p50

static bool curve_valid(const double *lines, const double *miss_ratios, size_t n)
{
	if (n == 0 || lines[0] != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!(miss_ratios[i] >= 0 && miss_ratios[i] <= 1))
			return false;
		if (i > 0 && !(lines[i] > lines[i - 1]))
			return false;
	}
	return true;
}

int mtl_footprint_from_miss_ratios(const double *lines, const double *miss_ratios, size_t n,
        size_t n_windows, double *ret_footprint)
{
	double footprint = 0;
	size_t i = 0;

	if (!curve_valid(lines, miss_ratios, n))
		return -EINVAL;
	for (size_t x = 0; x < n_windows; x++) {
		ret_footprint[x] = footprint;
		while (i + 1 < n && lines[i + 1] * (1 - SAME_SIZE) <= footprint)
			i++;
		footprint += miss_ratios[i];
	}
	return 0;
}

/* What a trace with this footprint would have. */
struct boundary {
	const double *footprint;
	const uint64_t *first, *last;
	size_t n;
};

/* W(x), which is 0 at both ends. */
static double window_sum(const struct boundary *b, size_t x)
{
	return x > b->n ? 0 : (double)(b->n - x + 1) * b->footprint[x];
}

static int64_t whole_sum(const struct boundary *b, size_t x)
{
	return (int64_t)rint(window_sum(b, x));
}

static int64_t count_at(const struct boundary *b, size_t x)
{
	if (x == 0)
		return 0;
	return 2 * whole_sum(b, x) - whole_sum(b, x - 1) - whole_sum(b, x + 1) -
	       (int64_t)(b->first[x] + b->last[x]);
}

static bool sums_valid(const struct boundary *b)
{
	for (size_t x = 0; x <= b->n; x++) {
		double sum = window_sum(b, x);
		if (!(fabs(sum) < LARGEST_SUM && fabs(sum - rint(sum)) <= SAME_NUMBER))
			return false;
		if (b->first[x] > b->n || b->last[x] > b->n)
			return false;
	}
	return whole_sum(b, 0) == 0;
}

static bool counts_valid(const struct boundary *b)
{
	uint64_t m = 0, reuses = 0, ends = 0;

	for (size_t x = 0; x <= b->n; x++) {
		int64_t count = count_at(b, x);
		if (count < 0)
			return false;
		reuses += (uint64_t)count;
		m += b->first[x];
		ends += b->last[x];
	}
	return ends == m && reuses + m == b->n && b->first[0] == 0 && b->last[0] == 0;
}

int mtl_rt_histogram_from_footprint(const double *footprint, const uint64_t *first,
        const uint64_t *last, size_t n, uint64_t *ret_count)
{
	const struct boundary b = {footprint, first, last, n};

	if (!sums_valid(&b) || !counts_valid(&b))
		return -EINVAL;
	for (size_t x = 0; x <= n; x++)
		ret_count[x] = (uint64_t)count_at(&b, x);
	return 0;
}

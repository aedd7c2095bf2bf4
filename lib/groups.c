/* SPDX-License-Identifier: MIT */
/*
 * Constant space: a few groups of values instead of the values.
 *
 * Equal population (Zhong et al. 2009): the sorted values are cut near i n / k, but never within a
 * run of equal values: at that end of the run which is nearer. So a group of several values has at
 * most n / k + 1 of them and half of the runs at its two ends; a value that fills several groups
 * has one of its own, and there are fewer than k.
 *
 * Bounded spread (Marin and Mellor-Crummey 2004): a group whose greatest value is more than 1 +
 * spread times its smallest is split in two at the middle of its range. The range halves each time,
 * so this is no deeper than the 64 bits of a value, and a value is known to its share of spread.
 *
 * In both, low and high are values that occur.
 *
 * What n bins say of the values above x is off by no more than what the one bin holds that x falls
 * into; and by nothing where that is a single value. So the bound for all x is the greatest count
 * among the bins of several values: about n / k for groups of equal population.
 */

#include <errno.h>
#include <math.h>
#include <string.h>
#include "cleanup.h"
#include "linear_density.h"
#include "mtl.h"

/* Groups of a sorted array; counted only while bins is NULL. */
struct groups {
	const uint64_t *sorted;
	struct mtl_bin *bins;
	size_t n;
};

/* Splits sorted[0] ... sorted[n - 1] by `parameter`, from the smallest up. */
typedef void splitter(struct groups *groups, size_t n, double parameter);

static int compare_values(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The first position from which on values are > value, among start ... end. */
static size_t end_of_run(const uint64_t *sorted, size_t start, size_t end, uint64_t value)
{
	while (start < end) {
		size_t middle = start + (end - start) / 2;
		if (sorted[middle] > value)
			end = middle;
		else
			start = middle + 1;
	}
	return start;
}

static void add_group(struct groups *groups, size_t start, size_t end)
{
	uint64_t low = groups->sorted[start];
	double sum = 0;

	if (groups->bins) {
		for (size_t i = start; i < end; i++)
			sum += (double)(groups->sorted[i] - low);
		groups->bins[groups->n] = (struct mtl_bin){
		        .low = low,
		        .high = groups->sorted[end - 1],
		        .count = end - start,
		        .mean = (double)low + sum / (double)(end - start),
		};
	}
	groups->n++;
}

/* Where to cut near `target`: the nearer end of the run there that leaves something before it. */
static size_t cut_near(const uint64_t *sorted, size_t start, size_t target, size_t n)
{
	uint64_t value = sorted[target - 1];
	size_t after = end_of_run(sorted, target, n, value);
	size_t before = value ? end_of_run(sorted, 0, target, value - 1) : 0;

	return before > start && target - before < after - target ? before : after;
}

static void split_by_population(struct groups *groups, size_t n, double parameter)
{
	size_t k = parameter < (double)n ? (size_t)parameter : n, start = 0;

	for (size_t i = 1; start < n; i++) {
		size_t target = i < k ? (size_t)((unsigned __int128)i * n / k) : n;
		if (target <= start)
			continue;
		size_t end = cut_near(groups->sorted, start, target, n);
		add_group(groups, start, end);
		start = end;
	}
}

static void split_range(struct groups *groups, size_t start, size_t end, double spread)
{
	uint64_t low = groups->sorted[start], high = groups->sorted[end - 1];

	if (low == high || !((double)high > (double)low * (1 + spread))) {
		add_group(groups, start, end);
		return;
	}
	size_t middle = end_of_run(groups->sorted, start, end, low + (high - low) / 2);
	split_range(groups, start, middle, spread);
	split_range(groups, middle, end, spread);
}

static void split_by_spread(struct groups *groups, size_t n, double parameter)
{
	if (n > 0)
		split_range(groups, 0, n, parameter);
}

static int groups_of(const uint64_t *values, size_t n, splitter *split, double parameter,
        struct mtl_bin *ret_bins, size_t most, size_t *ret_n)
{
	_cleanup_free_ uint64_t *sorted = calloc(n + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	if (n > 0)
		memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_values);

	struct groups counted = {.sorted = sorted}, filled = {.sorted = sorted, .bins = ret_bins};
	split(&counted, n, parameter);
	if (counted.n > most)
		return -E2BIG;
	if (counted.n > 0)
		split(&filled, n, parameter);
	*ret_n = counted.n;
	return 0;
}

int mtl_groups_of_equal_population(const uint64_t *values, size_t n, size_t k,
        struct mtl_bin *ret_bins, size_t most, size_t *ret_n)
{
	if (k == 0)
		return -EINVAL;
	return groups_of(values, n, split_by_population, (double)k, ret_bins, most, ret_n);
}

int mtl_groups_of_bounded_spread(const uint64_t *values, size_t n, double spread,
        struct mtl_bin *ret_bins, size_t most, size_t *ret_n)
{
	if (!(spread > 0))
		return -EINVAL;
	return groups_of(values, n, split_by_spread, spread, ret_bins, most, ret_n);
}

/* Share of a bin's values above x, where x is one of its values but the greatest. */
static double share_above(const struct mtl_bin *bin, enum mtl_density density, double x)
{
	double before = (double)bin->low - 1, width = (double)(bin->high - bin->low) + 1;

	if (density == MTL_LINEAR)
		return mtl_density_above(width, bin->mean - before, x - before);
	return 1 - floor(x - before) / width;
}

double mtl_bins_above(const struct mtl_bin *bins, size_t n, enum mtl_density density, double x)
{
	double above = 0;

	for (size_t i = 0; i < n; i++) {
		double share = x < (double)bins[i].low ? 1 : 0;
		if (x >= (double)bins[i].low && x < (double)bins[i].high)
			share = share_above(&bins[i], density, x);
		above += share * (double)bins[i].count;
	}
	return above;
}

double mtl_bins_above_error(const struct mtl_bin *bins, size_t n)
{
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++)
		if (bins[i].low < bins[i].high && bins[i].count > most)
			most = bins[i].count;
	return (double)most;
}

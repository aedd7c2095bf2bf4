/* SPDX-License-Identifier: MIT */
/*
 * What a program asks of a cache, on a clock it has in common with others.
 *
 * A demand has points (size, fill time, misses per unit of time), the first at size 0. Fill time is
 * the inverse of the footprint, so the same points say how much the program touches in a time T:
 * linear between them, up to the whole footprint at the longest time looked at. What it touches
 * beyond that is not known; nothing more is assumed.
 *
 * In a shared cache of C bytes all programs together touch C in the time T with sum fp_p(T) = C.
 * Then program p occupies fp_p(T) and misses as in a cache of that size of its own (Xiang et al.
 * 2011). Whoever touches more in the same time takes the cache from the others.
 *
 * The sum is linear between neighbours among all points of all demands. Of each demand's points the
 * last one at whose time the sum is still below C is found by halving; the latest of these and the
 * earliest of their successors are such neighbours, and between them T is a ratio. What those
 * before it have left narrows the search of each, so that the sum is formed some tens of times in
 * all. Occupancies are taken at the same ratio, so that they add up to C but for rounding.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "mtl.h"

struct mtl_demand *mtl_demand_free(struct mtl_demand *demand)
{
	free(demand);
	return NULL;
}

/* Exact at both ends, and where they are level. */
static double between(double x0, double y0, double x1, double y1, double x)
{
	double part = (x - x0) / (x1 - x0), rest = (x1 - x) / (x1 - x0);

	return part < 0.5 ? y0 + (y1 - y0) * part : y1 - (y1 - y0) * rest;
}

/* The last point at or before a time. */
static size_t point_before(const struct mtl_demand *demand, double time)
{
	size_t low = 0, high = demand->n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (demand->points[middle].fill_time <= time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* When the point after this one is reached. */
static double next_time(const struct mtl_demand *demand, size_t i)
{
	return i + 1 < demand->n ? demand->points[i + 1].fill_time : INFINITY;
}

double mtl_demand_footprint(const struct mtl_demand *demand, double time)
{
	size_t i = isinf(time) ? demand->n : point_before(demand, time);
	const struct mtl_demand_point *p = &demand->points[i];

	if (i == demand->n || isinf(next_time(demand, i)))
		return demand->footprint_bytes;
	return between(
	        p[0].fill_time, p[0].size_bytes, p[1].fill_time, p[1].size_bytes, fmax(time, 0));
}

/* The last point before a size that has another after it. */
static const struct mtl_demand_point *segment_of(const struct mtl_demand *demand, double size)
{
	size_t low = 0, high = demand->n - 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (demand->points[middle].size_bytes < size)
			low = middle;
		else
			high = middle;
	}
	return &demand->points[low];
}

double mtl_demand_misses(
        const struct mtl_demand *demand, double size_bytes, double *ret_low, double *ret_high)
{
	const struct mtl_demand_point *last = demand->points + demand->n - 1;
	double size = fmin(fmax(size_bytes, 0), last->size_bytes), misses, low, high;
	const struct mtl_demand_point *p = segment_of(demand, size);

	misses = between(p[0].size_bytes, p[0].misses, p[1].size_bytes, p[1].misses, size);
	low = between(p[0].size_bytes, p[0].low, p[1].size_bytes, p[1].low, size);
	high = between(p[0].size_bytes, p[0].high, p[1].size_bytes, p[1].high, size);
	if (ret_low)
		*ret_low = fmin(low, misses);
	if (ret_high)
		*ret_high = fmax(high, misses);
	return misses;
}

static double footprint_of_all(const struct mtl_demand *const *demands, size_t n, double time)
{
	double bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += mtl_demand_footprint(demands[i], time);
	return bytes;
}

/* Times between which all together come to touch `bytes`. */
struct bracket {
	double before, after;
};

/* Has so much been touched by then? Asked of nobody where the bracket says it. */
static bool is_touched(const struct mtl_demand *const *demands, size_t n, double bytes,
        const struct bracket *known, double time)
{
	if (time <= known->before)
		return false;
	return time >= known->after || footprint_of_all(demands, n, time) >= bytes;
}

/* Narrowed to neighbours among the points of this demand too. */
static void narrow(const struct mtl_demand *const *demands, size_t n, size_t which, double bytes,
        struct bracket *bracket)
{
	const struct mtl_demand *demand = demands[which];
	size_t low = 0, high = demand->n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (is_touched(demands, n, bytes, bracket, demand->points[middle].fill_time))
			high = middle;
		else
			low = middle;
	}
	bracket->before = fmax(bracket->before, demand->points[low].fill_time);
	bracket->after = fmin(bracket->after, next_time(demand, low));
}

/* T, and of each fp(T). */
static double occupy(
        const struct mtl_demand *const *demands, size_t n, double bytes, double *ret_occupancy)
{
	struct bracket bracket = {0, INFINITY};
	double part = 0;

	if (bytes >= footprint_of_all(demands, n, INFINITY)) {
		for (size_t i = 0; i < n; i++)
			ret_occupancy[i] = demands[i]->footprint_bytes;
		return INFINITY;
	}
	if (bytes > 0) {
		for (size_t i = 0; i < n; i++)
			narrow(demands, n, i, bytes, &bracket);
		part = between(footprint_of_all(demands, n, bracket.before), 0,
		        footprint_of_all(demands, n, bracket.after), 1, bytes);
	} else
		bracket.after = 0;
	for (size_t i = 0; i < n; i++)
		ret_occupancy[i] = mtl_demand_footprint(demands[i], bracket.before) * (1 - part) +
		                   mtl_demand_footprint(demands[i], bracket.after) * part;
	return bracket.before * (1 - part) + bracket.after * part;
}

int mtl_demands_share(const struct mtl_demand *const *demands, size_t n, double size_bytes,
        double *ret_time, double *ret_occupancy, double *ret_misses)
{
	if (n == 0 || !(size_bytes >= 0))
		return -EINVAL;
	for (size_t i = 1; i < n; i++)
		if (strcmp(demands[i]->unit, demands[0]->unit) != 0)
			return -EINVAL;
	*ret_time = occupy(demands, n, size_bytes, ret_occupancy);
	for (size_t i = 0; i < n; i++) /* what it holds alone, it does not miss: not by rounding */
		ret_misses[i] = mtl_demand_misses(
		        demands[i], isinf(*ret_time) ? size_bytes : ret_occupancy[i], NULL, NULL);
	return 0;
}

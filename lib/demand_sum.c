/* SPDX-License-Identifier: MIT */
/*
 * The demand of several programs that share a cache as one, and no data: their composition.
 *
 * In a time T they touch C(T) = sum fp_p(T) (Xiang et al. 2011), and in a cache of so many bytes
 * they miss sum m_p(fp_p(T)), each as in what it then occupies. fp_p is linear in T between the
 * fill times of its points, and m_p is linear in size there; so between neighbours among the fill
 * times of all points both sums are linear in T, hence misses are linear in C: a demand with a
 * point for each of these times is the composition exactly, between the points too. Sharing a cache
 * with others it takes part as its members would, one by one.
 *
 * A cache that holds more than all they touch gives each member all of it, as
 * mtl_demands_share() has it: the misses are sum m_p(C). They may be fewer than just before, where
 * a member was confined to what it touches; the step is a point next to the footprint.
 *
 * Low and high ends add up too. For errors that agree, that is their interval, for independent ones
 * it is too wide: the true one goes with the root of the sum of squares.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "mtl.h"

DEFINE_CLEANUP(struct mtl_demand, mtl_demand_free)

struct members {
	const struct mtl_demand *const *demands;
	size_t n;
};

static double footprint_of(const struct members *members, double time)
{
	double bytes = 0;

	for (size_t i = 0; i < members->n; i++)
		bytes += mtl_demand_footprint(members->demands[i], time);
	return bytes;
}

/* time INFINITY: in size_bytes for each; else in what each touches within it. */
static struct mtl_demand_point point_of(
        const struct members *members, double size_bytes, double time)
{
	struct mtl_demand_point point = {.size_bytes = size_bytes, .fill_time = time};

	for (size_t i = 0; i < members->n; i++) {
		const struct mtl_demand *demand = members->demands[i];
		double low, high;
		double bytes = isinf(time) ? size_bytes : mtl_demand_footprint(demand, time);

		point.misses += mtl_demand_misses(demand, bytes, &low, &high);
		point.low += low;
		point.high += high;
	}
	return point;
}

/* Where sizes do not rise, by rounding, the later one is dropped; misses do not, by rounding. */
static void add_point(struct mtl_demand *demand, struct mtl_demand_point point)
{
	const struct mtl_demand_point *last = demand->n ? &demand->points[demand->n - 1] : NULL;

	if (last && !(point.size_bytes > last->size_bytes))
		return;
	if (last) {
		point.misses = fmin(point.misses, last->misses);
		point.low = fmin(fmin(point.low, last->low), point.misses);
		point.high = fmax(fmin(point.high, last->high), point.misses);
	}
	demand->points[demand->n++] = point;
}

static int ascending(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* The fill times of all points, or their sizes where there is none. */
static size_t collect(const struct members *members, bool filled, double *ret_numbers)
{
	size_t n = 0;

	for (size_t i = 0; i < members->n; i++) {
		const struct mtl_demand *demand = members->demands[i];

		for (size_t k = 0; k < demand->n; k++) {
			if (filled != isfinite(demand->points[k].fill_time))
				continue;
			ret_numbers[n++] =
			        filled ? demand->points[k].fill_time : demand->points[k].size_bytes;
		}
	}
	qsort(ret_numbers, n, sizeof(*ret_numbers), ascending);
	return n;
}

static void add_points(const struct members *members, double *numbers, struct mtl_demand *demand)
{
	size_t n = collect(members, true, numbers);

	for (size_t i = 0; i < n; i++)
		add_point(demand, point_of(members, footprint_of(members, numbers[i]), numbers[i]));
	demand->footprint_bytes = demand->points[demand->n - 1].size_bytes;
	add_point(
	        demand, point_of(members, nextafter(demand->footprint_bytes, INFINITY), INFINITY));
	n = collect(members, false, numbers);
	for (size_t i = 0; i < n; i++)
		add_point(demand, point_of(members, numbers[i], INFINITY));
}

/* From which size on every member occupies what its curve knows of, or all that it touches. */
static double known_from(const struct members *members)
{
	double latest = 0, time, occupancy, misses;

	for (size_t i = 0; i < members->n; i++) {
		mtl_demands_share(&members->demands[i], 1,
		        members->demands[i]->smallest_known_bytes, &time, &occupancy, &misses);
		latest = fmax(latest, time);
	}
	return footprint_of(members, latest);
}

int mtl_demand_sum(const struct mtl_demand *const *demands, size_t n, const char *name,
        struct mtl_demand **ret_demand)
{
	_cleanup_(mtl_demand_freep) struct mtl_demand *sum = NULL;
	_cleanup_free_ double *numbers = NULL;
	const struct members members = {demands, n};
	size_t points = 1;

	for (size_t i = 0; i < n; i++) {
		points += demands[i]->n;
		if (strcmp(demands[i]->unit, demands[0]->unit) != 0)
			return -EINVAL;
	}
	if (n == 0)
		return -EINVAL;
	sum = calloc(1, sizeof(*sum) + points * sizeof(*sum->points));
	numbers = calloc(points, sizeof(*numbers));
	if (!sum || !numbers)
		return -ENOMEM;
	snprintf(sum->name, sizeof(sum->name), "%s", name);
	snprintf(sum->unit, sizeof(sum->unit), "%s", demands[0]->unit);
	add_points(&members, numbers, sum);
	for (size_t i = 0; i < n; i++) {
		sum->longest_time = fmax(sum->longest_time, demands[i]->longest_time);
		sum->work += demands[i]->work;
	}
	sum->smallest_known_bytes = known_from(&members);
	*ret_demand = TAKE_PTR(sum);
	return 0;
}

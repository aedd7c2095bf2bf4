/* SPDX-License-Identifier: MIT */
#ifndef MTL_FOOTPRINT_H
#define MTL_FOOTPRINT_H

/* Line coverage and births -> footprint -> its least concave majorant. */

#include "line_coverage.h"

/* Lines touched within windows, straight between the corners; the first is (0, 0). */
struct mtl_footprint {
	size_t n;
	double window[GRID_MAX + 1];
	double lines[GRID_MAX + 1];
	double birth_rate; /* lines born a second: a part of every slope */
};

/* Births in equal stretches of time, so that bursts widen the interval. */
#define BIRTH_BLOCKS 20

struct mtl_birth_rate {
	double lines[BIRTH_BLOCKS];   /* born in the stretch, decayed */
	double seconds[BIRTH_BLOCKS]; /* its length, decayed */
};

/* -EINVAL: not finite, or not a non-decreasing series. */
int mtl_birth_rate_from_births(const struct mtl_birth *births, size_t n, double first, double now,
        double window_seconds, struct mtl_birth_rate *ret_rate);

/* Lines a second; multiplicity: how often each stretch counts (NULL: once). */
double mtl_birth_rate(const struct mtl_birth_rate *rate, const uint8_t *multiplicity);

/* lines(T) = lines x coverage(T) + birth_rate x T at each window of the grid. */
void mtl_footprint_from_coverage(const struct mtl_grid *grid, const double *coverage, double lines,
        double birth_rate, struct mtl_footprint *ret_footprint);

/* Misses of a cache of `small` lines: `rate` a second, `quiet` seconds its fill time. */
struct mtl_visits {
	double small, rate, quiet;
};

/*
 * From coverage(T) = P(the gap that ends a visit <= T): small T / quiet lines up to `quiet`, then
 * small + rate x integral of (1 - coverage). Births are among the misses; birth_rate is what is
 * missed at any size, and no more than is missed at the end.
 */
void mtl_footprint_from_gaps(const struct mtl_grid *grid, const double *coverage,
        const struct mtl_visits *visits, double birth_rate, struct mtl_footprint *ret_footprint);

void mtl_majorant_from_footprint(
        const struct mtl_footprint *footprint, struct mtl_footprint *ret_majorant);

/* The least concave majorant of n points of ascending x, in place; returns how many are left. */
size_t mtl_concave_majorant(double *x, double *y, size_t n);

/* Index of the first segment [i, i + 1] of ascending corners whose end is not below value. */
size_t mtl_segment_of(const double *corners, size_t n, double value);

/* Lines touched within a window; beyond the longest trusted one: what is touched within that. */
double mtl_footprint_at(const struct mtl_footprint *footprint, double window);

/*
 * y at x between corners of ascending x, along a power of x (so a straight line through the origin
 * stays one); before the first corner but (0, 0), and where y is 0, along a straight line. Beyond
 * the last corner the last y.
 */
double mtl_power_between(const double *x, const double *y, size_t n, double at);

static inline double mtl_footprint_whole(const struct mtl_footprint *footprint)
{
	return footprint->lines[footprint->n - 1];
}

static inline double mtl_longest_window(const struct mtl_footprint *footprint)
{
	return footprint->window[footprint->n - 1];
}

#endif

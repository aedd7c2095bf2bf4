/* SPDX-License-Identifier: MIT */
#ifndef MTL_MISS_CURVE_H
#define MTL_MISS_CURVE_H

/* Fill time -> miss rates, and the sizes and windows a curve has when nobody asks for others. */

#include "fill_time.h"

/* The slope at a size is the mean over sizes up to this part of it smaller and larger. */
#define MTL_BAND 0.2

/* Mean slope of the footprint over the sizes from ... to; at one size where they are equal. */
double mtl_mean_slope(const struct mtl_footprint *footprint, double from, double to);

double mtl_last_slope(const struct mtl_footprint *footprint);

/* Misses a second in a cache of this many lines; resolution: shortest window trusted. */
double mtl_misses_from_fill_time(
        const struct mtl_footprint *footprint, double resolution, double lines);

/*
 * sqrt(2) steps from 32 KiB to twice the larger of cache and footprint (bytes; 0: unknown).
 * Returns how many sizes there are and writes the first `most` of them.
 */
size_t mtl_default_sizes(
        double cache_bytes, double footprint_bytes, double *ret_sizes, size_t most);

/* Decades from the resolution up, then the longest trusted window itself. Same return. */
size_t mtl_default_windows(double resolution, double longest, double *ret_windows, size_t most);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Miss curve: misses a second in a fully associative LRU cache of c lines, for every c.
 *
 *     misses(c) = fp'(ft(c)),  taken as the mean of fp'(ft(x)) over x in c - w ... c + w
 *
 * The slope at one size is the noise of one corner of the majorant, so it is averaged over a band
 * of sizes, w = 0.2 c, less where that would reach beyond what the program touches or below the
 * resolution. Both ends of such a band move right with c and the slope falls with x, so the mean
 * never rises with size; it is exact where the slope is linear in size (scan, uniform random).
 *
 * Below fp(resolution) the slope stays what it is there, and the point is marked. A cache that is
 * never filled within a trusted window takes cold misses only, at the birth rate.
 */

#include <math.h>
#include "miss_curve.h"

#define SMALLEST_SIZE 32768.0
/* Shortest default window where no resolution is given, as a part of the longest. */
#define FINEST 1e-6

static double slope_of(const struct mtl_footprint *f, size_t segment)
{
	return (f->lines[segment + 1] - f->lines[segment]) /
	       (f->window[segment + 1] - f->window[segment]);
}

double mtl_mean_slope(const struct mtl_footprint *f, double from, double to)
{
	size_t i = mtl_segment_of(f->lines, f->n, from);
	double sum = 0;

	if (to - from <= 1e-9 * to)
		return slope_of(f, i);
	for (; i + 1 < f->n && f->lines[i] < to; i++) {
		double within = fmin(to, f->lines[i + 1]) - fmax(from, f->lines[i]);
		sum += fmax(within, 0) * slope_of(f, i);
	}
	return sum / (to - from);
}

double mtl_last_slope(const struct mtl_footprint *f)
{
	return slope_of(f, f->n - 2);
}

double mtl_misses_from_fill_time(const struct mtl_footprint *f, double resolution, double lines)
{
	double whole = mtl_footprint_whole(f), resolved = mtl_footprint_at(f, resolution);

	if (isinf(mtl_fill_time_from_footprint(f, lines)))
		return f->birth_rate;
	double size = fmax(lines, resolved);
	double half = fmin(MTL_BAND * size, fmin(whole - size, size - resolved));
	return fmax(mtl_mean_slope(f, size - half, size + half), f->birth_rate);
}

size_t mtl_default_sizes(double cache_bytes, double footprint_bytes, double *ret_sizes, size_t most)
{
	double largest = 2 * fmax(fmax(cache_bytes, footprint_bytes), SMALLEST_SIZE);
	size_t n = 0;

	while (n < most) {
		double size = SMALLEST_SIZE * pow(M_SQRT2, n);
		ret_sizes[n++] = round(size);
		if (size >= largest)
			break;
	}
	return n;
}

size_t mtl_default_windows(double resolution, double longest, double *ret_windows, size_t most)
{
	int exponent = ceil(log10(fmax(resolution, longest * FINEST)) - 1e-9);
	size_t n = 0;

	for (double window = pow(10, exponent); window < longest; window = pow(10, ++exponent))
		if (n + 1 < most)
			ret_windows[n++] = window;
	if (n < most)
		ret_windows[n++] = longest;
	return n;
}

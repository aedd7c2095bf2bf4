/* SPDX-License-Identifier: MIT */
/*
 * Fill time: how long the program takes to touch c distinct lines, ft(c) = fp^-1(c).
 *
 * The majorant of the footprint rises until it reaches its largest value and is flat from there, so
 * the inverse is unique below that value; where it is reached the first window counts. A cache of
 * that many lines or more is never filled: INFINITY.
 */

#include <math.h>
#include "fill_time.h"

/* First window whose footprint is `lines`, for lines within the footprint. */
static double first_window(const struct mtl_footprint *f, double lines)
{
	size_t i = mtl_segment_of(f->lines, f->n, lines);
	double rise = f->lines[i + 1] - f->lines[i];
	double part = rise > 0 ? (lines - f->lines[i]) / rise : 0;

	return f->window[i] + fmin(part, 1) * (f->window[i + 1] - f->window[i]);
}

double mtl_fill_time_from_footprint(const struct mtl_footprint *footprint, double lines)
{
	return lines < mtl_footprint_whole(footprint) ? first_window(footprint, lines) : INFINITY;
}

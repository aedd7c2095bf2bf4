/* SPDX-License-Identifier: MIT */
#ifndef LINEAR_DENSITY_H
#define LINEAR_DENSITY_H

/*
 * What a bin says of its values when only their mean is known. The bin holds the whole numbers
 * 1 ... width (a bin of values low ... high: width = high - low + 1, and everything else counted
 * from low - 1); mean is the mean of its values, 1 <= mean <= width; 0 <= x <= width.
 */

/* Share of the values that are > x. 1 below 1, 0 at width. */
double mtl_density_above(double width, double mean, double x);
/* Mean over all values of max(v - x, 0). mean - x up to 1, 0 at width; continuous. */
double mtl_density_excess(double width, double mean, double x);

/* How far the two can be from the truth: the greatest distance to what values with this mean and
 * width can make of it, attained (in the limit of many values). */
double mtl_density_above_error(double width, double mean, double x);
double mtl_density_excess_error(double width, double mean, double x);

#endif

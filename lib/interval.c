/* SPDX-License-Identifier: MIT */
/*
 * Intervals from what the replicates of an estimate show: how far it spreads, and which way it
 * errs.
 *
 * A part p of a whole gets Wilson's score interval (1927), all p' with |p - p'| <= z sqrt(p' (1 -
 * p') / n), where n is the number of independent watchers that would spread as much as the
 * replicates do, p (1 - p) / variance, and no more than there are. Percentiles of the replicates
 * would not do: where few touches were seen a replicate has fewer still, and their range lies too
 * low; where none was seen it is a point.
 *
 * A rate gets value -+ z deviation, and beyond that, on the side it points to, the bias that the
 * replicates show.
 *
 * Heavy weights: draws that follow heat leave cold lines to few observations of great weight, and
 * the sum is too small until one of these is touched, with a spread that knows nothing of it. So
 * the upper limit is that of an estimate which has seen one touch more, of the heaviest kind (as
 * Fay & Feuer, 1997, do for weighted sums of Poisson counts), less what a touch is worth anyway.
 * With equal weights that is nothing.
 */

#include <math.h>
#include "interval.h"

/* 5 % of the normal distribution lie beyond. */
#define Z 1.645
/* Parts and variances of a double's last digits. */
#define ROUNDING 1e-12

struct mtl_evidence mtl_evidence_from_replicates(
        const double *replicates, size_t n, double value, double unseen)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += replicates[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (replicates[i] - mean) * (replicates[i] - mean);
	return (struct mtl_evidence){
	        .value = value,
	        .deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0,
	        .bias = mean - value,
	        .unseen = unseen,
	};
}

/* By how much the heaviest touch exceeds a usual one. part: of what could be touched. */
static double excess(const struct mtl_evidence *e, double part)
{
	double usual = e->value > 0 && part < 1
	                       ? e->deviation * e->deviation / e->value / (1 - part)
	                       : e->unseen;

	return fmax(e->unseen - usual, 0);
}

/* Wilson's limit on the side of `sign`. */
static double score_limit(double part, double variance, double watchers, double sign)
{
	double spread = part * (1 - part);
	double alike = variance > ROUNDING && spread > ROUNDING ? spread / variance : INFINITY;
	double n = fmin(alike, watchers), square = Z * Z / n;

	if (!(n > 0))
		return sign > 0 ? 1 : 0;
	return (part + square / 2 + sign * sqrt(square * (spread + square / 4))) / (1 + square);
}

struct mtl_interval mtl_part_interval(const struct mtl_evidence *e, double whole, double watchers)
{
	double part = fmin(e->value / whole, 1), more = excess(e, part);
	double above = fmin((e->value + more) / whole, 1);
	double variance = e->deviation * e->deviation / whole / whole;

	if (!(whole > 0))
		return (struct mtl_interval){0, 0};
	if (part == 0) /* as many watchers as would weigh as much as the heaviest does */
		watchers = fmin(watchers, whole / e->unseen);
	double low = score_limit(part, variance, watchers, -1);
	if (part > 1 - ROUNDING) /* and the spread, if any, is that of the inversion to lines */
		low = fmin(low, 1 - Z * sqrt(variance));
	double high = score_limit(above, variance + more * more / whole / whole, watchers, 1);
	return (struct mtl_interval){
	        .low = fmax(whole * low, 0),
	        .high = fmin(fmax(whole * high, e->value + Z * e->deviation), whole),
	};
}

struct mtl_interval mtl_rate_interval(const struct mtl_evidence *e)
{
	double more = excess(e, 0);

	return (struct mtl_interval){
	        .low = fmax(e->value - Z * e->deviation - fmax(e->bias, 0), 0),
	        .high = e->value + more + Z * hypot(e->deviation, more) + fmax(-e->bias, 0),
	};
}

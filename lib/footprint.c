/* SPDX-License-Identifier: MIT */
/*
 * Footprint: how many distinct lines a program touches within a window of length T.
 *
 *     fp(T) = M P(line touched by T) + b T
 *
 * M are the lines that exist when a watch is armed; b is the rate at which lines are born, which no
 * watch armed before their birth can see: a window of length T catches b T births in the mean, in
 * bursts or not. fp is concave (its slope is the density of a forward recurrence time), so the
 * estimate is replaced by its least concave majorant through (0, 0), the Grenander estimate of that
 * slope: curves made of it never rise with size.
 *
 * From misses instead: each miss of a small cache of c1 lines begins a visit to its line, a run of
 * touches no more than about ft(c1) apart, and G is the gap that ends it. A cache of c >= c1 lines
 * misses those visits whose line was away for longer than ft(c), so with N1 such misses a second
 *
 *     misses(c) = N1 P(G > ft(c)),   fp(T) = c1 + N1 integral of P(G > t) from ft(c1) to T
 *
 * Below ft(c1) nothing is known but that fp is concave: the chord is the least it can be.
 */

#include <errno.h>
#include <math.h>
#include "footprint.h"

size_t mtl_concave_majorant(double *x, double *y, size_t n)
{
	size_t top = 0;

	for (size_t i = 0; i < n; i++) {
		while (top >= 2 && (y[top - 1] - y[top - 2]) * (x[i] - x[top - 2]) <=
		                           (y[i] - y[top - 2]) * (x[top - 1] - x[top - 2]))
			top--;
		x[top] = x[i];
		y[top++] = y[i];
	}
	return top;
}

void mtl_footprint_from_coverage(const struct mtl_grid *grid, const double *coverage, double lines,
        double birth_rate, struct mtl_footprint *ret_footprint)
{
	struct mtl_footprint *f = ret_footprint;

	f->n = grid->n + 1;
	f->window[0] = f->lines[0] = 0;
	f->birth_rate = birth_rate;
	for (size_t g = 0; g < grid->n; g++) {
		double touched = lines * coverage[g] + birth_rate * grid->window[g];
		f->window[g + 1] = grid->window[g];
		f->lines[g + 1] = fmax(f->lines[g], touched);
	}
}

/* Lines touched first within a stretch of the window, `kept` and `left` of the gaps outlasting its
 * ends. */
static double lines_between(
        const struct mtl_visits *visits, double from, double to, double kept, double left)
{
	double quiet = fmin(fmax(visits->quiet - from, 0), to - from);

	return visits->small * quiet / visits->quiet +
	       visits->rate * (to - from - quiet) * (kept + left) / 2;
}

void mtl_footprint_from_gaps(const struct mtl_grid *grid, const double *coverage,
        const struct mtl_visits *visits, double birth_rate, struct mtl_footprint *ret_footprint)
{
	struct mtl_footprint *f = ret_footprint;
	double kept = 1;

	f->n = grid->n + 1;
	f->window[0] = f->lines[0] = 0;
	for (size_t g = 0; g < grid->n; g++) {
		double left = fmin(kept, 1 - coverage[g]);
		f->window[g + 1] = grid->window[g];
		f->lines[g + 1] = f->lines[g] +
		                  lines_between(visits, f->window[g], grid->window[g], kept, left);
		kept = left;
	}
	f->birth_rate = fmin(birth_rate, visits->rate * kept);
}

void mtl_majorant_from_footprint(
        const struct mtl_footprint *footprint, struct mtl_footprint *ret_majorant)
{
	*ret_majorant = *footprint;
	ret_majorant->n =
	        mtl_concave_majorant(ret_majorant->window, ret_majorant->lines, ret_majorant->n);
}

size_t mtl_segment_of(const double *corners, size_t n, double value)
{
	size_t low = 0, high = n - 2;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (corners[middle + 1] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

double mtl_footprint_at(const struct mtl_footprint *f, double window)
{
	size_t i = mtl_segment_of(f->window, f->n, window);
	double part = (window - f->window[i]) / (f->window[i + 1] - f->window[i]);

	return f->lines[i] + fmin(part, 1) * (f->lines[i + 1] - f->lines[i]);
}

double mtl_power_between(const double *x, const double *y, size_t n, double at)
{
	size_t i = mtl_segment_of(x, n, at);
	double part = fmin((at - x[i]) / (x[i + 1] - x[i]), 1);

	if (!(x[i] > 0 && y[i] > 0))
		return y[i] + part * (y[i + 1] - y[i]);
	if (part >= 1)
		return y[i + 1];
	return y[i] * pow(at / x[i], log(y[i + 1] / y[i]) / log(x[i + 1] / x[i]));
}

/* Lines born up to a moment, linear between the points of the series. */
static double born_by(const struct mtl_birth *births, size_t n, size_t *cursor, double moment)
{
	while (*cursor < n && births[*cursor].moment < moment)
		(*cursor)++;
	if (*cursor == 0)
		return births[0].lines;
	if (*cursor == n)
		return births[n - 1].lines;
	const struct mtl_birth *before = &births[*cursor - 1], *after = &births[*cursor];
	double part = (moment - before->moment) / (after->moment - before->moment);
	return before->lines + part * (after->lines - before->lines);
}

static bool series_valid(const struct mtl_birth *births, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(births[i].moment) || !isfinite(births[i].lines))
			return false;
		if (i > 0 && (births[i].moment < births[i - 1].moment ||
		                     births[i].lines < births[i - 1].lines))
			return false;
	}
	return true;
}

int mtl_birth_rate_from_births(const struct mtl_birth *births, size_t n, double first, double now,
        double window_seconds, struct mtl_birth_rate *ret_rate)
{
	double length = (now - first) / BIRTH_BLOCKS, before;
	size_t cursor = 0;

	if (!series_valid(births, n))
		return -EINVAL;
	*ret_rate = (struct mtl_birth_rate){0};
	if (n == 0 || !(length > 0))
		return 0;
	before = born_by(births, n, &cursor, first);
	for (unsigned i = 0; i < BIRTH_BLOCKS; i++) {
		double by = born_by(births, n, &cursor, first + (i + 1) * length);
		double age = (BIRTH_BLOCKS - i - 0.5) * length;
		double decay = window_seconds > 0 ? exp(-age / window_seconds) : 1;
		ret_rate->lines[i] = decay * (by - before);
		ret_rate->seconds[i] = decay * length;
		before = by;
	}
	return 0;
}

double mtl_birth_rate(const struct mtl_birth_rate *rate, const uint8_t *multiplicity)
{
	double lines = 0, seconds = 0;

	for (unsigned i = 0; i < BIRTH_BLOCKS; i++) {
		double times = multiplicity ? multiplicity[i] : 1;
		lines += times * rate->lines[i];
		seconds += times * rate->seconds[i];
	}
	return seconds > 0 ? lines / seconds : 0;
}

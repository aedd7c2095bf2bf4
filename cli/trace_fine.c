/* SPDX-License-Identifier: MIT */
/*
 * The curve of a trace beside the sizes that were asked for: any method answers at any size.
 *
 * Between two points it is known in about FINE steps of whole lines, evenly over the logarithm of
 * size, so that pictures do not invent what is in between.
 *
 * Where the curve falls by more than FALL from one size to the next, whole lines between them are
 * added until it does not, or there is none: so that a curve that others read says where its cliffs
 * are.
 *
 * The working set is the smallest whole number of lines at which, first accesses apart, misses are
 * at most HELD of those at a single line. Misses do not rise with size, so it is looked for in
 * STEPS sizes, then between two of these, until there is nothing in between: a pass over the
 * engine's counts each time, and the answer does not depend on which sizes were asked for.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cleanup.h"
#include "option_values.h"
#include "trace_curve.h"

#define FINE 400
#define HELD 0.05
#define STEPS 128
#define ROUNDS 16 /* more than it takes */
#define FALL 0.02
#define MOST 1024 /* sizes */
#define HALVINGS 64

static int refine_points(struct trace_curve *curve)
{
	double line = curve->facts->line_bytes, first = curve->points[0].size_bytes;
	double last = curve->points[curve->n_points - 1].size_bytes;
	size_t n = 0;

	curve->fine = calloc(FINE + curve->n_points, sizeof(double));
	curve->fine_ratios = calloc(FINE + curve->n_points, sizeof(double));
	if (!curve->fine || !curve->fine_ratios)
		return -ENOMEM;
	for (size_t i = 0; i < curve->n_points; i++)
		curve->fine[n++] = curve->points[i].size_bytes;
	for (size_t i = 1; i < FINE; i++) {
		double size = line * round(first * pow(last / first, (double)i / FINE) / line);

		if (size > first && size < last)
			curve->fine[n++] = size;
	}
	curve->n_fine = numbers_sort_unique(curve->fine, n);
	return trace_curve_at(curve, curve->fine, curve->n_fine, curve->fine_ratios);
}

/* Whole numbers of lines from low, exclusive, to high. */
static size_t steps_between(double low, double high, double *ret_lines)
{
	for (size_t i = 0; i < STEPS; i++)
		ret_lines[i] = fmin(
		        ceil(low * pow(high / low, (double)(i + 1) / STEPS) - 1e-9 * high), high);
	ret_lines[STEPS - 1] = high;
	return numbers_sort_unique(ret_lines, STEPS);
}

static int find_working_set(struct trace_curve *curve)
{
	double low = 1, high = fmax(ceil(curve->facts->distinct), 1), lines[STEPS], ratios[STEPS];
	double both[] = {low, high}, ends[2], most, cold;
	int r = trace_method_miss_ratios(&curve->by, curve->engine, both, 2, ends);

	if (r < 0)
		return r;
	cold = fmin(curve->facts->distinct / (double)curve->facts->accesses, ends[1]);
	most = cold + HELD * (ends[0] - cold);
	high = ends[0] <= most ? low : high;
	for (int round = 0; r == 0 && high - low > 1 && round < ROUNDS; round++) {
		size_t n = steps_between(low, high, lines), i = 0;

		r = trace_method_miss_ratios(&curve->by, curve->engine, lines, n, ratios);
		while (i + 1 < n && ratios[i] > most)
			i++;
		low = i ? lines[i - 1] : low;
		high = lines[i];
	}
	r = r
	            ?: trace_method_miss_ratios(
	                       &curve->by, curve->engine, &high, 1, &curve->working_set_ratio);
	curve->working_set_bytes = high * curve->facts->line_bytes;
	return r;
}

/* The whole number of lines in the middle of two sizes; the lower one: there is none. */
static double middle(double low, double high, double line)
{
	double size = line * round(sqrt(low * high) / line);

	return size > low && size < high ? size : high - low > 1.5 * line ? low + line : low;
}

static int halve_falls(const struct trace_curve *curve, struct number_list *sizes)
{
	double *ratios = calloc(MOST, sizeof(*ratios));
	size_t n = sizes->n;
	int r = ratios ? trace_curve_at(curve, sizes->values, n, ratios) : -ENOMEM;

	for (size_t i = 1; r == 0 && i < n && sizes->n < MOST; i++) {
		double low = sizes->values[i - 1], high = sizes->values[i];
		double size = middle(low, high, curve->facts->line_bytes);

		if (ratios[i - 1] - ratios[i] > FALL && size > low)
			sizes->values[sizes->n++] = size;
	}
	free(ratios);
	if (r == 0)
		sizes->n = numbers_sort_unique(sizes->values, sizes->n);
	return r;
}

int trace_curve_falls(const struct trace_curve *curve, struct number_list *ret_sizes)
{
	struct number_list sizes = {calloc(MOST, sizeof(double)), 0};
	size_t before = 0;
	int r = sizes.values ? 0 : -ENOMEM;

	for (; r == 0 && sizes.n < curve->n_points && sizes.n < MOST; sizes.n++)
		sizes.values[sizes.n] = curve->points[sizes.n].size_bytes;
	for (int round = 0; r == 0 && sizes.n != before && round < HALVINGS; round++) {
		before = sizes.n;
		r = halve_falls(curve, &sizes);
	}
	if (r < 0)
		free(sizes.values);
	else
		*ret_sizes = sizes;
	return r;
}

int trace_curve_refine(struct trace_curve *curve)
{
	int r = refine_points(curve);

	return r ?: find_working_set(curve);
}

/* SPDX-License-Identifier: MIT */
/*
 * Linear density within a bin (Fang et al. 2005), for whole numbers 1 ... w with mean a.
 *
 * Two triangles make everything: D_u, the density u - j on 1 ... u - 1, whose mean is (u + 1) / 3,
 * and its mirror image from the bin's other end. A linear density over the whole bin is a mixture
 * of D_w and its mirror image; it is non-negative where (w + 1) / 3 <= a <= 2 (w + 1) / 3. With a
 * mean below that the triangle is narrower, D_u with u = 3 a - 1, a mixture of the two nearest when
 * that is no whole number; with a mean above it, the mirror image. So count and mean always match
 * and no share is negative. Widths of 1 and 2 are exact.
 *
 *     P(D_u > k) = (t - 1) t / ((u - 1) u),  E (D_u - k)^+ = (t - 1) t (t + 1) / (3 (u - 1) u),
 *     t = u - k
 *
 * Between whole numbers the share stays and the excess is linear.
 *
 * Extremes over all values in 1 ... w with mean a, at a whole number 1 <= k < w:
 *
 *     share above:  at least (a - k) / (w - k) (all on k and w), at most (a - 1) / k (on 1, k + 1)
 *     excess:       at least a - k (Jensen), at most the chord (a - 1) (w - k) / (w - 1) (on 1, w)
 */

#include <math.h>
#include <stdbool.h>
#include "linear_density.h"

/* Of D_u: share above k, and the excess over k. */
static double triangle_above(double u, double k)
{
	double t = u - k;

	return t > 1 ? (t - 1) / (u - 1) * (t / u) : 0;
}

static double triangle_excess(double u, double k)
{
	double t = u - k;

	return t > 1 ? (t - 1) / (u - 1) * (t / u) * (t + 1) / 3 : 0;
}

/* (1 - part) D_narrow + part * (D_wide, or D_narrow's mirror image), itself mirrored or not. */
struct mixture {
	double width, mean; /* as seen from the end that the triangles stand at */
	double narrow, wide, part;
	bool mirrored; /* seen from the far end */
	bool whole;    /* the second component is the mirror image */
};

static struct mixture mixture_of(double width, double mean)
{
	struct mixture m = {.width = width, .mean = fmin(fmax(mean, 1), width)};

	m.mirrored = 2 * m.mean > width + 1;
	if (m.mirrored)
		m.mean = width + 1 - m.mean;
	m.whole = 3 * m.mean >= width + 1;
	m.narrow = m.whole ? width : floor(3 * m.mean - 1);
	m.wide = m.narrow + 1;
	m.part = m.whole ? 3 * m.mean / (width + 1) - 1 : 3 * m.mean - 1 - m.narrow;
	return m;
}

/* From the near end. Seen from the far end a value v is width + 1 - v. */
static double near_above(const struct mixture *m, double k)
{
	double other =
	        m->whole ? 1 - triangle_above(m->narrow, m->width - k) : triangle_above(m->wide, k);

	return (1 - m->part) * triangle_above(m->narrow, k) + m->part * other;
}

static double near_excess(const struct mixture *m, double k)
{
	double far_mean = m->width + 1 - (m->narrow + 1) / 3;
	double other = m->whole ? far_mean - k + triangle_excess(m->narrow, m->width + 1 - k)
	                        : triangle_excess(m->wide, k);

	return (1 - m->part) * triangle_excess(m->narrow, k) + m->part * other;
}

static double above_at(double width, double mean, double k)
{
	struct mixture m = mixture_of(width, mean);

	if (k <= 0 || k >= width)
		return k <= 0;
	return m.mirrored ? 1 - near_above(&m, width - k) : near_above(&m, k);
}

static double excess_at(double width, double mean, double k)
{
	struct mixture m = mixture_of(width, mean);

	if (k <= 1 || k >= width)
		return k >= width ? 0 : mean - k;
	return m.mirrored ? mean - k + near_excess(&m, width + 1 - k) : near_excess(&m, k);
}

static double excess_error_at(double width, double mean, double k)
{
	if (k <= 1 || k >= width)
		return 0;
	double excess = excess_at(width, mean, k);
	double least = fmax(mean - k, 0), most = (mean - 1) / (width - 1) * (width - k);
	return fmax(fmax(most - excess, excess - least), 0);
}

/* Between whole numbers. */
static double linear(double (*at)(double, double, double), double width, double mean, double x)
{
	double k = floor(x), part = x - k;
	double below = at(width, mean, k);

	return part > 0 ? below + part * (at(width, mean, k + 1) - below) : below;
}

double mtl_density_above(double width, double mean, double x)
{
	return above_at(width, mean, floor(x));
}

double mtl_density_excess(double width, double mean, double x)
{
	return linear(excess_at, width, mean, x);
}

double mtl_density_above_error(double width, double mean, double x)
{
	double k = floor(x);

	if (k < 1 || k >= width)
		return 0;
	double above = above_at(width, mean, k);
	double least = fmax((mean - k) / (width - k), 0), most = fmin((mean - 1) / k, 1);
	return fmax(fmax(most - above, above - least), 0);
}

double mtl_density_excess_error(double width, double mean, double x)
{
	return linear(excess_error_at, width, mean, x);
}

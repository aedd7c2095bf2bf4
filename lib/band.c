/* SPDX-License-Identifier: MIT */
/*
 * Bands: over how many sizes the slope of the majorant is smoothed.
 *
 * The mean over c -+ 0.2 c (miss_curve.c) rests on the few touches within it: at 1 MiB of zipf over
 * 64 MiB that is one observation in 300, and everything relative to 1 MiB is as noisy. Wider bands
 * have more touches and smear what bends. So at each size estimates are tried in this order,
 *
 *     the mean of slope(x) over x in c -+ h c,                       h = 0.2 ... 0.9
 *     the value at c of a straight line in log x through slope(x),   x in c / r ... c r, r = 2 ...
 * 16
 *
 * with a relative noise of 1 / sqrt(touches in the band), of the line by least squares
 * sqrt((1 + mean(u)^2 / var(u)) / touches), u = log(x / c). The first one that differs from any
 * that was less smoothed by more than SLACK times that one's noise ends it (Lepski, 1991): where
 * few touches are, nothing tells a bend from noise and noise is what matters; where many are, a
 * bend shows before it is smeared by more than what they are uncertain by anyway. The least noisy
 * of those before is taken. Lines are tried where +-50 % were borne out.
 *
 * Bands end at the resolution and half-way to the whole footprint, where slopes end in a cliff
 * (but for the first, which reaches up to it). Estimates at different sizes have different bands
 * and may rise with size by chance, so they are made the nearest sequence that does not (pool
 * adjacent violators).
 */

#include <math.h>
#include "band.h"
#include "miss_curve.h"

#define SLACK 1.2
/* Smoothing that changes less than this is not done. */
#define WORTH 0.05
#define HALF_LEAST_FOR_LINES 0.5
#define CLIFF_ROOM 0.5
/* A line through less than this above and below the size says nothing of its slope. */
#define ABOVE_LEAST 1.3
#define BELOW_LEAST 1.1

static const double halves[] = {MTL_BAND, 0.3, 0.45, 0.6, 0.75, 0.9};
static const double ratios[] = {2, 3, 4.5, 7, 10, 16};

/* At one size: the best so far, and what everything smoother has to lie in. */
struct choice {
	double misses, noise;
	double low, high;
};

static bool consider(struct choice *choice, double misses, double noise)
{
	if (misses < choice->low || misses > choice->high)
		return false;
	if (!(noise < choice->noise))
		return true;
	choice->misses = misses;
	choice->noise = noise;
	choice->low = fmax(choice->low, misses * (1 - SLACK * noise));
	choice->high = fmin(choice->high, misses * (1 + SLACK * noise));
	return true;
}

/* The majorant around one size. */
struct place {
	const struct mtl_footprint *majorant;
	double lines;
	double below, above; /* lines, to the resolution and to all of the footprint */
	double touches;      /* a line is worth */
};

static double narrow_half(const struct place *place)
{
	return fmin(halves[0] * place->lines, fmin(place->below, place->above));
}

static double narrow_mean(const struct place *place)
{
	double half = narrow_half(place);

	return mtl_mean_slope(place->majorant, place->lines - half, place->lines + half);
}

/* Whether the widest of them was borne out. */
static bool consider_means(const struct place *place, struct choice *choice)
{
	double lines = place->lines, half = narrow_half(place);

	for (size_t i = 0; i < sizeof(halves) / sizeof(*halves); i++) {
		double room = fmin(place->below, CLIFF_ROOM * place->above);

		half = fmax(half, i ? fmin(halves[i] * lines, room) : 0);
		if (!consider(choice, mtl_mean_slope(place->majorant, lines - half, lines + half),
		            1 / sqrt(2 * half * place->touches)))
			return false;
	}
	return half >= HALF_LEAST_FOR_LINES * lines;
}

/* Sums over a band of x = size / c with u = log(x): of 1, u, u^2, slope, slope x u. */
struct moments {
	double one, u, uu, slope, slope_u;
};

static void add_segment(struct moments *sum, double from, double to, double slope)
{
	double u = log(from), v = log(to);
	double one = to - from, first = to * (v - 1) - from * (u - 1);

	sum->one += one;
	sum->u += first;
	sum->uu += to * (v * v - 2 * v + 2) - from * (u * u - 2 * u + 2);
	sum->slope += slope * one;
	sum->slope_u += slope * first;
}

static void moments_between(const struct mtl_footprint *f, double from, double to, double lines,
        struct moments *ret_sum)
{
	*ret_sum = (struct moments){0};
	for (size_t i = mtl_segment_of(f->lines, f->n, from); i + 1 < f->n && f->lines[i] < to;
	        i++) {
		double low = fmax(from, f->lines[i]), high = fmin(to, f->lines[i + 1]);
		double seconds = f->window[i + 1] - f->window[i];

		if (high > low)
			add_segment(ret_sum, low / lines, high / lines,
			        (f->lines[i + 1] - f->lines[i]) / seconds);
	}
}

/* The line's value at x = 1, and its noise. */
static bool consider_line(const struct place *place, double from, double to, struct choice *choice)
{
	struct moments sum;

	moments_between(place->majorant, from, to, place->lines, &sum);
	double mean = sum.slope / sum.one, u = sum.u / sum.one;
	double variance = sum.uu / sum.one - u * u;
	double rise = (sum.slope_u / sum.one - mean * u) / variance;

	return consider(choice, mean - rise * u,
	        sqrt((1 + u * u / variance) / ((to - from) * place->touches)));
}

static void consider_lines(const struct place *place, struct choice *choice)
{
	double lines = place->lines, most = lines + CLIFF_ROOM * place->above;

	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		double to = fmin(lines * ratios[i], most);
		double from = fmax(lines / ratios[i], lines - place->below);

		if (to < ABOVE_LEAST * lines || from > lines / BELOW_LEAST ||
		        !consider_line(place, from, to, choice))
			break;
	}
}

static double smoothed(const struct place *place)
{
	struct choice choice = {
	        .misses = mtl_mean_slope(place->majorant, place->lines, place->lines),
	        .noise = INFINITY,
	        .high = INFINITY,
	};

	double narrow = narrow_mean(place);

	if (consider_means(place, &choice))
		consider_lines(place, &choice);
	return fabs(choice.misses - narrow) > WORTH * narrow ? choice.misses : narrow;
}

static double touches_at(const struct mtl_grid *grid, const double touches[GRID_MAX], double window)
{
	size_t g = 0;

	while (g + 1 < grid->n && grid->window[g] < window)
		g++;
	return touches[g];
}

/* The nearest sequence, by least squares, that never rises. */
static void pool_violators(double *values, size_t n)
{
	size_t length[BANDS_MAX], pools = 0;
	double mean[BANDS_MAX];

	for (size_t i = 0; i < n; i++) {
		mean[pools] = values[i];
		length[pools++] = 1;
		for (; pools > 1 && mean[pools - 1] > mean[pools - 2]; pools--) {
			size_t both = length[pools - 1] + length[pools - 2];

			mean[pools - 2] = (mean[pools - 2] * length[pools - 2] +
			                          mean[pools - 1] * length[pools - 1]) /
			                  both;
			length[pools - 2] = both;
		}
	}
	for (size_t k = 0, i = 0; k < pools; k++)
		for (; length[k] > 0; length[k]--)
			values[i++] = mean[k];
}

void mtl_bands_from_majorant(const struct mtl_footprint *majorant, double resolution,
        const struct mtl_grid *grid, const double touches[GRID_MAX], struct mtl_bands *ret_bands)
{
	double first = mtl_footprint_at(majorant, resolution);
	double last = mtl_footprint_whole(majorant);

	*ret_bands = (struct mtl_bands){.first = first, .last = last};
	if (!(first > 0 && last > first * (1 + 1e-9)))
		return;
	for (size_t i = 0; i < BANDS_MAX; i++) {
		double lines = first * pow(last / first, (double)i / (BANDS_MAX - 1));
		const struct place place = {
		        .majorant = majorant,
		        .lines = fmin(lines, last),
		        .below = fmax(lines - first, 0),
		        .above = fmax(last - lines, 0),
		        .touches = touches_at(
		                grid, touches, mtl_fill_time_from_footprint(majorant, lines)),
		};

		ret_bands->misses[i] = smoothed(&place);
	}
	ret_bands->n = BANDS_MAX;
	pool_violators(ret_bands->misses, ret_bands->n);
}

double mtl_misses_from_bands(const struct mtl_bands *bands, const struct mtl_footprint *majorant,
        double resolution, double lines)
{
	if (bands->n == 0 || isinf(mtl_fill_time_from_footprint(majorant, lines)))
		return mtl_misses_from_fill_time(majorant, resolution, lines);
	double steps = (double)(bands->n - 1);
	double at = steps * log(lines / bands->first) / log(bands->last / bands->first);
	double step = floor(fmin(fmax(at, 0), steps - 1)), part = fmin(fmax(at - step, 0), 1);
	const double *misses = &bands->misses[(size_t)step];

	return fmax(misses[0] + part * (misses[1] - misses[0]), majorant->birth_rate);
}

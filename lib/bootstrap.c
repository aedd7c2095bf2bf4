/* SPDX-License-Identifier: MIT */
/*
 * Bootstrap: how much the curve would differ had other moments and lines been drawn.
 *
 * Observations are independent draws, so each replicate counts each of them a Poisson(1) number of
 * times (the multinomial bootstrap without its fixed total, which the estimate does not depend on)
 * and goes through every stage again. Births are resampled by stretches of time. The interval is
 * the 5th to 95th percentile of the replicates.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "bootstrap.h"
#include "cleanup.h"

#define TAIL 0.05

/* Poisson(1): P(X <= k) x 2^16 */
static const uint16_t poisson_one[] = {24109, 48219, 60273, 64291, 65296, 65497, 65530, 65535};

/* splitmix64 (Steele, Lea & Flood, 2014) */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static void draw_multiplicities(uint64_t *state, uint8_t *ret_times, size_t n)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++, bits >>= 16) {
		uint8_t times = 0;
		if (i % 4 == 0)
			bits = random_next(state);
		while (times < 7 && (bits & 0xffff) >= poisson_one[times])
			times++;
		ret_times[i] = times;
	}
}

void mtl_estimate(struct mtl_estimator *estimator, const uint8_t *multiplicity,
        const uint8_t *birth_times, const struct mtl_estimate *start,
        struct mtl_estimate *ret_estimate)
{
	mtl_survival_from_samples(&estimator->samples, multiplicity, &estimator->grid,
	        &estimator->tally, &estimator->survival);
	mtl_line_coverage_from_survival(&estimator->model, &estimator->survival,
	        &estimator->samples, estimator->grid.n, start ? &start->coverage : NULL,
	        &ret_estimate->coverage);
	ret_estimate->lines = estimator->survival.lines;
	mtl_footprint_from_coverage(&estimator->grid, &ret_estimate->coverage, ret_estimate->lines,
	        mtl_birth_rate(&estimator->births, birth_times), &ret_estimate->footprint);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The percentile between the two order statistics around it. */
static double percentile(const double *sorted, unsigned n, double fraction)
{
	double rank = fraction * (n - 1);
	unsigned below = floor(rank);

	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (rank - below) * (sorted[below + 1] - sorted[below]);
}

static struct mtl_interval interval_of(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), ascending);
	return (struct mtl_interval){percentile(values, n, TAIL), percentile(values, n, 1 - TAIL)};
}

int mtl_bootstrap(struct mtl_estimator *estimator, const struct mtl_estimate *estimate,
        unsigned resamples, uint64_t seed, const double *sizes, size_t n_sizes,
        const double *windows, size_t n_windows, struct mtl_interval *ret_misses,
        struct mtl_interval *ret_footprint)
{
	_cleanup_free_ uint8_t *times = malloc(estimator->samples.n);
	_cleanup_free_ double *values = malloc(resamples * (n_sizes + n_windows) * sizeof(*values));
	_cleanup_free_ struct mtl_estimate *replicate = malloc(sizeof(*replicate));
	uint8_t birth_times[BIRTH_BLOCKS];

	if (!times || !values || !replicate)
		return -ENOMEM;
	for (unsigned r = 0; r < resamples; r++) {
		draw_multiplicities(&seed, times, estimator->samples.n);
		draw_multiplicities(&seed, birth_times, BIRTH_BLOCKS);
		mtl_estimate(estimator, times, birth_times, estimate, replicate);
		for (size_t i = 0; i < n_sizes; i++)
			values[i * resamples + r] = mtl_misses_from_fill_time(
			        &replicate->footprint, estimator->resolution, sizes[i]);
		for (size_t i = 0; i < n_windows; i++)
			values[(n_sizes + i) * resamples + r] =
			        mtl_footprint_at(&replicate->footprint, windows[i]);
	}
	for (size_t i = 0; i < n_sizes; i++)
		ret_misses[i] = interval_of(&values[i * resamples], resamples);
	for (size_t i = 0; i < n_windows; i++)
		ret_footprint[i] = interval_of(&values[(n_sizes + i) * resamples], resamples);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Bootstrap: how much the curve would differ had other moments and lines been drawn.
 *
 * Observations are independent draws, so a replicate counts each of them a Poisson(1) number of
 * times (the multinomial bootstrap without its fixed total, which the estimate does not depend on).
 * Births are resampled by stretches of time. The majorant of replicate r is that of
 *
 *     majorant(T) + fp_r(T) - fp(T)
 *
 * Resampling around the majorant, not around the footprint it was made of, is what makes it work:
 * the majorant prefers noise that bends up, and replicates would have that bias twice (the plain
 * bootstrap is not consistent here: Sen, Banerjee & Woodroofe, 2010). fp_r uses the coverage
 * linearised by its influence instead of fitting it again, which is 20 times cheaper; the influence
 * is that of counts alone, which are noisier than the estimate, so the intervals are rather wide.
 *
 * The replicates then show how the estimate errs, bias included, so the interval of the miss rate
 * is the basic one, [2 m - q96, 2 m - q04], and the percentiles [q04, q96] are covered too: each
 * alone held the truth in 73 to 86 % of simulated runs, both in 92 to 99 %. The footprint at a
 * window is made without the majorant, and the percentiles serve.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bootstrap.h"
#include "cleanup.h"

/* Nominally 92 %: what is linearised or smoothed has less spread than it should. */
#define TAIL 0.04

/* splitmix64 (Steele, Lea & Flood, 2014) */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Poisson(1) in 256ths: eight to a random number. Its mean is 1.004 and so is its variance. */
static void draw_multiplicities(uint64_t *state, uint8_t *ret_times, size_t n)
{
	static const uint8_t times[256] = {[94 ... 187] = 1,
	        [188 ... 234] = 2,
	        [235 ... 250] = 3,
	        [251 ... 254] = 4,
	        [255] = 5};
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++, bits >>= 8) {
		if (i % 8 == 0)
			bits = random_next(state);
		ret_times[i] = times[bits & 0xff];
	}
}

/* One bootstrap's scratch. */
struct bootstrap {
	const struct mtl_estimator *estimator;
	uint64_t state;
	uint8_t *times;
	uint8_t birth_times[BIRTH_BLOCKS];
	double centre[GRID_MAX + 1]; /* majorant - footprint */
	struct mtl_influence influence;
	struct mtl_tally tally;
	struct mtl_survival survival;
	struct mtl_footprint footprint, majorant;
};

static struct bootstrap *bootstrap_free(struct bootstrap *bootstrap)
{
	free(bootstrap->times);
	free(bootstrap);
	return NULL;
}

DEFINE_CLEANUP(struct bootstrap, bootstrap_free)

static int bootstrap_new(
        const struct mtl_estimator *estimator, uint64_t seed, struct bootstrap **ret_bootstrap)
{
	_cleanup_(bootstrap_freep) struct bootstrap *b = calloc(1, sizeof(*b));
	const struct mtl_grid *grid = &estimator->grid;

	if (!b)
		return -ENOMEM;
	b->times = malloc(estimator->samples.n);
	if (!b->times)
		return -ENOMEM;
	b->estimator = estimator;
	b->state = seed;
	b->survival = estimator->survival;
	mtl_influence_from_coverage(&estimator->model, &b->survival, &estimator->samples, grid->n,
	        &estimator->coverage, &b->influence);
	for (size_t i = 0; i < estimator->footprint.n; i++)
		b->centre[i] =
		        mtl_footprint_at(&estimator->majorant, estimator->footprint.window[i]) -
		        estimator->footprint.lines[i];
	*ret_bootstrap = TAKE_PTR(b);
	return 0;
}

static double coverage_of(const struct bootstrap *b, size_t g)
{
	const struct mtl_estimator *e = b->estimator;
	double coverage = e->coverage.lines[g];

	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned k = 0; e->samples.present[kind] && k < STATES; k++)
			coverage += b->influence.of[kind][g][k] *
			            (b->survival.occupied[kind][g][k] -
			                    e->survival.occupied[kind][g][k]);
	return fmin(fmax(coverage, 0), 1);
}

static void replicate(struct bootstrap *b)
{
	const struct mtl_estimator *e = b->estimator;
	double coverage[GRID_MAX];
	struct mtl_footprint around;

	draw_multiplicities(&b->state, b->times, e->samples.n);
	draw_multiplicities(&b->state, b->birth_times, BIRTH_BLOCKS);
	mtl_survival_from_samples(&e->samples, b->times, &e->grid, &b->tally, &b->survival);
	for (size_t g = 0; g < e->grid.n; g++)
		coverage[g] = coverage_of(b, g);
	mtl_footprint_of_estimator(e, coverage, b->survival.lines,
	        mtl_birth_rate(&e->births, b->birth_times), &b->footprint);
	around = b->footprint;
	for (size_t i = 1; i < around.n; i++)
		around.lines[i] = fmax(around.lines[i - 1], around.lines[i] + b->centre[i]);
	mtl_majorant_from_footprint(&around, &b->majorant);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Between the two order statistics around the rank. */
static double percentile(const double *sorted, unsigned n, double fraction)
{
	double rank = fraction * (n - 1);
	unsigned below = floor(rank);

	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (rank - below) * (sorted[below + 1] - sorted[below]);
}

static struct mtl_interval percentiles(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), ascending);
	return (struct mtl_interval){percentile(values, n, TAIL), percentile(values, n, 1 - TAIL)};
}

static struct mtl_interval misses_interval(
        const struct mtl_estimator *e, double lines, double *values, unsigned n)
{
	double misses = mtl_misses_from_fill_time(&e->majorant, e->resolution, lines);
	struct mtl_interval q = percentiles(values, n);
	struct mtl_interval basic = {fmax(2 * misses - q.high, 0), 2 * misses - q.low};

	return (struct mtl_interval){fmin(q.low, basic.low), fmax(q.high, basic.high)};
}

int mtl_bootstrap(const struct mtl_estimator *estimator, const struct mtl_request *request,
        unsigned resamples, uint64_t seed, struct mtl_interval *ret_misses,
        struct mtl_interval *ret_footprint)
{
	_cleanup_(bootstrap_freep) struct bootstrap *b = NULL;
	size_t n_sizes = request->n_sizes, n_windows = request->n_windows;
	_cleanup_free_ double *values =
	        calloc(n_sizes + n_windows + 1, resamples * sizeof(*values));
	int r = values ? bootstrap_new(estimator, seed, &b) : -ENOMEM;

	if (r < 0)
		return r;
	for (unsigned i = 0; i < resamples; i++) {
		replicate(b);
		for (size_t s = 0; s < n_sizes; s++)
			values[s * resamples + i] = mtl_misses_from_fill_time(
			        &b->majorant, estimator->resolution, request->sizes[s]);
		for (size_t w = 0; w < n_windows; w++)
			values[(n_sizes + w) * resamples + i] =
			        mtl_footprint_at(&b->footprint, request->windows[w]);
	}
	for (size_t s = 0; s < n_sizes; s++)
		ret_misses[s] = misses_interval(
		        estimator, request->sizes[s], &values[s * resamples], resamples);
	for (size_t w = 0; w < n_windows; w++)
		ret_footprint[w] = percentiles(&values[(n_sizes + w) * resamples], resamples);
	return 0;
}

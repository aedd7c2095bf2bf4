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
#include "splitmix.h"

/* Fewer touches give no more than an upper limit to what is made of them. */
#define FEW_TOUCHES 6
/* So many are taken to have led to all there is: heavier lines than these no longer count as
 * unseen. */
#define MANY_TOUCHES 20

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
			bits = splitmix_next(state);
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
	double watchers[GRID_MAX], heaviest[GRID_MAX];
	double worth; /* watchers of equal weight that one of them is as good as */
	double deviation[GRID_MAX + 1], births_deviation; /* of its lines without births; of these */
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
	mtl_watchers_from_samples(&estimator->samples, grid, b->watchers, b->heaviest);
	b->worth = fmax(mtl_effective_watchers(&estimator->samples) / b->watchers[0], 1);
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
	mtl_lines_by_words_before(&b->survival, &e->samples, e->together, coverage);
	mtl_footprint_of_estimator(e, coverage, b->survival.lines,
	        mtl_birth_rate(&e->births, b->birth_times), &b->footprint);
	around = b->footprint;
	for (size_t i = 1; i < around.n; i++)
		around.lines[i] = fmax(around.lines[i - 1], around.lines[i] + b->centre[i]);
	mtl_majorant_from_footprint(&around, &b->majorant);
}

/* Seconds in which the sizes that decide the slope at this one are touched. */
static double band_seconds(const struct mtl_estimator *e, double lines)
{
	double from = mtl_fill_time_from_footprint(&e->majorant, lines * (1 - MTL_BAND));
	double to = mtl_fill_time_from_footprint(&e->majorant, lines * (1 + MTL_BAND));

	return fmax(fmin(to, mtl_longest_window(&e->majorant)) - from, e->grid.window[0]);
}

/* The first corner that is not before a window, else the last. */
static size_t corner_of(const struct mtl_estimator *e, double window)
{
	return mtl_segment_of(e->footprint.window, e->footprint.n, window) + 1;
}

/* Touches that say as much as what is known of so many lines. */
static double touches_worth(double lines, double deviation)
{
	return deviation > 0 ? lines / deviation * lines / deviation : lines > 0 ? INFINITY : 0;
}

/* Of a corner. */
static double lines_before_births(const struct bootstrap *b, size_t corner)
{
	const struct mtl_footprint *f = &b->estimator->footprint;

	return f->lines[corner] - f->birth_rate * f->window[corner];
}

static double touches_at_corner(const struct bootstrap *b, size_t corner)
{
	return touches_worth(fmax(lines_before_births(b, corner), 0), b->deviation[corner]);
}

/* Lines that one touch more would have been, if there is reason to think of it. */
static double unseen_lines(const struct bootstrap *b, size_t corner)
{
	return touches_at_corner(b, corner) < MANY_TOUCHES ? b->heaviest[corner - 1] : 0;
}

/*
 * The footprint is concave, so fp'(ft(c)) <= c / ft(c), and ft(c) is no less than the window by
 * which the upper limit of the footprint has come to c. 0: it never does.
 */
static double steepest(
        const struct mtl_footprint *f, const struct mtl_interval *limits, double lines)
{
	for (size_t c = 1; c < f->n; c++)
		if (limits[c].high >= lines)
			return lines /
			       (f->window[c - 1] + (lines - limits[c - 1].high) /
			                                   (limits[c].high - limits[c - 1].high) *
			                                   (f->window[c] - f->window[c - 1]));
	return 0;
}

static struct mtl_interval misses_interval(const struct bootstrap *b,
        const struct mtl_interval *footprint, double lines, const double *values, unsigned n)
{
	const struct mtl_estimator *e = b->estimator;
	double misses = mtl_misses_from_fill_time(&e->majorant, e->resolution, lines);
	double fill_time = mtl_fill_time_from_footprint(&e->majorant, lines);
	size_t corner = corner_of(e, fill_time);
	double unseen = unseen_lines(b, corner) / band_seconds(e, lines);
	struct mtl_evidence evidence = mtl_evidence_from_replicates(values, n, misses, unseen);
	struct mtl_interval interval = mtl_rate_interval(&evidence);

	if (isinf(fill_time) || touches_at_corner(b, corner) < FEW_TOUCHES)
		interval.high = fmax(interval.high, steepest(&e->footprint, footprint, lines));
	return interval;
}

/* Of the lines there were and of the births, each by itself: their noise is not the same. */
static struct mtl_interval footprint_interval(struct bootstrap *b, size_t corner,
        const double *values, const struct mtl_interval *births, unsigned n)
{
	const struct mtl_estimator *e = b->estimator;
	double window = e->footprint.window[corner], born = e->footprint.birth_rate * window;
	double lines = lines_before_births(b, corner);
	struct mtl_evidence evidence = mtl_evidence_from_replicates(values, n, lines, 0);

	b->deviation[corner] = evidence.deviation;
	evidence.unseen = unseen_lines(b, corner);
	struct mtl_interval part =
	        mtl_part_interval(&evidence, e->survival.lines, b->worth * b->watchers[corner - 1]);
	return (struct mtl_interval){
	        .low = lines + born - hypot(lines - part.low, born - births->low * window),
	        .high = lines + born + hypot(part.high - lines, births->high * window - born),
	};
}

/* Of all lines within its window, births included. */
static double touches_of_all(const struct bootstrap *b, size_t corner)
{
	const struct mtl_footprint *f = &b->estimator->footprint;

	return touches_worth(f->lines[corner],
	        hypot(b->deviation[corner], b->births_deviation * f->window[corner]));
}

/* From there on every one rests on touches enough: light lines that are drawn often may say much of a
 * short window, and the first heavy ones after it little. */
static double known_window(const struct bootstrap *b)
{
	const struct mtl_estimator *e = b->estimator;
	size_t c = e->footprint.n - 1;

	if (!(mtl_footprint_whole(&e->footprint) > 0))
		return e->resolution;
	while (c > 1 && touches_of_all(b, c - 1) >= FEW_TOUCHES)
		c--;
	return fmax(e->footprint.window[c], e->resolution);
}

int mtl_bootstrap(const struct mtl_estimator *estimator, const double *sizes, size_t n,
        unsigned resamples, uint64_t seed, struct mtl_interval *ret_misses,
        struct mtl_interval ret_footprint[GRID_MAX + 1], double *ret_known)
{
	_cleanup_(bootstrap_freep) struct bootstrap *b = NULL;
	size_t corners = estimator->footprint.n;
	_cleanup_free_ double *values = calloc(n + corners + 1, resamples * sizeof(*values));
	int r = values ? bootstrap_new(estimator, seed, &b) : -ENOMEM;

	if (r < 0)
		return r;
	for (unsigned i = 0; i < resamples; i++) {
		replicate(b);
		for (size_t s = 0; s < n; s++)
			values[s * resamples + i] = mtl_misses_from_fill_time(
			        &b->majorant, estimator->resolution, sizes[s]);
		for (size_t c = 0; c < corners; c++)
			values[(n + c) * resamples + i] =
			        b->footprint.lines[c] -
			        b->footprint.birth_rate * b->footprint.window[c];
		values[(n + corners) * resamples + i] = b->footprint.birth_rate;
	}
	struct mtl_evidence evidence = mtl_evidence_from_replicates(
	        &values[(n + corners) * resamples], resamples, estimator->footprint.birth_rate, 0);
	struct mtl_interval births = mtl_rate_interval(&evidence);
	b->births_deviation = evidence.deviation;
	ret_footprint[0] = (struct mtl_interval){0, 0};
	for (size_t c = 1; c < corners; c++)
		ret_footprint[c] =
		        footprint_interval(b, c, &values[(n + c) * resamples], &births, resamples);
	for (size_t s = 0; s < n; s++)
		ret_misses[s] = misses_interval(
		        b, ret_footprint, sizes[s], &values[s * resamples], resamples);
	*ret_known = known_window(b);
	return 0;
}

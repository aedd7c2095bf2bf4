/* SPDX-License-Identifier: MIT */
/*
 * Curve: all stages in a row, from observations to points with intervals.
 *
 *     observations -> survival -> line coverage -> footprint -> fill time -> miss curve
 *
 * Invariants of what comes out: misses_per_second, low and high never rise with size, footprints
 * never fall with the window, low <= value <= high. The upper limit at a size that is never filled
 * is at least what the footprint may have risen by in the second half of the longest trusted window,
 * which is all that is known about longer ones. A
 * window longer than the longest trusted one gets the value of that one, and all lines there are
 * as its upper limit.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "bootstrap.h"
#include "cleanup.h"
#include "reuse.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

#define DEFAULT_RESAMPLES 100
#define SIZES_MAX 128
#define WINDOWS_MAX 32
/* Shortest window of the grid where no resolution is given, as a part of the longest. */
#define FINEST 1e-6
/* The resolution is four arming spreads; words count as armed together at ten of them. */
#define TOGETHER 2.5

/* What is asked for: sizes in lines, windows in seconds. */
struct request {
	double *sizes, *windows;
	size_t n_sizes, n_windows;
};

static bool all_positive(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(values[i]) || values[i] <= 0)
			return false;
	return true;
}

static bool finite_not_negative(double value)
{
	return isfinite(value) && value >= 0;
}

/* Both or neither, and a resolution with them. */
static bool visits_valid(const struct mtl_estimate_options *options)
{
	if (options->miss_cache_bytes == 0 && options->misses_per_second == 0)
		return true;
	return all_positive(&options->miss_cache_bytes, 1) &&
	       all_positive(&options->misses_per_second, 1) && options->resolution_seconds > 0;
}

static bool options_valid(const struct mtl_estimate_options *options)
{
	return isfinite(options->now) && finite_not_negative(options->window_seconds) &&
	       finite_not_negative(options->resolution_seconds) &&
	       finite_not_negative(options->reference_bytes) &&
	       finite_not_negative(options->cache_bytes) && !(options->accesses_per_second <= 0) &&
	       !isinf(options->accesses_per_second) && visits_valid(options) &&
	       (!options->sizes || all_positive(options->sizes, options->n_sizes)) &&
	       (!options->windows || all_positive(options->windows, options->n_windows));
}

/* Everything up to the footprint; estimator->samples are the caller's to free, also on failure. */
static int prepare(struct mtl_estimator *estimator, const struct mtl_observation *observations,
        size_t n, const struct mtl_birth *births, size_t n_births,
        const struct mtl_estimate_options *options)
{
	_cleanup_free_ double *scratch = NULL;
	int r = mtl_samples_from_observations(
	        observations, n, options->now, options->window_seconds, &estimator->samples);
	if (r < 0)
		return r;
	r = mtl_birth_rate_from_births(births, n_births, estimator->samples.first_moment,
	        options->now, options->window_seconds, &estimator->births);
	if (r < 0)
		return r;
	scratch = malloc(estimator->samples.n * sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	double longest = mtl_trusted_window(&estimator->samples);
	double shortest =
	        fmin(fmax(options->resolution_seconds / 2, longest * FINEST), longest / 2);
	mtl_grid_from_samples(&estimator->samples, shortest, longest, scratch, &estimator->grid);
	mtl_samples_on_grid(&estimator->samples, &estimator->grid);
	estimator->resolution = options->resolution_seconds;
	estimator->visits = (struct mtl_visits){options->miss_cache_bytes / MTL_LINE_BYTES,
	        options->misses_per_second, options->resolution_seconds};
	return 0;
}

static int copy_or_default(const double *given, size_t n_given, const double *usual, size_t n_usual,
        double **ret_values, size_t *ret_n)
{
	size_t n = given ? n_given : n_usual;
	double *values = malloc((n ? n : 1) * sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		values[i] = (given ?: usual)[i];
	*ret_values = values;
	*ret_n = n;
	return 0;
}

void mtl_footprint_of_estimator(const struct mtl_estimator *e, const double *coverage, double lines,
        double birth_rate, struct mtl_footprint *ret_footprint)
{
	if (e->visits.rate > 0)
		mtl_footprint_from_gaps(&e->grid, coverage, &e->visits, birth_rate, ret_footprint);
	else
		mtl_footprint_from_coverage(&e->grid, coverage, lines, birth_rate, ret_footprint);
}

/* Of reuse times a line of the footprint is no touch. */
static void smooth(struct mtl_estimator *e)
{
	double touches[GRID_MAX], heaviest[GRID_MAX];

	if (e->visits.rate > 0)
		return;
	mtl_watchers_from_samples(&e->samples, &e->grid, touches, heaviest);
	double worth = fmax(mtl_effective_watchers(&e->samples) / touches[0], 1);
	for (size_t g = 0; g < e->grid.n; g++)
		touches[g] *= worth / e->survival.lines;
	mtl_bands_from_majorant(&e->majorant, e->resolution, &e->grid, touches, &e->bands);
}

static void estimate(struct mtl_estimator *e)
{
	mtl_survival_from_samples(&e->samples, NULL, &e->grid, &e->tally, &e->survival);
	mtl_coverage_model(&e->model);
	mtl_line_coverage_from_survival(
	        &e->model, &e->survival, &e->samples, e->grid.n, &e->coverage);
	while (e->together + 1 < e->grid.n &&
	        e->grid.window[e->together] < TOGETHER * e->resolution)
		e->together++;
	mtl_lines_by_words_before(&e->survival, &e->samples, e->together, e->coverage.lines);
	mtl_footprint_of_estimator(e, e->coverage.lines, e->survival.lines,
	        mtl_birth_rate(&e->births, NULL), &e->footprint);
	mtl_majorant_from_footprint(&e->footprint, &e->majorant);
	smooth(e);
}

static void request_done(struct request *request)
{
	free(request->sizes);
	free(request->windows);
}

static int request_from_options(const struct mtl_estimate_options *options, double footprint_bytes,
        double longest, struct request *ret_request)
{
	double sizes[SIZES_MAX], windows[WINDOWS_MAX];
	size_t n_sizes = mtl_default_sizes(options->cache_bytes, footprint_bytes, sizes, SIZES_MAX);
	size_t n_windows =
	        mtl_default_windows(options->resolution_seconds, longest, windows, WINDOWS_MAX);
	int r = copy_or_default(options->sizes, options->n_sizes, sizes, n_sizes,
	        &ret_request->sizes, &ret_request->n_sizes);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ret_request->n_sizes; i++)
		ret_request->sizes[i] /= MTL_LINE_BYTES;
	return copy_or_default(options->windows, options->n_windows, windows, n_windows,
	        &ret_request->windows, &ret_request->n_windows);
}

static double misses_at(const struct mtl_estimator *e, double lines)
{
	return mtl_misses_from_bands(&e->bands, &e->majorant, e->resolution, lines);
}

static void fill_point(const struct mtl_estimator *e, const struct mtl_estimate_options *options,
        double lines, double resolved, struct mtl_interval interval, struct mtl_curve_point *point)
{
	double reference = options->reference_bytes > 0
	                           ? misses_at(e, options->reference_bytes / MTL_LINE_BYTES)
	                           : 0;
	double misses = misses_at(e, lines);

	*point = (struct mtl_curve_point){
	        .size_bytes = lines * MTL_LINE_BYTES,
	        .fill_time_seconds = mtl_fill_time_from_footprint(&e->majorant, lines),
	        .misses_per_second = misses,
	        .low = fmin(interval.low, misses),
	        .high = fmax(interval.high, misses),
	        .miss_ratio = misses / options->accesses_per_second,
	        .relative_miss_ratio = reference > 0 ? misses / reference : NAN,
	        .below_resolution = resolved >= lines,
	};
}

/* The footprint is concave: from the longest trusted window on it rises no faster than it did in the
 * second half of that one, which is known as well as the footprint at its end. */
static double slope_beyond(const struct mtl_estimator *e, const struct mtl_interval *limits)
{
	double half = mtl_longest_window(&e->footprint) / 2;
	double rise = limits[e->footprint.n - 1].high - mtl_footprint_at(&e->footprint, half);

	return fmax(mtl_last_slope(&e->majorant), rise / half);
}

/* Within a window longer than the longest trusted one; 0: it is not. */
static double lines_at_most(const struct mtl_estimator *e, double window)
{
	const struct mtl_footprint *f = &e->footprint;
	double beyond = window - mtl_longest_window(f);

	if (beyond <= 0)
		return 0;
	if (e->visits.rate > 0)
		return mtl_footprint_whole(f) +
		       beyond * e->visits.rate * (1 - e->coverage.lines[e->grid.n - 1]);
	return e->survival.lines + f->birth_rate * window;
}

static double bytes_between(const struct mtl_footprint *f, const double *lines, double window)
{
	return MTL_LINE_BYTES * mtl_power_between(f->window, lines, f->n, window);
}

static void fill_footprint_point(const struct mtl_estimator *e, double window, const double *low,
        const double *high, struct mtl_footprint_point *point)
{
	const struct mtl_footprint *f = &e->footprint;
	double bytes = bytes_between(f, f->lines, window);
	double all = MTL_LINE_BYTES * lines_at_most(e, window);

	*point = (struct mtl_footprint_point){
	        .window_seconds = window,
	        .bytes = bytes,
	        .low = fmin(bytes_between(f, low, window), bytes),
	        .high = fmax(fmax(bytes_between(f, high, window), bytes), all),
	};
}

static int by_size(const void *a, const void *b)
{
	const struct mtl_curve_point *x = *(struct mtl_curve_point *const *)a;
	const struct mtl_curve_point *y = *(struct mtl_curve_point *const *)b;
	return (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes);
}

/* Misses cannot rise with size: what they are at least at one size they are at least at every
 * smaller one, and what they are at most, at every larger one. So no limit rises with size either,
 * whatever the order of the points, and no size asked for loosens what is known at another. */
static int narrow(struct mtl_curve_point *points, size_t n)
{
	_cleanup_free_ struct mtl_curve_point **order = calloc(n + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = &points[i];
	qsort(order, n, sizeof(*order), by_size);
	for (size_t i = n; i-- > 1;)
		order[i - 1]->low = fmin(
		        order[i - 1]->misses_per_second, fmax(order[i - 1]->low, order[i]->low));
	for (size_t i = 1; i < n; i++)
		order[i]->high =
		        fmax(order[i]->misses_per_second, fmin(order[i]->high, order[i - 1]->high));
	return 0;
}

static int curve_new(const struct request *request, struct mtl_curve **ret_curve)
{
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = calloc(1, sizeof(*curve));

	if (!curve)
		return -ENOMEM;
	curve->n_points = request->n_sizes;
	curve->n_footprint = request->n_windows;
	curve->points = calloc(request->n_sizes + 1, sizeof(*curve->points));
	curve->footprint = calloc(request->n_windows + 1, sizeof(*curve->footprint));
	if (!curve->points || !curve->footprint)
		return -ENOMEM;
	*ret_curve = TAKE_PTR(curve);
	return 0;
}

static void fill_summary(const struct mtl_estimator *e, const struct mtl_estimate_options *options,
        double resolved, struct mtl_curve *curve)
{
	curve->observations = e->samples.n;
	curve->effective_observations = mtl_effective_observations(&e->samples);
	curve->footprint_bytes = MTL_LINE_BYTES * mtl_footprint_whole(&e->footprint);
	curve->footprint_window_seconds = mtl_longest_window(&e->footprint);
	curve->resolution_seconds = e->resolution;
	curve->resolution_bytes = MTL_LINE_BYTES * resolved;
	curve->reference_bytes = options->reference_bytes;
	curve->cache_bytes = options->cache_bytes;
	curve->cache_misses_per_second =
	        options->cache_bytes > 0 ? misses_at(e, options->cache_bytes / MTL_LINE_BYTES)
	                                 : NAN;
}

static void fill_footprint(const struct mtl_estimator *e, const struct request *request,
        const struct mtl_interval *intervals, struct mtl_curve *curve)
{
	double low[GRID_MAX + 1], high[GRID_MAX + 1];

	for (size_t i = 0; i < e->footprint.n; i++) {
		low[i] = intervals[i].low;
		high[i] = intervals[i].high;
	}
	for (size_t i = 0; i < request->n_windows; i++)
		fill_footprint_point(e, request->windows[i], low, high, &curve->footprint[i]);
}

static int fill_curve(const struct mtl_estimator *e, const struct mtl_estimate_options *options,
        const struct request *request, struct mtl_curve *curve)
{
	_cleanup_free_ struct mtl_interval *misses = calloc(request->n_sizes + 1, sizeof(*misses));
	struct mtl_interval footprint[GRID_MAX + 1];
	double known;

	if (!misses)
		return -ENOMEM;
	int r = mtl_bootstrap(e, request->sizes, request->n_sizes,
	        options->resamples ?: DEFAULT_RESAMPLES, options->seed, misses, footprint, &known);
	if (r < 0)
		return r;
	double resolved = mtl_footprint_at(&e->majorant, known);
	double beyond = slope_beyond(e, footprint);
	for (size_t i = 0; i < request->n_sizes; i++) {
		bool filled = !isinf(mtl_fill_time_from_footprint(&e->majorant, request->sizes[i]));

		misses[i].high = fmax(misses[i].high, filled ? 0 : beyond);
		fill_point(e, options, request->sizes[i], resolved, misses[i], &curve->points[i]);
	}
	fill_footprint(e, request, footprint, curve);
	fill_summary(e, options, resolved, curve);
	return narrow(curve->points, curve->n_points);
}

static int curve_from_estimator(const struct mtl_estimator *estimator,
        const struct mtl_estimate_options *options, struct mtl_curve **ret_curve)
{
	_cleanup_(request_done) struct request request = {0};
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	int r = request_from_options(options,
	        MTL_LINE_BYTES * mtl_footprint_whole(&estimator->footprint),
	        mtl_longest_window(&estimator->footprint), &request);

	if (r == 0)
		r = curve_new(&request, &curve);
	if (r == 0)
		r = fill_curve(estimator, options, &request, curve);
	if (r < 0)
		return r;
	*ret_curve = TAKE_PTR(curve);
	return 0;
}

int mtl_curve_from_observations(const struct mtl_observation *observations, size_t n,
        const struct mtl_birth *births, size_t n_births, const struct mtl_estimate_options *options,
        struct mtl_curve **ret_curve)
{
	_cleanup_free_ struct mtl_estimator *estimator = NULL;
	int r;

	if (!options_valid(options))
		return -EINVAL;
	estimator = calloc(1, sizeof(*estimator));
	if (!estimator)
		return -ENOMEM;
	r = prepare(estimator, observations, n, births, n_births, options);
	if (r == 0) {
		estimate(estimator);
		r = curve_from_estimator(estimator, options, ret_curve);
	}
	mtl_samples_done(&estimator->samples);
	return r;
}

struct mtl_curve *mtl_curve_free(struct mtl_curve *curve)
{
	if (!curve)
		return NULL;
	free(curve->points);
	free(curve->footprint);
	mtl_reuse_free(curve->reuse);
	free(curve);
	return NULL;
}

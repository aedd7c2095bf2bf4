/* SPDX-License-Identifier: MIT */
/*
 * Miss curve: misses a second in a fully associative LRU cache of c lines, for every c.
 *
 *     misses(c) = fp'(ft(c))
 *
 * The slope is taken as the chord of the footprint between the sizes c (1 - h) and c (1 + h), cut
 * at what the program touches at all: chords of a concave function over a band that only moves
 * right never get steeper, so misses never rise with size, and the band averages what single
 * corners of the majorant would show as noise. Bands also stop at the resolution: below
 * fp(resolution) the slope stays what it is there, and the point is marked.
 *
 * A cache that is never filled within a trusted window takes cold misses only, at the birth rate;
 * the upper limit is then the last slope of the majorant, which is all that is known beyond it.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "bootstrap.h"
#include "cleanup.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

#define BAND 0.1
#define DEFAULT_RESAMPLES 100
#define SMALLEST_SIZE 32768.0
#define SIZES_MAX 128
#define WINDOWS_MAX 32
/* Shortest window of the grid where no resolution is given, as a part of the longest. */
#define FINEST 1e-6

static double slope_at(const struct mtl_footprint *f, double lines)
{
	size_t i = mtl_segment_of(f->lines, f->n, lines);
	return (f->lines[i + 1] - f->lines[i]) / (f->window[i + 1] - f->window[i]);
}

double mtl_misses_from_fill_time(const struct mtl_footprint *f, double resolution, double lines)
{
	double whole = mtl_footprint_whole(f), resolved = mtl_footprint_at(f, resolution);

	if (lines >= whole)
		return f->birth_rate;
	lines = fmax(lines, resolved);
	double from = fmax(lines * (1 - BAND), resolved), to = fmin(lines * (1 + BAND), whole);
	double seconds = mtl_refill_time(f, from, to);
	return to - from > 1e-9 * whole && seconds > 0 ? (to - from) / seconds : slope_at(f, to);
}

size_t mtl_default_sizes(double cache_bytes, double footprint_bytes, double *ret_sizes, size_t most)
{
	double largest = 2 * fmax(fmax(cache_bytes, footprint_bytes), SMALLEST_SIZE);
	size_t n = 0;

	while (n < most) {
		double size = SMALLEST_SIZE * pow(M_SQRT2, n);
		ret_sizes[n++] = round(size);
		if (size >= largest)
			break;
	}
	return n;
}

size_t mtl_default_windows(double resolution, double longest, double *ret_windows, size_t most)
{
	int exponent = ceil(log10(fmax(resolution, longest * FINEST)) - 1e-9);
	size_t n = 0;

	for (double window = pow(10, exponent); window < longest; window = pow(10, ++exponent))
		if (n + 1 < most)
			ret_windows[n++] = window;
	if (n < most)
		ret_windows[n++] = longest;
	return n;
}

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

static bool options_valid(const struct mtl_estimate_options *options)
{
	return isfinite(options->now) && finite_not_negative(options->window_seconds) &&
	       finite_not_negative(options->resolution_seconds) &&
	       finite_not_negative(options->reference_bytes) &&
	       finite_not_negative(options->cache_bytes) && !(options->accesses_per_second <= 0) &&
	       !isinf(options->accesses_per_second) &&
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
	mtl_coverage_model(&estimator->model);
	estimator->resolution = options->resolution_seconds;
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

/* What a curve is asked for, in lines and seconds. */
struct request {
	double *sizes, *windows;
	size_t n_sizes, n_windows;
};

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

static void fill_point(const struct mtl_footprint *f, const struct mtl_estimate_options *options,
        double lines, struct mtl_interval interval, struct mtl_curve_point *point)
{
	double resolution = options->resolution_seconds;
	double reference = options->reference_bytes > 0
	                           ? mtl_misses_from_fill_time(f, resolution,
	                                     options->reference_bytes / MTL_LINE_BYTES)
	                           : 0;
	double misses = mtl_misses_from_fill_time(f, resolution, lines);
	double last = (f->lines[f->n - 1] - f->lines[f->n - 2]) /
	              (f->window[f->n - 1] - f->window[f->n - 2]);

	*point = (struct mtl_curve_point){
	        .size_bytes = lines * MTL_LINE_BYTES,
	        .fill_time_seconds = mtl_fill_time_from_footprint(f, lines),
	        .misses_per_second = misses,
	        .low = fmin(interval.low, misses),
	        .high = fmax(fmax(interval.high, misses), last),
	        .miss_ratio = misses / options->accesses_per_second,
	        .relative_miss_ratio = reference > 0 ? misses / reference : NAN,
	        .below_resolution = mtl_footprint_at(f, resolution) >= lines,
	};
}

static void fill_footprint_point(const struct mtl_footprint *f, double window, double lines,
        struct mtl_interval interval, struct mtl_footprint_point *point)
{
	double bytes = MTL_LINE_BYTES * mtl_footprint_at(f, window);
	double beyond = window > f->window[f->n - 1]
	                        ? MTL_LINE_BYTES * (lines + f->birth_rate * window)
	                        : 0;

	*point = (struct mtl_footprint_point){
	        .window_seconds = window,
	        .bytes = bytes,
	        .low = fmin(MTL_LINE_BYTES * interval.low, bytes),
	        .high = fmax(fmax(MTL_LINE_BYTES * interval.high, bytes), beyond),
	};
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

static int fill_curve(struct mtl_estimator *estimator, const struct mtl_estimate *estimate,
        const struct mtl_estimate_options *options, const struct request *request,
        struct mtl_curve *curve)
{
	const struct mtl_footprint *f = &estimate->footprint;
	_cleanup_free_ struct mtl_interval *intervals =
	        calloc(request->n_sizes + request->n_windows + 1, sizeof(*intervals));
	if (!intervals)
		return -ENOMEM;
	int r = mtl_bootstrap(estimator, estimate, options->resamples ?: DEFAULT_RESAMPLES,
	        options->seed, request->sizes, request->n_sizes, request->windows,
	        request->n_windows, intervals, intervals + request->n_sizes);
	if (r < 0)
		return r;
	for (size_t i = 0; i < request->n_sizes; i++)
		fill_point(f, options, request->sizes[i], intervals[i], &curve->points[i]);
	for (size_t i = 0; i < request->n_windows; i++)
		fill_footprint_point(f, request->windows[i], estimate->lines,
		        intervals[request->n_sizes + i], &curve->footprint[i]);
	curve->observations = estimator->samples.n;
	curve->effective_observations = mtl_effective_observations(&estimator->samples);
	curve->footprint_bytes = MTL_LINE_BYTES * mtl_footprint_whole(f);
	curve->footprint_window_seconds = f->window[f->n - 1];
	curve->resolution_seconds = options->resolution_seconds;
	curve->resolution_bytes = MTL_LINE_BYTES * mtl_footprint_at(f, options->resolution_seconds);
	curve->reference_bytes = options->reference_bytes;
	return 0;
}

static int curve_from_estimator(struct mtl_estimator *estimator,
        const struct mtl_estimate_options *options, struct mtl_curve **ret_curve)
{
	_cleanup_(request_done) struct request request = {0};
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	_cleanup_free_ struct mtl_estimate *estimate = malloc(sizeof(*estimate));
	int r;

	if (!estimate)
		return -ENOMEM;
	mtl_estimate(estimator, NULL, NULL, NULL, estimate);
	r = request_from_options(options,
	        MTL_LINE_BYTES * mtl_footprint_whole(&estimate->footprint),
	        estimator->grid.window[estimator->grid.n - 1], &request);
	if (r < 0)
		return r;
	r = curve_new(&request, &curve);
	if (r < 0)
		return r;
	r = fill_curve(estimator, estimate, options, &request, curve);
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
	if (r == 0)
		r = curve_from_estimator(estimator, options, ret_curve);
	mtl_samples_done(&estimator->samples);
	return r;
}

struct mtl_curve *mtl_curve_free(struct mtl_curve *curve)
{
	if (!curve)
		return NULL;
	free(curve->points);
	free(curve->footprint);
	free(curve);
	return NULL;
}

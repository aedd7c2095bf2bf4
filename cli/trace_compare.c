/* SPDX-License-Identifier: MIT */
/*
 * `mtl trace --compare`: all methods, one pass each, against the exact one.
 *
 * The errors are those of the miss ratios at the sizes of the exact curve (or of --sizes): their
 * mean and greatest absolute difference, for SHARDS over the sizes that its sample can tell. Times
 * are of the whole pass, reading and decompressing the file included, as nobody has one without the
 * other; memory is what the method's own engine allocated at most.
 */

#include "trace_compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cleanup.h"
#include "trace_comparison.h"

static const char *const methods[COMPARED] = {
        "exact", "footprint", "aet", "statstack", "shards:0.01", "shards:0.1", "shards-size:8192"};

static void comparison_done(struct trace_comparison *comparison)
{
	for (size_t i = 0; i < COMPARED; i++)
		trace_curve_done(&comparison->results[i].curve);
	free(comparison->sizes.values);
}

static double clock_seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void measure_errors(struct compared *result, const struct trace_curve *exact)
{
	double sum = 0;

	result->max_error = result->max_at = NAN;
	for (size_t i = 0; i < exact->n_points; i++) {
		double size = exact->points[i].size_bytes;
		double error =
		        fabs(result->curve.points[i].miss_ratio - exact->points[i].miss_ratio);

		if (isnan(error) || size < result->curve.resolution_bytes)
			continue;
		sum += error;
		result->n_sizes++;
		if (!(error <= result->max_error)) {
			result->max_error = error;
			result->max_at = size;
		}
	}
	result->mean_error = result->n_sizes ? sum / (double)result->n_sizes : NAN;
}

/* A method that has sampled nothing has an opinion of nothing. */
static int unknown_curve(const struct trace_comparison *comparison,
        const struct trace_method *method, struct trace_curve *ret_curve)
{
	size_t n = comparison->sizes.n;
	struct trace_curve curve = {.facts = &comparison->facts, .n_points = n};

	curve.points = calloc(n, sizeof(*curve.points));
	if (!curve.points)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		curve.points[i] = (struct trace_point){comparison->sizes.values[i], NAN, NAN};
	memcpy(curve.method, method->name, sizeof(curve.method));
	*ret_curve = curve;
	return 0;
}

/* The first method is exact: its trace is what the others are compared on. */
static int take_curve(struct trace_comparison *comparison, struct trace_session *session,
        const struct trace_method *method, struct compared *result)
{
	struct trace_engine *engine = trace_pass_engine(session->pass, 0);
	int r = 0;

	if (!comparison->sizes.n) {
		comparison->facts = session->facts;
		r = trace_sizes(
		        &comparison->facts, &comparison->options->sizes, &comparison->sizes);
	}
	result->memory_bytes = (double)trace_engine_bytes(engine);
	if (r < 0)
		return r;
	r = trace_curve_new(&comparison->facts, method, engine, &comparison->sizes, &result->curve);
	return r == -ENODATA ? unknown_curve(comparison, method, &result->curve) : r;
}

static int run_method(struct trace_comparison *comparison, size_t i)
{
	_cleanup_(trace_session_done) struct trace_session session = {0};
	struct compared *result = &comparison->results[i];
	double cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID), wall = clock_seconds(CLOCK_MONOTONIC);
	struct trace_method method;
	struct engine_wish wish;
	char error[256];
	int code = trace_session_open(comparison->options, comparison->path, &session), r;

	if (code != MTL_DONE)
		return code;
	r = trace_method_parse(methods[i], &method, error, sizeof(error));
	wish = trace_method_wish(&method, session.facts.line_bytes);
	code = trace_session_run(&session, &wish, 1);
	if (code != MTL_DONE)
		return code;
	r = r ?: take_curve(comparison, &session, &method, result);
	if (r < 0)
		return complain(MTL_FAILED, "method %s: %s", methods[i], strerror(-r));
	result->cpu_seconds = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	result->wall_seconds = clock_seconds(CLOCK_MONOTONIC) - wall;
	measure_errors(result, &comparison->results[0].curve);
	result->curve.engine = NULL; /* goes with the session */
	return MTL_DONE;
}

static int plot_all(const struct trace_comparison *comparison)
{
	const struct trace_curve *curves[COMPARED];

	for (size_t i = 0; i < COMPARED; i++)
		curves[i] = &comparison->results[i].curve;
	return trace_curves_plot(comparison->options->plot, curves, COMPARED);
}

/* What is not there or a directory is for the reader to complain of. */
static bool can_read_again(const char *path)
{
	struct stat status;

	if (strcmp(path, "-") == 0)
		return false;
	return stat(path, &status) < 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

int trace_compare(const struct options *options, const char *path)
{
	_cleanup_(comparison_done) struct trace_comparison comparison = {
	        .options = options, .path = path};
	int code = MTL_DONE;

	if (!can_read_again(path))
		return complain(MTL_USAGE,
		        "trace: --compare reads the trace once for each method, which %s cannot "
		        "give: name a regular file",
		        strcmp(path, "-") == 0 ? "standard input" : path);
	for (size_t i = 0; code == MTL_DONE && i < COMPARED; i++)
		code = run_method(&comparison, i);
	if (code == MTL_DONE && options->plot)
		code = plot_all(&comparison);
	if (code == MTL_DONE && (options->json || options->csv))
		trace_say_note(&comparison.facts);
	return code == MTL_DONE ? trace_comparison_write(&comparison) : code;
}

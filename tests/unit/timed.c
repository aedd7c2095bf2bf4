/* SPDX-License-Identifier: MIT */
#include "timed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "deadlines.h"
#include "observation_store.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)
DEFINE_CLEANUP(struct observer, observer_free)

#define CACHE (32 << 20)
#define LONGEST_CAP 2.0
#define WINDOW 60.0 /* mtld's default */
#define SMALLEST (512 << 10)
#define LARGEST 0.97
#define SIZES 32
#define RESAMPLES 20 /* what is resolved is seen from few */
#define ROUNDED 1.01 /* what rounding makes of a size, at most */
/* As daemon/tracked_pace.c and daemon/governor.c have them. */
#define MOMENTS_PER_WATCH 6
#define PACE_MAX 1000.0

struct timing {
	const struct program *program;
	const struct timed_terms *terms;
	struct observer *observer;
	struct deadlines deadlines;
	struct mtl_observation *seen;
	size_t n, room;
};

static void afford(struct timing *timing)
{
	deadlines_afford(&timing->deadlines, timing->terms->watches);
	if (!isnan(timing->terms->lean))
		timing->deadlines.now.lean = timing->terms->lean;
}

/* Moments a second: as many more than the watches paid for as find the process occupied. */
static double pace_of(const struct timing *timing)
{
	double mean = deadlines_mean(&timing->deadlines);
	double between = 1 / timing->terms->watches - mean;

	return fmin(between > 0 ? fmin(1 / between, PACE_MAX) : PACE_MAX, MOMENTS_PER_WATCH / mean);
}

static int curve_at(const struct timing *timing, double now,
        const struct mtl_estimate_options *questions, unsigned resamples,
        struct mtl_curve **ret_curve)
{
	size_t kept = timing->n < STORE_OBSERVATIONS ? timing->n : STORE_OBSERVATIONS;
	struct mtl_estimate_options options = *questions;

	options.now = now;
	options.window_seconds = timing->terms->window > 0 ? timing->terms->window : WINDOW;
	options.resolution_seconds = timing->program->resolution;
	options.accesses_per_second = NAN;
	options.resamples = resamples;
	return mtl_curve_from_observations(
	        timing->seen + timing->n - kept, kept, NULL, 0, &options, ret_curve);
}

static void settle(struct timing *timing, double now)
{
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	double windows[2], size;
	const struct mtl_estimate_options questions = {
	        .sizes = &size, .n_sizes = 1, .windows = windows, .n_windows = 2};

	if (deadlines_due(&timing->deadlines)) {
		deadlines_questions(&timing->deadlines, CACHE, windows, &size);
		if (curve_at(timing, now, &questions, 1, &curve) == 0)
			deadlines_adapt(&timing->deadlines, curve);
	}
	afford(timing);
}

static double known_or_1(double error)
{
	return isnan(error) ? 1 : error;
}

static size_t list_sizes(const struct timing *timing, double ret_sizes[SIZES])
{
	const struct timed_terms *terms = timing->terms;
	double usual = LARGEST * timing->program->lines * MTL_LINE_BYTES;
	double largest = terms->largest > 0 ? terms->largest * ROUNDED : usual;
	size_t n = 0;

	for (double size = terms->smallest > 0 ? terms->smallest : SMALLEST;
	        size < largest && n < SIZES; size *= M_SQRT2)
		ret_sizes[n++] = size;
	return n;
}

static int judge(const struct timing *timing, double now, struct timed *ret_timed)
{
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	const struct program *program = timing->program;
	double sizes[SIZES];
	struct mtl_estimate_options questions = {.sizes = sizes,
	        .n_sizes = list_sizes(timing, sizes),
	        .reference_bytes = program_reference(program)};

	*ret_timed = (struct timed){.observations = timing->n,
	        .error = 1,
	        .to_first = 1,
	        .to_reference = 1,
	        .longest = timing->deadlines.now.longest,
	        .lean = timing->deadlines.now.lean};
	int r = curve_at(timing, now, &questions, RESAMPLES, &curve);
	if (r == -ENODATA)
		return 0;
	if (r < 0)
		return r;
	ret_timed->observations = curve->observations;
	ret_timed->error = known_or_1(program_relative_error(program, curve));
	ret_timed->to_first = known_or_1(program_error_from(program, curve, 0));
	ret_timed->to_reference = known_or_1(
	        program_error_from(program, curve, questions.reference_bytes / ROUNDED));
	return 0;
}

static int watch(struct timing *timing, double now)
{
	if (timing->n == timing->room)
		return -ENOBUFS;
	return observer_watch(
	        timing->observer, now, &timing->deadlines.now, &timing->seen[timing->n++]);
}

static int run(struct timing *timing, const double *seconds, size_t n, struct timed *ret_timed)
{
	double now = 0, busy = 0, next = 1;

	for (size_t i = 0; i < n;) {
		int r = 0;

		now -= log(observer_uniform(timing->observer)) / pace_of(timing);
		for (; r >= 0 && next <= now && i < n; next++) {
			settle(timing, next);
			if (next == seconds[i])
				r = judge(timing, next, &ret_timed[i++]);
		}
		if (r >= 0 && now >= busy && i < n) {
			r = watch(timing, now);
			busy = now + timing->seen[timing->n - 1].deadline;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int timed_run(const struct program *program, const struct timed_terms *terms, uint64_t seed,
        const double *seconds, size_t n, struct timed *ret_timed)
{
	size_t room = (size_t)(2 * terms->watches * seconds[n - 1]) + 1000;
	_cleanup_free_ struct mtl_observation *seen = calloc(room, sizeof(*seen));
	_cleanup_(observer_freep) struct observer *observer = NULL;
	int r = seen ? observer_new(program, seed, true, &observer) : -ENOMEM;
	struct timing timing = {.program = program,
	        .terms = terms,
	        .observer = observer,
	        .seen = seen,
	        .room = room};

	if (r < 0)
		return r;
	deadlines_begin(&timing.deadlines, LONGEST_CAP, program->resolution);
	afford(&timing);
	return run(&timing, seconds, n, ret_timed);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double timed_median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), ascending);
	return (values[n / 2] + values[(n - 1) / 2]) / 2;
}

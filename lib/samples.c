/* SPDX-License-Identifier: MIT */
/*
 * Samples: observations as the estimators want them.
 *
 * Whether an observation counts must not depend on what it saw: it counts once its deadline has
 * passed, although one that was touched early could be told before. Touches are ordered, cut at the
 * deadline, and become steps "j words -> k words" on a grid of windows; an observation whose
 * deadline lies between two windows counts up to the shorter one. The grid has log-spaced windows,
 * for the shape, and quantiles of the touches seen, for the kinks; it ends at the longest trusted
 * window.
 *
 * Strata: observations of like weight, to be estimated by themselves (survival.c says why).
 */

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "samples.h"

/* The longest trusted window is one that this many (effective) observations watched to its end. */
#define TRUSTED_AT_RISK 20.0
/* A deadline counts as passed although rounding puts it this much after `now`. */
#define DEADLINE_SLACK 1e-6
/* More lines than fit an address space of 64 bits. */
#define LINES_MAX 0x1p58

/* A stratum spans less than this ratio of weights, unless that leaves it with too few. */
#define STRATUM_SPREAD 2.0
#define STRATUM_LEAST 30

#define GRID_LOG_SPACED 10
#define GRID_QUANTILES (GRID_MAX - GRID_LOG_SPACED)
#define GRID_QUANTILES_LEAST 5
/* Windows closer together than this ratio are one. */
#define GRID_RATIO 1.005

static bool within(double value, double most)
{
	return value > 0 && value <= most;
}

static bool observation_valid(const struct mtl_observation *o)
{
	if (!within(o->deadline, DBL_MAX) || !within(o->weight, LINES_MAX) || !isfinite(o->moment))
		return false;
	if (o->slots < 1 || o->slots > MTL_SLOTS_MAX || (o->whole_line && o->slots != 1))
		return false;
	for (unsigned k = 0; k < o->slots; k++)
		if (isnan(o->touched[k]))
			return false;
	return true;
}

static void insert_ascending(float *values, unsigned n, float value)
{
	for (; n > 0 && values[n - 1] > value; n--)
		values[n] = values[n - 1];
	values[n] = value;
}

static struct mtl_sample sample_from_observation(const struct mtl_observation *o, double decay)
{
	struct mtl_sample sample = {
	        .decay = decay,
	        .weight = decay * o->weight,
	        .deadline = o->deadline,
	        .kind = o->whole_line ? KIND_WHOLE_LINE : o->slots,
	};
	for (unsigned k = 0; k < o->slots; k++) {
		float touched = o->touched[k] <= o->deadline ? fmaxf(o->touched[k], 0) : INFINITY;
		insert_ascending(sample.touched, k, touched);
	}
	return sample;
}

/* Decays are relative to the newest moment: only their ratios matter, and none underflows to 0. */
static double decay_of(double moment, double newest, double window_seconds)
{
	return window_seconds > 0 ? fmax(exp((moment - newest) / window_seconds), DBL_EPSILON) : 1;
}

int mtl_samples_from_observations(const struct mtl_observation *observations, size_t n, double now,
        double window_seconds, struct mtl_samples *ret_samples)
{
	struct mtl_samples samples = {.first_moment = now};
	double newest = -DBL_MAX;

	for (size_t i = 0; i < n; i++) {
		if (!observation_valid(&observations[i]))
			return -EINVAL;
		newest = fmax(newest, observations[i].moment);
	}
	if (n < MTL_OBSERVATIONS_NEEDED)
		return -ENODATA;
	samples.sample = calloc(n, sizeof(*samples.sample));
	if (!samples.sample)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct mtl_observation *o = &observations[i];
		if (o->moment + o->deadline > now + DEADLINE_SLACK)
			continue;
		struct mtl_sample *sample = &samples.sample[samples.n++];
		*sample = sample_from_observation(o, decay_of(o->moment, newest, window_seconds));
		samples.present[sample->kind] = true;
		samples.first_moment = fmin(samples.first_moment, o->moment);
	}
	if (samples.n < MTL_OBSERVATIONS_NEEDED) {
		mtl_samples_done(&samples);
		return -ENODATA;
	}
	*ret_samples = samples;
	return 0;
}

void mtl_samples_done(struct mtl_samples *samples)
{
	free(samples->sample);
	samples->sample = NULL;
	samples->n = 0;
}

double mtl_effective_observations(const struct mtl_samples *samples)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < samples->n; i++) {
		sum += samples->sample[i].weight;
		squares += samples->sample[i].weight * samples->sample[i].weight;
	}
	return sum * sum / squares;
}

double mtl_effective_watchers(const struct mtl_samples *samples)
{
	double all = 0, touched = 0, squares = 0;

	for (size_t i = 0; i < samples->n; i++) {
		const struct mtl_sample *s = &samples->sample[i];
		all += s->weight;
		touched += isfinite(s->touched[0]) ? s->weight : 0;
		squares += isfinite(s->touched[0]) ? s->weight * s->weight : 0;
	}
	return touched > 0 ? touched / squares * all : mtl_effective_observations(samples);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int descending_deadline(const void *a, const void *b)
{
	double x = ((const struct mtl_sample *)a)->deadline;
	double y = ((const struct mtl_sample *)b)->deadline;
	return (x < y) - (x > y);
}

/* Counted by decay alone: deadlines know nothing of lines, and strata keep heavy ones apart. */
double mtl_trusted_window(struct mtl_samples *samples)
{
	double sum = 0, squares = 0, all = 0, all_squares = 0;

	qsort(samples->sample, samples->n, sizeof(*samples->sample), descending_deadline);
	for (size_t i = 0; i < samples->n; i++) {
		all += samples->sample[i].decay;
		all_squares += samples->sample[i].decay * samples->sample[i].decay;
	}
	double needed = fmin(TRUSTED_AT_RISK, all * all / all_squares / 3);
	for (size_t i = 0; i < samples->n; i++) {
		sum += samples->sample[i].decay;
		squares += samples->sample[i].decay * samples->sample[i].decay;
		if (sum * sum >= needed * squares)
			return samples->sample[i].deadline;
	}
	return samples->sample[samples->n - 1].deadline;
}

static size_t touches_between(
        const struct mtl_samples *samples, double shortest, double longest, double *ret_touches)
{
	size_t n = 0;

	for (size_t i = 0; i < samples->n; i++) {
		double first = samples->sample[i].touched[0];
		if (first > shortest && first < longest)
			ret_touches[n++] = first;
	}
	qsort(ret_touches, n, sizeof(*ret_touches), ascending);
	return n;
}

/* Half-way to the next touch, so that windows do not favour the moments just after touches. */
static double behind_touch(const double *touches, size_t n, size_t i)
{
	return i + 1 < n ? (touches[i] + touches[i + 1]) / 2 : touches[i];
}

void mtl_grid_from_samples(const struct mtl_samples *samples, double shortest, double longest,
        double *scratch, struct mtl_grid *ret_grid)
{
	double windows[GRID_MAX];
	size_t n = 0, touches = touches_between(samples, shortest, longest, scratch);
	size_t quantiles = fmin(fmax(sqrt(touches), GRID_QUANTILES_LEAST), GRID_QUANTILES);

	for (size_t i = 0; i < GRID_LOG_SPACED; i++)
		windows[n++] =
		        shortest * pow(longest / shortest, (double)i / (GRID_LOG_SPACED - 1));
	for (size_t i = 0; i < quantiles && touches > 0; i++)
		windows[n++] = behind_touch(scratch, touches, i * (touches - 1) / (quantiles - 1));
	qsort(windows, n, sizeof(*windows), ascending);

	ret_grid->n = 0;
	for (size_t i = 0; i < n && windows[i] * GRID_RATIO < longest; i++)
		if (ret_grid->n == 0 || windows[i] > GRID_RATIO * ret_grid->window[ret_grid->n - 1])
			ret_grid->window[ret_grid->n++] = windows[i];
	ret_grid->window[ret_grid->n++] = longest;
}

/* How many windows are shorter than `time`: the bin that holds an event at that time. */
static size_t bin_of(const struct mtl_grid *grid, double time)
{
	size_t low = 0, high = grid->n;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (grid->window[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t windows_up_to(const struct mtl_grid *grid, double deadline)
{
	size_t bin = bin_of(grid, deadline);
	return bin < grid->n && grid->window[bin] <= deadline ? bin + 1 : bin;
}

static double lines_of(const struct mtl_sample *sample)
{
	return sample->weight / sample->decay;
}

static int by_kind_and_lines(const void *a, const void *b)
{
	const struct mtl_sample *s = a, *t = b;
	double x = lines_of(s), y = lines_of(t);

	return s->kind != t->kind ? s->kind - t->kind : (x > y) - (x < y);
}

/* How many of the first samples, all of one kind and ascending in weight, make a stratum. */
static size_t stratum_length(const struct mtl_sample *sample, size_t n)
{
	size_t length = 1;

	while (length < n && (length < STRATUM_LEAST ||
	                             lines_of(&sample[length]) < STRATUM_SPREAD * lines_of(sample)))
		length++;
	return n - length < STRATUM_LEAST ? n : length;
}

static void stratify(struct mtl_sample *sample, size_t n)
{
	uint16_t stratum = 0;

	for (size_t from = 0; from < n; stratum++) {
		size_t to = from + stratum_length(sample + from, n - from);
		for (; from < to; from++)
			sample[from].stratum = stratum;
	}
}

static void stratify_kinds(struct mtl_samples *samples)
{
	size_t from = 0, to = 0;

	qsort(samples->sample, samples->n, sizeof(*samples->sample), by_kind_and_lines);
	for (; from < samples->n; from = to) {
		while (to < samples->n && samples->sample[to].kind == samples->sample[from].kind)
			to++;
		stratify(&samples->sample[from], to - from);
	}
}

static void sample_on_grid(struct mtl_sample *s, const struct mtl_grid *grid)
{
	unsigned slots = s->kind == KIND_WHOLE_LINE ? 1 : s->kind;

	s->bins = windows_up_to(grid, s->deadline);
	s->n_steps = 0;
	for (unsigned k = 0; k < slots && isfinite(s->touched[k]); k++) {
		size_t bin = bin_of(grid, s->touched[k]);
		if (bin >= s->bins)
			break;
		if (s->n_steps > 0 && s->steps[s->n_steps - 1].bin == bin)
			s->steps[s->n_steps - 1].to = k + 1;
		else
			s->steps[s->n_steps++] =
			        (struct mtl_step){.bin = bin, .from = k, .to = k + 1};
	}
}

void mtl_samples_on_grid(struct mtl_samples *samples, const struct mtl_grid *grid)
{
	stratify_kinds(samples);
	for (size_t i = 0; i < samples->n; i++)
		sample_on_grid(&samples->sample[i], grid);
}

void mtl_watchers_from_samples(const struct mtl_samples *samples, const struct mtl_grid *grid,
        double ret_watchers[GRID_MAX], double ret_heaviest[GRID_MAX])
{
	double decays[GRID_MAX + 1] = {0}, squares[GRID_MAX + 1] = {0}, heaviest = 0;
	double sum = 0, sum_squares = 0;

	for (size_t i = 0; i < samples->n; i++) {
		const struct mtl_sample *s = &samples->sample[i];
		decays[s->bins] += s->decay;
		squares[s->bins] += s->decay * s->decay;
		heaviest = fmax(heaviest, s->weight);
	}
	for (size_t g = grid->n; g-- > 0;) {
		sum += decays[g + 1];
		sum_squares += squares[g + 1];
		ret_watchers[g] = sum > 0 ? sum * sum / sum_squares : 0;
		ret_heaviest[g] = heaviest / (sum > 0 ? sum : 1);
	}
}

// SPDX-License-Identifier: MIT
/*
 * Reuse times of a tracked process beside its residual times (docs/THEORY.md).
 *
 * A visit is over `quiet` after its miss: the fill time of the L1 cache, as the residual times have
 * it, or the resolution of the instrument where L1 fills sooner. Then the misses sampled are those
 * of a smaller cache than quiet fills, a visit may begin more than once, and the curve is too high:
 * by 10 to 20 % where it is four times as long. When quiet changes by half, what was seen with the
 * old one goes.
 *
 * Reuse times get a quarter of the process's time. Slices are a few times as long as watches, so
 * that few are cut, and deadlines are those of residual times. As many misses begin a visit as
 * there are moments, by lot.
 */
#include "tracked_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "agreement.h"
#include "cleanup.h"
#include "reuse.h"

#define PART 0.25       /* of the time */
#define SLICE_LEAST 0.4 /* seconds, of residual times */
#define SLICE_WATCHES 8 /* longest deadlines in one */
#define QUIET_CHANGES 2 /* by that factor at least */
#define LOOK_EVERY 4    /* seconds of CPU time */
#define SIZES 48
#define CACHE_UNKNOWN (32 << 20)

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

static const struct reuse_ability *ability_of(const struct tracked *tracked)
{
	return &tracked->instrument->reuse;
}

void tracked_reuse_begin(struct tracked *tracked)
{
	struct tracked_reuse *reuse = &tracked->reuse;

	if (reuse->store)
		store_clear(reuse->store);
	*reuse = (struct tracked_reuse){.store = reuse->store, .scores = {NAN, NAN}};
}

void tracked_reuse_free(struct tracked *tracked)
{
	if (tracked->reuse.store)
		store_done(tracked->reuse.store);
	free(tracked->reuse.store);
}

void tracked_reuse_fetch(struct tracked *tracked)
{
	struct sampler *sampler = tracked->instrument->sampler;
	struct mtl_observation seen[64];
	unsigned n;

	if (!tracked->reuse.store)
		return;
	sampler_turn(sampler, tracked->index);
	while ((n = sampler_take_visits(sampler, tracked->index, seen, 64)) > 0)
		store_add(tracked->reuse.store, seen, n);
}

/* ---- estimates ---- */

static double misses_per_second(const struct tracked *tracked)
{
	double seconds = tracked_cpu_seconds(tracked);

	if (ability_of(tracked)->means == REUSE_COUNTED)
		return rates_of(&tracked->rates, COUNTER_L1_MISSES);
	return seconds > 0 ? tracked->births.lines / seconds : NAN;
}

/* "" when there is something to estimate from. */
static const char *obstacle(const struct tracked *tracked)
{
	double misses = misses_per_second(tracked);

	if (ability_of(tracked)->means == REUSE_NONE)
		return ability_of(tracked)->reason;
	if (!tracked->reuse.store || !(tracked->reuse.cache_bytes > 0))
		return "not enough yet: it is not known how soon the L1 cache fills";
	if (isnan(misses))
		return "misses of the L1 cache are not counted yet";
	return misses > 0 ? "" : "no miss was counted";
}

int tracked_reuse_curve(const struct tracked *tracked, const struct mtl_estimate_options *options,
        struct mtl_curve *curve)
{
	struct mtl_estimate_options of_gaps = *options;
	_cleanup_free_ struct mtl_observation *seen = NULL;
	const char *reason = obstacle(tracked);
	size_t n;
	int r;

	if (*reason)
		return mtl_reuse_refuse(curve, reason);
	r = store_copy(tracked->reuse.store, &seen, &n);
	if (r < 0)
		return r;
	of_gaps.resolution_seconds = tracked->reuse.quiet;
	of_gaps.miss_cache_bytes = tracked->reuse.cache_bytes;
	of_gaps.misses_per_second = misses_per_second(tracked);
	return mtl_reuse_from_observations(seen, n, tracked->store->births, tracked->store->n_births,
	        &of_gaps, curve);
}

/* ---- looking ---- */

/* From L1 on, a factor of sqrt(2) apart, to twice the last-level cache. */
static size_t list_sizes(const struct tracked *tracked, double ret_sizes[SIZES])
{
	double llc = tracked->instrument->last_cache_bytes, size = ability_of(tracked)->l1_bytes;
	size_t n = 0;

	for (; n < SIZES && size <= 2 * (llc > 0 ? llc : CACHE_UNKNOWN); size *= M_SQRT2)
		ret_sizes[n++] = size;
	return n;
}

/* The residual curve without intervals, at these sizes, and the footprint at `quiet`. */
static int look(
        struct tracked *tracked, struct mtl_estimate_options *options, struct mtl_curve **ret_curve)
{
	_cleanup_free_ struct mtl_observation *seen = NULL;
	size_t n;
	int r = tracked_observations(tracked, &seen, &n);

	if (r < 0)
		return r;
	options->resamples = 1;
	tracked_options(tracked, options);
	return mtl_curve_from_observations(
	        seen, n, tracked->store->births, tracked->store->n_births, options, ret_curve);
}

static void follow_quiet(struct tracked *tracked, const struct mtl_curve *curve)
{
	struct tracked_reuse *reuse = &tracked->reuse;
	double fill = curve->points[0].fill_time_seconds, quiet = reuse->quiet;

	reuse->cache_bytes = curve->footprint[0].bytes;
	if (isfinite(fill))
		quiet = fmax(tracked->instrument->calibration.resolution_seconds, fill);
	if (quiet < QUIET_CHANGES * reuse->quiet && quiet > reuse->quiet / QUIET_CHANGES)
		return;
	reuse->quiet = quiet;
	reuse->cache_bytes = 0; /* until it has been looked at with this one */
	reuse->wait = 0;
	store_forget(reuse->store);
}

static void judge(struct tracked *tracked)
{
	struct tracked_reuse *reuse = &tracked->reuse;
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	double sizes[SIZES], window = fmax(reuse->quiet, 1e-9);
	struct mtl_estimate_options options = {
	        .sizes = sizes,
	        .n_sizes = list_sizes(tracked, sizes),
	        .windows = &window,
	        .n_windows = 1,
	};
	struct mtl_curve_origin origin;
	struct mtl_agreement agreement;

	if (look(tracked, &options, &curve) < 0 || curve->n_points == 0)
		return;
	reuse->wait = LOOK_EVERY;
	tracked_origin(tracked, NAN, &origin);
	mtl_agreement(curve, &origin, &agreement);
	reuse->scores.llc_ratio = agreement.ratio;
	if (reuse->store)
		follow_quiet(tracked, curve);
	if (tracked_reuse_curve(tracked, &options, curve) == 0)
		reuse->scores.difference = curve->reuse->difference;
}

static void ask(struct tracked *tracked, double misses_told)
{
	struct tracked_reuse *reuse = &tracked->reuse;
	double pace = tracked->governor.pace;
	double slice = fmax(SLICE_LEAST, SLICE_WATCHES * tracked->deadlines.now.longest);
	const struct visit_terms terms = {
	        .quiet = reuse->quiet,
	        .part = misses_told > pace ? pace / misses_told : 1,
	        .turns = {slice, slice * PART / (1 - PART)},
	        .deadlines = tracked->deadlines.now,
	};

	sampler_ask_visits(tracked->instrument->sampler, tracked->index, &terms);
}

void tracked_reuse_settle(struct tracked *tracked, double misses_told, double oldest)
{
	struct tracked_reuse *reuse = &tracked->reuse;
	bool possible = ability_of(tracked)->means != REUSE_NONE;

	if (possible && !reuse->store)
		reuse->store = calloc(1, sizeof(*reuse->store));
	if (reuse->store && !(reuse->quiet > 0))
		reuse->quiet = tracked->instrument->calibration.resolution_seconds;
	if (reuse->store)
		store_expire(reuse->store, oldest);
	if (reuse->wait > 0)
		reuse->wait--;
	else if (reuse->store || rates_of(&tracked->rates, COUNTER_LLC_MISSES) > 0)
		judge(tracked);
	if (possible && reuse->store)
		ask(tracked, misses_told);
}

// SPDX-License-Identifier: MIT
/*
 * How often a tracked process may be sampled, and how long lines of it are watched: its governor
 * and its deadlines, about once a second of its CPU time.
 */
#include "tracked_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cleanup.h"

#define BEGIN_SECONDS 0.03
#define CODE_INTERVAL_NS 5000000ULL
#define STORE_WINDOWS 4 /* observations older than so many windows weigh nothing */

double tracked_string_price(const struct tracked *tracked)
{
	return tracked->instrument->calibration.string_loss *
	       string_cost_share(&tracked->string_cost);
}

double tracked_moments(const struct tracked *tracked)
{
	return governor_moments(tracked->governor.pace / tracked->instrument->awake,
	        deadlines_mean(&tracked->deadlines));
}

void tracked_set_pace(struct tracked *tracked)
{
	const struct governor *governor = &tracked->governor;

	deadlines_afford(&tracked->deadlines, governor->watches / tracked->instrument->awake);
	sampler_set_pace(tracked->instrument->sampler, tracked->index, tracked_moments(tracked),
	        governor->close_between);
}

static struct sampler_counts since_settled(const struct tracked *tracked)
{
	struct sampler_counts delta = tracked->counts;
	const struct sampler_counts *settled = &tracked->settled;

	delta.arms -= settled->arms;
	delta.hits -= settled->hits;
	delta.switches -= settled->switches;
	delta.busy -= settled->busy;
	delta.starved -= settled->starved;
	delta.armed_switches -= settled->armed_switches;
	delta.samples -= settled->samples;
	delta.misses -= settled->misses;
	delta.armed_ns -= settled->armed_ns;
	for (unsigned on = 0; on < 2; on++) {
		delta.clock[on].all -= settled->clock[on].all;
		delta.clock[on].strings -= settled->clock[on].strings;
	}
	delta.woken -= settled->woken;
	delta.cpu_ns -= settled->cpu_ns;
	delta.rested_ns -= settled->rested_ns;
	return delta;
}

/* By all samples since it has been tracked. */
static void begin_string_cost(struct tracked *tracked, const struct mtl_clock_samples clock[2])
{
	tracked->string_cost = (struct string_cost){0};
	string_cost_note_unwatched(&tracked->string_cost, clock[0].all, clock[0].strings,
	        tracked->instrument->calibration.string_loss);
	string_cost_note(&tracked->string_cost, clock[1].all, clock[1].strings);
}

/* Some milliseconds of its time tell how often a process switches, and with that what a watch
 * costs; what strings cost is learnt meanwhile and from the first watches, and counts at once. */
void tracked_begin(struct tracked *tracked)
{
	struct governor_prices prices = governor_prices(&tracked->instrument->calibration);
	struct sampler_counts delta;
	double seconds, switches;

	if (tracked->settled_once)
		return;
	delta = since_settled(tracked);
	seconds = (int64_t)delta.cpu_ns / 1e9;
	if (seconds < BEGIN_SECONDS)
		return;
	switches = delta.switches / seconds;
	tracked->begun = true;
	begin_string_cost(tracked, delta.clock);
	prices.watched = tracked->instrument->calibration.string_loss *
	                 string_cost_expected(&tracked->string_cost);
	deadlines_price(&tracked->deadlines, governor_timed(&prices, switches),
	        governor_short_watch(&prices), tracked->config->max_overhead);
	governor_begin(&tracked->governor, &prices, tracked->config->max_overhead, switches,
	        deadlines_mean(&tracked->deadlines));
	tracked_set_pace(tracked);
}

/* Each costs mtld some 40 us. */
bool tracked_wants_code(struct tracked *tracked)
{
	uint64_t now = source_now();

	if (now < tracked->code_due_ns)
		return false;
	tracked->code_due_ns = now + (uint64_t)(CODE_INTERVAL_NS / tracked->share);
	return true;
}

static int look_at_deadlines(struct tracked *tracked, struct mtl_curve **ret_curve)
{
	double windows[2], size;
	_cleanup_free_ struct mtl_observation *seen = NULL;
	struct mtl_estimate_options options = {
	        .sizes = &size,
	        .n_sizes = 1,
	        .windows = windows,
	        .n_windows = 2,
	        .resamples = 1,
	};
	size_t n;
	int r = store_copy(tracked->store, &seen, &n);

	if (r < 0)
		return r;
	deadlines_questions(
	        &tracked->deadlines, tracked->instrument->last_cache_bytes, windows, &size);
	tracked_options(tracked, &options);
	return mtl_curve_from_observations(seen, n, NULL, 0, &options, ret_curve);
}

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

static void adapt_deadlines(struct tracked *tracked)
{
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;

	if (deadlines_due(&tracked->deadlines) && look_at_deadlines(tracked, &curve) == 0)
		deadlines_adapt(&tracked->deadlines, curve);
}

/* CPUs, since it was settled. */
static double running_on(const struct tracked *tracked, double seconds)
{
	double wall = (source_now() - tracked->settled_wall_ns) / 1e9;

	return tracked->settled_wall_ns && wall > 0 ? seconds / wall : 1;
}

/* Arming and turning off reach every thread: one that runs pays for it itself; for one that sleeps
 * the target waits, about half as long as its events take to open and close. */
static struct governor_prices prices_now(const struct tracked *tracked, double seconds)
{
	struct governor_prices prices = governor_prices(&tracked->instrument->calibration);
	double running = fmax(1, running_on(tracked, seconds));
	double threads = fmax(running, tracked->counts.threads);

	prices.arm = prices.arm * running + (threads - running) * prices.open / 2;
	prices.trap *= running;
	prices.open *= threads;
	prices.watched = tracked_string_price(tracked);
	return prices;
}

void tracked_settle(struct tracked *tracked, double share)
{
	struct governor_prices prices;
	struct sampler_counts delta;
	double oldest;

	if (tracked->state == TRACKED_EXITED || tracked_is_still(tracked))
		return;
	delta = since_settled(tracked);
	tracked_check(tracked);
	tracked_note_history(tracked);
	if (!tracked->begun || (int64_t)delta.cpu_ns < 100000000)
		return;
	tracked->share = share;
	tracked->running = running_on(tracked, delta.cpu_ns / 1e9);
	if (tracked->settled_once) /* else tracked_begin() has done so */
		string_cost_note(&tracked->string_cost, delta.clock[1].all, delta.clock[1].strings);
	tracked->settled_once = true;
	prices = prices_now(tracked, delta.cpu_ns / 1e9);
	governor_update(&tracked->governor, &prices, &delta, delta.cpu_ns / 1e9,
	        tracked->config->max_overhead, tracked_govern(tracked, share));
	tracked->observations_per_second = delta.arms / (delta.cpu_ns / 1e9);
	if (tracked->governor.fixed > 0)
		deadlines_price(&tracked->deadlines, tracked->governor.timed,
		        tracked->governor.fixed, tracked->config->max_overhead);
	tracked->settled = tracked->counts;
	tracked->settled_wall_ns = source_now();
	tracked_set_pace(tracked);
	adapt_deadlines(tracked);
	tracked_look_for_change(tracked);
	oldest = fmax(tracked->phases.begin,
	        tracked->counts.cpu_ns / 1e9 - STORE_WINDOWS * tracked->config->window_seconds);
	store_expire(tracked->store, oldest);
	tracked_reuse_settle(tracked, delta.misses / (delta.cpu_ns / 1e9), oldest);
}

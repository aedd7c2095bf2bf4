// SPDX-License-Identifier: MIT
/*
 * What is told of a tracked process: to lists, with a curve, and to the estimate.
 */
#include "tracked_parts.h"

#include <math.h>
#include <stdio.h>

#include "first_curve.h"
#include "proc.h"
#include "words.h"

/* Lines are drawn two tenths of a second before they are watched; where they were before, that does no
 * harm (lately.h). */
#define RENEWED_SECONDS 2.0
#define ELSEWHERE 0.25   /* less of the births at new addresses is chance */
#define FAST 0.95        /* what strings take is told where they take more */
#define PHASE_WINDOWS 10 /* changes within so many windows are counted */

uint64_t tracked_cpu_ns(const struct tracked *tracked)
{
	return tracked->state == TRACKED_EXITED
	               ? tracked->counts.cpu_ns
	               : source_clock(tracked->instrument->source, tracked->index);
}

/* Of what the store holds; the clock may step back a little. */
double tracked_cpu_seconds(const struct tracked *tracked)
{
	return fmax(0, (int64_t)(tracked_cpu_ns(tracked) - tracked->begin_cpu_ns) / 1e9);
}

static double wall_seconds(const struct tracked *tracked)
{
	uint64_t end = tracked->end_wall_ns ? tracked->end_wall_ns : source_now();

	return (end - tracked->begin_wall_ns) / 1e9;
}

static double resident_bytes(const struct tracked *tracked)
{
	double bytes;

	if (tracked->state != TRACKED_EXITED &&
	        proc_resident(tracked->root, tracked->pid, &bytes) == 0 && bytes > 0)
		return bytes;
	return tracked->planner ? planner_resident_bytes(tracked->planner)
	                        : tracked->resident_at_end;
}

static double first_curve(const struct tracked *tracked, char *ret_basis, size_t size)
{
	struct first_curve_facts facts = {
	        .observations = tracked->store->n_observations,
	        .needed = MTL_OBSERVATIONS_NEEDED,
	        .cpu_seconds = tracked_cpu_seconds(tracked),
	        .pace = tracked_moments(tracked),
	        .watch_seconds = deadlines_mean(&tracked->deadlines),
	        .still = tracked_is_still(tracked),
	        .arrivals = tracked->arrivals,
	        .now = source_now() / 1e9,
	};

	if (tracked->state == TRACKED_PAUSED || tracked->state == TRACKED_EXITED) {
		snprintf(ret_basis, size, "%s", tracked->reason);
		return facts.observations < facts.needed ? NAN : 0;
	}
	return first_curve_seconds(&facts, ret_basis, size);
}

void tracked_describe(const struct tracked *tracked, struct manager_process *ret_process)
{
	static const char *const states[] = {
	        [TRACKED_STARTING] = "starting",
	        [TRACKED_SAMPLING] = "sampling",
	        [TRACKED_PAUSED] = "paused",
	        [TRACKED_EXITED] = "exited",
	};

	*ret_process = (struct manager_process){
	        .pid = tracked->pid,
	        .uid = tracked->uid,
	        .state = states[tracked->state],
	        .threads = tracked->state == TRACKED_EXITED ? 0 : tracked->counts.threads,
	        .observations = tracked->store->n_observations,
	        .births = tracked->births.faults,
	        .lost = tracked->counts.lost,
	        .resident_bytes = resident_bytes(tracked),
	        .cpu_seconds = tracked_cpu_seconds(tracked),
	        .wall_seconds = wall_seconds(tracked),
	        .overhead_target = tracked->governor.overhead,
	        .observations_per_second = tracked->observations_per_second,
	        .rates = rates_tell(&tracked->rates),
	        .llc_ratio = tracked->reuse.scores.llc_ratio,
	        .reuse_difference = tracked->reuse.scores.difference,
	        .reuse_observations =
	                tracked->reuse.store ? tracked->reuse.store->n_observations : 0,
	};
	ret_process->first_curve_seconds = first_curve(
	        tracked, ret_process->first_curve_basis, sizeof(ret_process->first_curve_basis));
	tracked_tell_governing(tracked, &ret_process->governing);
	snprintf(ret_process->comm, sizeof(ret_process->comm), "%s", tracked->comm);
	snprintf(ret_process->reason, sizeof(ret_process->reason), "%s", tracked->reason);
}

/* Of births those where there were none lately. */
static double part_elsewhere(const struct tracked *tracked)
{
	return tracked->births.lines_elsewhere / tracked->births.lines_per_fault;
}

/* CPU seconds in which as many lines are born, where there were none lately, as are resident. */
static double renewal_seconds(const struct tracked *tracked)
{
	const struct observation_store *store = tracked->store;
	const struct mtl_birth *first = store->births, *last = store->births + store->n_births - 1;

	if (!tracked->planner || store->n_births < 2 || last->lines <= first->lines ||
	        !(part_elsewhere(tracked) >= ELSEWHERE))
		return INFINITY;
	return planner_resident_bytes(tracked->planner) / MTL_LINE_BYTES *
	       (last->moment - first->moment) /
	       ((last->lines - first->lines) * part_elsewhere(tracked));
}

/* How fast it is while it is watched, in parts of what it is else. */
static double speed_watched(const struct tracked *tracked)
{
	return 1 - tracked_string_price(tracked);
}

static void write_note(const struct tracked *tracked, char *ret_note, size_t size)
{
	double unseen =
	        tracked->planner ? planner_unseen_bytes(tracked->planner) : tracked->unseen_at_end;
	double renewal = renewal_seconds(tracked);
	unsigned slots = tracked->instrument->calibration.slots;
	char text[NUMBER_TEXT];

	if (unseen > 0)
		snprintf(ret_note, size, "%.0f MiB of mapped memory were too many to look at",
		        unseen / 1048576);
	else if (tracked->counts.slots && tracked->counts.slots < slots)
		snprintf(ret_note, size, "only %u of %u debug registers were free",
		        tracked->counts.slots, slots);
	else if (tracked->state == TRACKED_PAUSED)
		snprintf(ret_note, size, "%s", tracked->reason);
	else if (phases_mixed(&tracked->phases))
		snprintf(ret_note, size,
		        "it changes faster than can be told apart: misses are a mean over its "
		        "phases, "
		        "their intervals too narrow");
	else if (renewal < RENEWED_SECONDS)
		snprintf(ret_note, size,
		        "its memory is replaced every %s: lines drawn are often gone when watched; "
		        "there may be twice the misses",
		        mtl_seconds_format(renewal, text));
	else if (speed_watched(tracked) < FAST)
		snprintf(ret_note, size,
		        "rep movs and rep stos are slower while watched, and take %u %% of that time: "
		        "times are scaled to %u %%",
		        (unsigned)(100 * string_cost_share(&tracked->string_cost)),
		        (unsigned)(100 * speed_watched(tracked)));
	else
		*ret_note = 0;
}

static void tell_phase(const struct tracked *tracked, struct mtl_curve_origin *origin)
{
	double now = tracked_cpu_ns(tracked) / 1e9;

	origin->phase_seconds = phases_seconds(&tracked->phases, now);
	origin->phase_changes = phases_since(
	        &tracked->phases, now - PHASE_WINDOWS * tracked->config->window_seconds);
	snprintf(origin->phase_reason, sizeof(origin->phase_reason), "%s", tracked->phases.reason);
}

static void tell_checked(const struct tracked *tracked, struct mtl_curve_origin *origin)
{
	struct manager_governing governing;

	tracked_tell_governing(tracked, &governing);
	origin->checked_pairs = *governing.checked.reason ? 0 : governing.checked.pairs;
	origin->checked_loss = governing.checked.loss;
	origin->checked_low = governing.checked.low;
	origin->checked_high = governing.checked.high;
	snprintf(origin->checked_reason, sizeof(origin->checked_reason), "%s", governing.checked.reason);
}

void tracked_origin(
        const struct tracked *tracked, double overhead_daemon, struct mtl_curve_origin *ret_origin)
{
	*ret_origin = (struct mtl_curve_origin){
	        .pid = tracked->pid,
	        .method = "residual",
	        .clock = "cpu",
	        .window_seconds = tracked->config->window_seconds,
	        .wall_seconds = wall_seconds(tracked),
	        .cpu_seconds = tracked_cpu_seconds(tracked),
	        .lost = tracked->counts.lost,
	        .resident_bytes = resident_bytes(tracked),
	        .overhead_target = tracked->governor.overhead,
	        .overhead_daemon = overhead_daemon,
	};
	tell_checked(tracked, ret_origin);
	snprintf(ret_origin->comm, sizeof(ret_origin->comm), "%s", tracked->comm);
	snprintf(ret_origin->rung, sizeof(ret_origin->rung), "%s",
	        instrument_rung(tracked->instrument));
	rates_tell_origin(&tracked->rates, ret_origin);
	tell_phase(tracked, ret_origin);
	write_note(tracked, ret_origin->note, sizeof(ret_origin->note));
}

/* Its times are those of a program that is as fast as when nothing is watched. */
int tracked_observations(const struct tracked *tracked, struct mtl_observation **ret_observations,
        size_t *ret_n)
{
	float speed = (float)speed_watched(tracked);
	struct mtl_observation *observations;
	int r = store_copy(tracked->store, &observations, ret_n);

	if (r < 0)
		return r;
	for (size_t i = 0; i < *ret_n; i++) {
		observations[i].deadline *= speed;
		for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
			observations[i].touched[slot] *= speed;
	}
	*ret_observations = observations;
	return 0;
}

void tracked_options(const struct tracked *tracked, struct mtl_estimate_options *options)
{
	double l2 = tracked->instrument->l2_bytes;

	options->now = tracked_cpu_ns(tracked) / 1e9;
	options->window_seconds = tracked->config->window_seconds;
	options->resolution_seconds = tracked->instrument->calibration.resolution_seconds;
	options->cache_bytes = tracked->instrument->last_cache_bytes;
	options->accesses_per_second = rates_of_accesses(&tracked->rates);
	options->seed = tracked->store->total + 1;
	if (!(options->reference_bytes > 0))
		options->reference_bytes = l2 > 0 ? l2 : 1 << 20;
}

// SPDX-License-Identifier: MIT
/*
 * One watch, from launch to landing.
 *
 * At launch the BPF programs are told the addresses, then the slots are armed; the process is off
 * its CPU, so its clock stands and all slots share one moment. Each first trap fixes a time and
 * turns its slot off. Landing comes with the last slot or the deadline, whichever is first; slots
 * still on then are censored at the deadline. A touch seen after the deadline (the landing may come
 * late) counts as none, and so does a touch after the page was faulted in anew: the line that was
 * drawn had died untouched.
 */
#include "flight.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define CUT_LEAST_NS 1000 /* a watch cut shorter says nothing */

static void publish(struct target *target, const struct candidate *candidate)
{
	struct mtl_process *process = target->process;

	process->sequence++;
	process->hits = 0;
	process->watched_page = candidate->address[0] >> MTL_PAGE_SHIFT;
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		process->slot_address[slot] = slot < candidate->slots ? candidate->address[slot] : 0;
	process->slots_on = candidate->slots;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void unpublish(struct mtl_process *process)
{
	process->slots_on = 0;
	process->watched_page = 0;
	memset(process->slot_address, 0, sizeof(process->slot_address));
}

static float touched_seconds(const struct target *target, unsigned slot)
{
	const struct flight *flight = &target->flight;
	double ns;

	if (flight->touched[slot] == NEVER)
		return INFINITY;
	ns = (double)flight->touched[slot] - (double)flight->moment -
		(flight->visit ? 0 : target->shift_ns);
	if (ns > (double)flight->candidate.deadline_ns)
		return INFINITY;
	return ns > 0 ? ns / 1e9 : 0;
}

static void record(struct target *target)
{
	const struct flight *flight = &target->flight;
	struct landed *landed = &target->landed[flight->visit];
	struct mtl_observation *observation;

	if (landed->n == SAMPLER_FINISHED) {
		target->counts.lost++;
		return;
	}
	landed->address[landed->n] = flight->candidate.address[0];
	observation = &landed->seen[landed->n++];
	*observation = (struct mtl_observation){
		.moment = flight->moment / 1e9,
		.deadline = flight->candidate.deadline_ns / 1e9,
		.weight = flight->candidate.weight,
		.wall = flight->wall / 1e9,
		.slots = flight->candidate.slots,
		.whole_line = flight->candidate.whole_line,
		.sequence = target->observations++,
	};
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		observation->touched[slot] = touched_seconds(target, slot);
}

static void set_flying(struct target *target, bool flying)
{
	uint64_t bit = 1ULL << target->index % 64;

	target->flying->bits[target->index / 64] &= ~bit;
	target->flying->bits[target->index / 64] |= flying ? bit : 0;
}

void target_close(struct target *target)
{
	watch_close(&target->watch);
}

static uint64_t armed_for(const struct target *target)
{
	uint64_t now = source_clock(target->source, target->index);

	return now > target->flight.moment ? now - target->flight.moment : 0;
}

void target_land(struct target *target, bool keep)
{
	struct mtl_process *process = target->process;

	if (!target->flight.armed)
		return;
	watch_disarm(&target->watch);
	if (process->reborn == process->sequence)
		target->counts.reborn++;
	target->counts.armed_switches += process->switches - target->flight.switches;
	target->counts.armed_ns += armed_for(target);
	unpublish(process);
	target->flight.armed = false;
	set_flying(target, false);
	if (keep)
		record(target);
	if (target->close_between)
		target_close(target);
}

/* Whether the newest observation of that kind has a deadline still to come. */
static bool is_open(const struct target *target, bool visits, uint64_t now)
{
	const struct flight *flight = &target->flight;
	const struct landed *landed = &target->landed[visits];

	return flight->visit == visits && !flight->armed && now < flight->busy_until &&
		landed->n > 0 && landed->seen[landed->n - 1].moment == flight->moment / 1e9;
}

unsigned target_due(const struct target *target, bool visits)
{
	return target->landed[visits].n -
		is_open(target, visits, source_clock(target->source, target->index));
}

void target_cut(struct target *target)
{
	struct flight *flight = &target->flight;
	struct landed *landed = &target->landed[flight->visit];
	uint64_t now = source_clock(target->source, target->index);
	uint64_t length = now > flight->moment ? now - flight->moment : 0;
	bool long_enough = length > CUT_LEAST_NS;

	if (now < flight->busy_until)
		flight->candidate.deadline_ns = length;
	if (is_open(target, flight->visit, now) && long_enough)
		landed->seen[landed->n - 1].deadline = length / 1e9;
	else if (is_open(target, flight->visit, now))
		landed->n--;
	target_land(target, long_enough);
	flight->busy_until = now < flight->busy_until ? now : flight->busy_until;
}

int target_open(struct target *target, unsigned begin, unsigned end)
{
	int r = 0, error = -ESRCH;

	for (unsigned i = begin; i < end && i < target->n_tids; i++) {
		if (watch_has_thread(&target->watch, target->tids[i]))
			continue;
		r = watch_add_thread(&target->watch, target->tids[i]);
		if (r < 0)
			error = r;
		if (r == -ENOSPC || r == -EMFILE)
			break;
	}
	return target->watch.n_threads && r != -ENOSPC && r != -EMFILE ? 0 : error;
}

/* From `cpu`; false: the kernel refuses. */
static bool arm(struct target *target, struct candidate *candidate, unsigned cpu)
{
	struct flight *flight = &target->flight;
	int r = target->watch.n_threads ? 0 : target_open(target, 0, target->n_tids);

	if (candidate->slots > target->watch.slots)
		candidate->slots = target->watch.slots;
	if (r >= 0) {
		publish(target, candidate);
		r = watch_arm(&target->watch, candidate->address, candidate->slots);
	}
	target->counts.error = r;
	if (r < 0) {
		watch_disarm(&target->watch);
		unpublish(target->process);
		target->counts.refused++;
		return false;
	}
	*flight = (struct flight){
		.armed = true,
		.candidate = *candidate,
		.moment = source_clock(target->source, target->index),
		.wall = source_now(),
		.pending = (1U << candidate->slots) - 1,
		.cpu = cpu,
		.switches = target->process->switches,
	};
	flight->busy_until = flight->moment + candidate->deadline_ns;
	for (unsigned slot = 0; slot < MTL_SLOTS; slot++)
		flight->touched[slot] = NEVER;
	set_flying(target, true);
	target->counts.arms++;
	return true;
}

void target_launch(struct target *target, unsigned cpu)
{
	struct candidate candidate = target->queue[target->head];

	candidate.deadline_ns = visits_deadline(&target->visits,
		source_clock(target->source, target->index), candidate.deadline_ns);
	if (candidate.deadline_ns == 0) {
		target->counts.woken++;
		return;
	}
	target->head = (target->head + 1) % SAMPLER_QUEUE;
	target->queued--;
	arm(target, &candidate, cpu);
}

/* ---- visits ---- */

void target_leave(struct target *target)
{
	target->visits.waiting = false;
	set_flying(target, target->flight.armed);
}

void target_turn(struct target *target)
{
	uint64_t clock = source_clock(target->source, target->index);

	source_set_visit_part(target->source, target->index,
		target->paused || target->resting ? 0 : visits_part(&target->visits, clock));
}

bool target_yields(struct target *target)
{
	if (!visits_have_turn(&target->visits, source_clock(target->source, target->index)))
		return false;
	target->counts.woken++;
	return true;
}

void target_miss(struct target *target, const struct mtl_hit *miss, unsigned cpu)
{
	uint64_t clock = source_clock(target->source, target->index);

	target->counts.woken++;
	if (target->paused || target->resting || target->flight.armed || clock < target->flight.busy_until)
		return;
	if (visits_begin(&target->visits, miss, clock, cpu))
		set_flying(target, true);
	else
		target_turn(target);
}

/* Its times count from the miss, and so does its deadline. */
static void launch_visit(struct target *target)
{
	struct visits *visits = &target->visits;
	struct candidate candidate = visits_candidate(
		visits, target->watch.slots_wanted, target->watch.length == MTL_LINE_BYTES);
	struct flight *flight = &target->flight;
	bool late;

	target_leave(target);
	if (!arm(target, &candidate, visits->cpu))
		return;
	late = visits_late(visits, flight->moment);
	target->counts.visits++;
	flight->visit = true;
	flight->moment = visits->sampled;
	flight->busy_until = flight->moment + candidate.deadline_ns;
	if (!late)
		return;
	target->counts.late++;
	target_land(target, false);
}

/* When to look again at what is due after `left` ns of the process's CPU time, of which `running`
 * threads use some. */
static uint64_t look_again(uint64_t running, uint64_t left, unsigned *naps)
{
	uint64_t now = source_now();

	*naps = running ? 0 : *naps + 1;
	if (running)
		return now + left / running + 1000;
	return now + left + (100000ULL << (*naps < 12 ? *naps : 12));
}

/* With the one that this armer has preempted, which goes on as soon as it sleeps. */
static uint64_t running_on(const struct target *target, unsigned cpu)
{
	const struct mtl_cpu *here = source_cpu(target->source, cpu);
	bool preempted = here->previous == target->index + 1 && here->previous_runnable;

	return (target->process->clock & MTL_CLOCK_RUNNING) + preempted;
}

uint64_t target_see_to_visit(struct target *target, unsigned cpu)
{
	struct visits *visits = &target->visits;
	int64_t left;

	if (!visits->waiting || visits->cpu != cpu)
		return NEVER;
	left = visits_left(visits, source_clock(target->source, target->index));
	if (left > 0)
		return look_again(running_on(target, cpu), left, &visits->naps);
	launch_visit(target);
	return target->flight.armed ? target_see_to_deadline(target) : NEVER;
}

void target_hit(struct target *target, const struct mtl_hit *hit)
{
	struct flight *flight = &target->flight;

	if (!flight->armed || hit->sequence != target->process->sequence ||
		!(flight->pending & (1U << hit->slot)))
		return;
	watch_disarm_slot(&target->watch, hit->slot);
	target->process->slots_on--;
	flight->pending &= ~(1U << hit->slot);
	target->counts.hits++;
	if (!hit->reborn)
		flight->touched[hit->slot] =
			flight->moment + mtl_clock_between(flight->moment, hit->clock);
	if (!flight->pending)
		target_land(target, true);
}

uint64_t target_see_to_deadline(struct target *target)
{
	struct flight *flight = &target->flight;
	uint64_t clock = mtl_clock_at(target->process->clock, source_now());
	uint64_t left = mtl_clock_between(clock, flight->busy_until) +
		(uint64_t)fmax(0, target->shift_ns);

	if ((int64_t)left <= 0) {
		target_land(target, true);
		return NEVER;
	}
	return look_again(target->process->clock & MTL_CLOCK_RUNNING, left, &flight->naps);
}

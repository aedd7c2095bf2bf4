// SPDX-License-Identifier: MIT
/*
 * The main thread's side of the sampler: targets come and go, candidates go in, observations come
 * out. Everything that decides or takes time (drawing, surveys, estimates) happens elsewhere.
 */
#include "sampler.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "armer.h"
#include "cleanup.h"

#define OPEN_TURN 16 /* threads whose events are opened while the armers wait */
#define RUNAWAY_USEC 1000000 /* of CPU time without once going to sleep */

static bool realtime_allowed(void)
{
	struct sched_param fifo = {.sched_priority = 1}, other = {0};

	if (sched_setscheduler(0, SCHED_FIFO, &fifo) < 0)
		return false;
	sched_setscheduler(0, SCHED_OTHER, &other);
	return true;
}

/* Should an armer ever run away, the kernel ends mtld rather than losing a CPU to it. */
static void bound_realtime(void)
{
	struct rlimit limit = {.rlim_cur = RUNAWAY_USEC, .rlim_max = RUNAWAY_USEC};

	setrlimit(RLIMIT_RTTIME, &limit);
}

/* One on every CPU mtld may use, also on those that came later. */
static int start_armers(struct sampler *sampler)
{
	cpu_set_t online;
	int r = sched_getaffinity(0, sizeof(online), &online) < 0 ? -errno : 0;

	for (unsigned cpu = 0; cpu < MTL_CPU_ELSEWHERE && r >= 0; cpu++) {
		if (!CPU_ISSET(cpu, &online) || CPU_ISSET(cpu, &sampler->online))
			continue;
		if (sampler->armers[cpu].running)
			armer_return(&sampler->armers[cpu]);
		else
			r = armer_start(sampler, cpu);
		if (r < 0) {
			armer_stop(&sampler->armers[cpu]);
			sampler->armers[cpu] = (struct armer){0};
		} else if (cpu >= sampler->n_armers) {
			sampler->n_armers = cpu + 1;
		}
	}
	if (r >= 0)
		sampler->online = online;
	return r;
}

/* Hits where there is no armer (a cpuset narrower than a target's) are seen to from afar by the first. */
static int serve_elsewhere(struct sampler *sampler)
{
	for (unsigned cpu = 0; cpu < sampler->n_armers; cpu++)
		if (sampler->armers[cpu].running)
			return source_hit_ring_elsewhere(sampler->source, sampler->armers[cpu].ring);
	return 0;
}

DEFINE_CLEANUP(struct sampler, sampler_free)

int sampler_new(struct source *source, bool realtime, struct sampler **ret_sampler)
{
	_cleanup_(sampler_freep) struct sampler *sampler = calloc(1, sizeof(*sampler));
	pthread_mutexattr_t attr;
	int r;

	if (!sampler)
		return -ENOMEM;
	sampler->source = source;
	sampler->realtime = realtime && realtime_allowed();
	sampler->method = sampler->realtime ? WATCH_OWN_CPU : WATCH_ONE_SHOT;
	if (sampler->realtime)
		bound_realtime();
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&sampler->lock, &attr);
	sampler->armers = calloc(MTL_CPUS_MAX, sizeof(struct armer));
	if (!sampler->armers)
		return -ENOMEM;
	r = start_armers(sampler);
	if (r >= 0)
		r = serve_elsewhere(sampler);
	if (r < 0)
		return r;
	*ret_sampler = TAKE_PTR(sampler);
	return 0;
}

void sampler_follow_cpus(struct sampler *sampler)
{
	start_armers(sampler); /* what fails now is tried again */
}

struct sampler *sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return NULL;
	for (uint32_t index = 0; index < MTL_PROCESSES_MAX; index++)
		sampler_remove(sampler, index);
	sampler_lock(sampler);
	sampler->stop = true;
	sampler_unlock(sampler);
	for (unsigned cpu = 0; sampler->armers && cpu < sampler->n_armers; cpu++)
		armer_stop(&sampler->armers[cpu]);
	free(sampler->armers);
	free(sampler);
	return NULL;
}

enum watch_method sampler_method(const struct sampler *sampler)
{
	return sampler->method;
}

void sampler_set_method(struct sampler *sampler, enum watch_method method)
{
	sampler->method = method;
}

void sampler_set_shift(struct sampler *sampler, double shift_ns)
{
	sampler_lock(sampler);
	sampler->shift_ns = shift_ns;
	for (unsigned i = 0; i < sampler->n_targets; i++)
		if (sampler->targets[i])
			sampler->targets[i]->shift_ns = shift_ns;
	sampler_unlock(sampler);
}

int sampler_add(struct sampler *sampler, uint32_t index, unsigned slots, unsigned length)
{
	struct target *target = calloc(1, sizeof(*target));

	if (!target)
		return -ENOMEM;
	target->index = index;
	target->flying = &sampler->flying;
	target->source = sampler->source;
	target->process = source_process(sampler->source, index);
	target->shift_ns = sampler->shift_ns;
	for (unsigned i = 0; i < 3; i++)
		target->visits.random[i] = source_now() >> 8 * i;
	watch_init(&target->watch, source_watch_program(sampler->source), sampler->method, slots, length);
	sampler_lock(sampler);
	sampler->targets[index] = target;
	if (index >= sampler->n_targets)
		sampler->n_targets = index + 1;
	sampler_unlock(sampler);
	return 0;
}

void sampler_remove(struct sampler *sampler, uint32_t index)
{
	struct target *target;

	sampler_lock(sampler);
	target = sampler->targets[index];
	if (target) {
		target_land(target, false);
		target_leave(target);
		target_close(target);
		sampler->targets[index] = NULL;
	}
	while (sampler->n_targets > 0 && !sampler->targets[sampler->n_targets - 1])
		sampler->n_targets--;
	sampler_unlock(sampler);
	if (target)
		free(target->tids);
	free(target);
}

static void drop_ended(struct target *target)
{
	for (unsigned i = target->watch.n_threads; i-- > 0;) {
		pid_t tid = target->watch.threads[i].tid;
		bool alive = false;

		for (unsigned j = 0; j < target->n_tids && !alive; j++)
			alive = target->tids[j] == tid;
		if (!alive)
			watch_remove_thread(&target->watch, tid);
	}
}

/* Opens what is missing. Armers may have a hit to see to: they get the lock every few threads, and
 * may themselves open or close everything then. */
static int open_threads(struct sampler *sampler, struct target *target)
{
	int r = 0;

	for (unsigned i = 0; i < target->n_tids && r != -ENOSPC && r != -EMFILE; i += OPEN_TURN) {
		if (target->paused || target->resting || (target->close_between && !target->flight.armed))
			return 0;
		r = target_open(target, i, i + OPEN_TURN);
		sampler_unlock(sampler);
		sampler_lock(sampler);
	}
	return r;
}

int sampler_threads(struct sampler *sampler, uint32_t index, const pid_t *tids, unsigned n)
{
	pid_t *copy = malloc(n * sizeof(*tids) + 1);
	struct target *target;
	int r;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, tids, n * sizeof(*tids));
	sampler_lock(sampler);
	target = sampler->targets[index];
	free(target->tids);
	target->tids = copy;
	target->n_tids = n;
	target->counts.threads = n;
	drop_ended(target);
	if (target->watch.slots < target->watch.slots_wanted && !target->flight.armed)
		target_close(target); /* more may be free by now */
	r = open_threads(sampler, target);
	target->counts.slots = target->watch.slots;
	if (r < 0)
		target->counts.error = r;
	sampler_unlock(sampler);
	return r;
}

void sampler_pause(struct sampler *sampler, uint32_t index, bool paused)
{
	struct target *target;

	sampler_lock(sampler);
	target = sampler->targets[index];
	if (paused && !target->paused) {
		target_land(target, false);
		target_close(target);
	}
	target->paused = paused;
	target_leave(target);
	target_turn(target);
	sampler_unlock(sampler);
}

void sampler_rest(struct sampler *sampler, uint32_t index, bool resting)
{
	struct target *target;

	sampler_lock(sampler);
	target = sampler->targets[index];
	if (resting && !target->resting) {
		target_cut(target);
		target_close(target);
	}
	target->resting = resting;
	target_leave(target);
	target_turn(target);
	sampler_unlock(sampler);
}

void sampler_poke(struct sampler *sampler)
{
	for (unsigned cpu = 0; cpu < sampler->n_armers; cpu++)
		armer_poke(&sampler->armers[cpu]);
}

void sampler_forget(struct sampler *sampler, uint32_t index)
{
	struct target *target;

	sampler_lock(sampler);
	target = sampler->targets[index];
	target_land(target, false);
	target_close(target);
	target_leave(target);
	target->queued = 0;
	target->landed[0].n = target->landed[1].n = 0;
	sampler_unlock(sampler);
}

void sampler_set_pace(struct sampler *sampler, uint32_t index, double arms_per_cpu_second,
	bool close_between)
{
	struct target *target;

	sampler_lock(sampler);
	target = sampler->targets[index];
	target->pace = arms_per_cpu_second;
	target->close_between = close_between;
	if (close_between && !target->flight.armed)
		target_close(target);
	sampler_unlock(sampler);
}

void sampler_ask_visits(struct sampler *sampler, uint32_t index, const struct visit_terms *terms)
{
	struct target *target;

	sampler_lock(sampler);
	target = sampler->targets[index];
	visits_ask(&target->visits, terms, source_clock(sampler->source, index));
	target_turn(target);
	sampler_unlock(sampler);
}

void sampler_turn(struct sampler *sampler, uint32_t index)
{
	sampler_lock(sampler);
	target_turn(sampler->targets[index]);
	sampler_unlock(sampler);
}

unsigned sampler_room(struct sampler *sampler, uint32_t index)
{
	return SAMPLER_QUEUE - sampler->targets[index]->queued;
}

int sampler_offer(struct sampler *sampler, uint32_t index, const struct candidate *candidate)
{
	struct target *target;
	int r = -ENOBUFS;

	sampler_lock(sampler);
	target = sampler->targets[index];
	if (target->queued < SAMPLER_QUEUE) {
		target->queue[(target->head + target->queued) % SAMPLER_QUEUE] = *candidate;
		target->queued++;
		r = 0;
	}
	sampler_unlock(sampler);
	return r;
}

void sampler_drop_candidates(struct sampler *sampler, uint32_t index)
{
	sampler_lock(sampler);
	sampler->targets[index]->queued = 0;
	sampler_unlock(sampler);
}

static unsigned take(struct target *target, bool visits, struct mtl_observation *ret_observations,
	uint64_t *ret_addresses, unsigned n)
{
	struct landed *landed = &target->landed[visits];
	unsigned due = target_due(target, visits);

	n = n < due ? n : due;
	memcpy(ret_observations, landed->seen, n * sizeof(*ret_observations));
	if (ret_addresses)
		memcpy(ret_addresses, landed->address, n * sizeof(*ret_addresses));
	landed->n -= n;
	memmove(landed->seen, landed->seen + n, landed->n * sizeof(landed->seen[0]));
	memmove(landed->address, landed->address + n, landed->n * sizeof(landed->address[0]));
	return n;
}

unsigned sampler_take(struct sampler *sampler, uint32_t index, struct mtl_observation *ret_observations,
	uint64_t *ret_addresses, unsigned n)
{
	sampler_lock(sampler);
	n = take(sampler->targets[index], false, ret_observations, ret_addresses, n);
	sampler_unlock(sampler);
	return n;
}

unsigned sampler_take_visits(struct sampler *sampler, uint32_t index,
	struct mtl_observation *ret_observations, unsigned n)
{
	sampler_lock(sampler);
	n = take(sampler->targets[index], true, ret_observations, NULL, n);
	sampler_unlock(sampler);
	return n;
}

void sampler_counts(struct sampler *sampler, uint32_t index, struct sampler_counts *ret_counts)
{
	const struct mtl_process *process = source_process(sampler->source, index);

	sampler_lock(sampler);
	*ret_counts = sampler->targets[index]->counts;
	sampler_unlock(sampler);
	ret_counts->switches = process->switches;
	ret_counts->traps = process->traps;
	ret_counts->stray_traps = process->stray_traps;
	ret_counts->lost += process->lost;
	ret_counts->faults = process->faults;
	ret_counts->samples = process->samples;
	ret_counts->misses = source_counts(sampler->source, index)->misses;
	memcpy(ret_counts->clock, source_counts(sampler->source, index)->clock,
		sizeof(ret_counts->clock));
	ret_counts->cpu_ns = source_clock(sampler->source, index);
}

struct cpu_pace {
	double pace;
	unsigned targets;
	uint32_t latest; /* index */
};

/* On every CPU where it may run. */
static void ask_pace(struct sampler *sampler, const struct target *target, struct cpu_pace *paces)
{
	unsigned cpu = target->process->cpu, first = 0, end = sampler->n_armers;

	if (target->n_tids <= 1 && cpu != MTL_CPU_UNKNOWN) {
		first = cpu < end ? cpu : end;
		end = cpu < end ? cpu + 1 : end;
	}
	for (unsigned i = first; i < end; i++)
		paces[i] = (struct cpu_pace){
			.pace = fmax(paces[i].pace, target->pace),
			.targets = paces[i].targets + 1,
			.latest = target->index,
		};
}

void sampler_pace_cpus(struct sampler *sampler)
{
	struct cpu_pace paces[MTL_CPUS_MAX] = {0};

	sampler_lock(sampler);
	for (unsigned i = 0; i < sampler->n_targets; i++) {
		const struct target *target = sampler->targets[i];

		if (target && target->pace > 0 && !target->paused && !target->resting)
			ask_pace(sampler, target, paces);
	}
	for (unsigned cpu = 0; cpu < sampler->n_armers; cpu++)
		armer_set_pace(&sampler->armers[cpu],
			CPU_ISSET(cpu, &sampler->online) ? paces[cpu].pace : 0,
			paces[cpu].targets == 1 ? paces[cpu].latest + 1 : 0);
	sampler_unlock(sampler);
}

// SPDX-License-Identifier: MIT
/*
 * What the manager is asked: processes, status, curves, observations.
 */
#include "manager_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "proc.h"

/* What is known by that number now. One that has ended is not, once another process has its number.
 */
static struct entry *known(struct manager *manager, pid_t pid)
{
	struct entry *entry = manager_find(manager, pid);
	uint64_t ticks;

	if (!entry || manager_is_alive(entry) || proc_start_ticks(manager->root, pid, &ticks) < 0)
		return entry;
	return ticks == entry->tracked->start_ticks ? entry : NULL;
}

static void describe(const struct entry *entry, struct manager_process *ret_process)
{
	static const char *const by[] = {
	        [BY_PID] = "pid",
	        [BY_CGROUP] = "cgroup",
	        [BY_TOP] = "top",
	};

	tracked_describe(entry->tracked, ret_process);
	ret_process->tracked_by = by[entry->by];
	ret_process->cgroup = entry->cgroup;
}

int manager_process(struct manager *manager, pid_t pid, struct manager_process *ret_process)
{
	struct entry *entry = known(manager, pid);

	if (!entry)
		return -ENOENT;
	describe(entry, ret_process);
	return 0;
}

int manager_process_at(struct manager *manager, unsigned index, struct manager_process *ret_process)
{
	if (index >= manager->n_entries)
		return -ENOENT;
	describe(manager->entries[index], ret_process);
	return 0;
}

/* The worst of all processes: the ratio furthest from 1, the greatest difference. */
static void tell_scores(const struct manager *manager, struct manager_status *ret_status)
{
	double ratio = NAN, difference = NAN;

	for (unsigned i = 0; i < manager->n_entries; i++) {
		const struct reuse_scores *scores = &manager->entries[i]->tracked->reuse.scores;

		if (!(fabs(log(scores->llc_ratio)) <= fabs(log(ratio))) &&
		        !isnan(scores->llc_ratio))
			ratio = scores->llc_ratio;
		difference = fmax(difference, scores->difference);
		ret_status->scored += !isnan(scores->llc_ratio) || !isnan(scores->difference);
	}
	ret_status->llc_ratio = ratio;
	ret_status->reuse_difference = difference;
	snprintf(ret_status->reuse_reason, sizeof(ret_status->reuse_reason), "%s",
	        manager->instrument->reuse.reason);
}

void manager_status(struct manager *manager, struct manager_status *ret_status)
{
	const struct instrument *instrument = manager->instrument;
	const struct calibration *calibration = &instrument->calibration;
	const struct rung *decisive = instrument_decisive(instrument);

	*ret_status = (struct manager_status){
	        .pid = getpid(),
	        .uptime_seconds = (source_now() - manager->begin_ns) / 1e9,
	        .slots = calibration->slots,
	        .trap_seconds = calibration->trap_seconds,
	        .arm_seconds = calibration->arm_seconds,
	        .switch_seconds = calibration->switch_seconds,
	        .shift_seconds = calibration->shift_seconds,
	        .resolution_seconds = calibration->resolution_seconds,
	        .daemon_cpu = manager->n_entries ? manager->daemon_cpu : NAN,
	        .processes = manager->n_entries,
	        .lost = manager->lost,
	};
	for (unsigned i = 0; i < manager->n_entries; i++)
		ret_status->lost += manager->entries[i]->tracked->counts.lost;
	tell_scores(manager, ret_status);
	ret_status->n_events = fmin(address_use_events(manager->addresses), MANAGER_EVENTS_MAX);
	for (unsigned i = 0; i < ret_status->n_events; i++)
		address_use_describe(manager->addresses, i, &ret_status->events[i]);
	snprintf(ret_status->events_reason, sizeof(ret_status->events_reason), "%s",
	        address_use_problem(manager->addresses));
	snprintf(ret_status->rung, sizeof(ret_status->rung), "%s", instrument_rung(instrument));
	snprintf(ret_status->reason, sizeof(ret_status->reason), "%s", decisive->reason);
	snprintf(ret_status->fix, sizeof(ret_status->fix), "%s", decisive->fix);
	snprintf(ret_status->method, sizeof(ret_status->method), "%s",
	        instrument_method(instrument));
}

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

void manager_asked(struct manager *manager, pid_t pid)
{
	struct entry *entry = manager_find(manager, pid);

	if (entry)
		entry->tracked->asked_at = source_now() / 1e9;
}

void manager_serves(struct manager *manager)
{
	manager->serves = true;
}

void manager_turn_over(struct manager *manager, double cpu_seconds)
{
	if (manager->serves)
		manager->served_cpu += cpu_seconds;
	manager->serves = false;
}

/* The observations of that process, its origin and what an estimate needs. */
static int gather(struct manager *manager, pid_t pid, struct tracked **ret_tracked,
        struct mtl_observation **ret_observations, size_t *ret_n,
        struct mtl_curve_origin *ret_origin)
{
	struct entry *entry = known(manager, pid);
	int r;

	if (!entry)
		return -ENOENT;
	tracked_refresh(entry->tracked);
	r = tracked_observations(entry->tracked, ret_observations, ret_n);
	if (r < 0)
		return r;
	*ret_tracked = entry->tracked;
	tracked_origin(entry->tracked, manager->daemon_cpu, ret_origin);
	return 0;
}

/* Half the width of its intervals, as a part of what it says. */
static double error_of(const struct mtl_curve *curve)
{
	double misses = 0, widths = 0;

	for (size_t i = 0; i < curve->n_points; i++) {
		misses += curve->points[i].misses_per_second;
		widths += curve->points[i].high - curve->points[i].low;
	}
	return misses > 0 ? widths / 2 / misses : NAN;
}

int manager_curve(struct manager *manager, pid_t pid, const struct mtl_estimate_options *options,
        struct mtl_curve **ret_curve, struct mtl_curve_origin *ret_origin)
{
	_cleanup_free_ struct mtl_observation *observations = NULL;
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	struct mtl_estimate_options completed = *options;
	struct mtl_curve_origin origin;
	struct tracked *tracked;
	size_t n;
	int r = gather(manager, pid, &tracked, &observations, &n, &origin);

	if (r < 0)
		return r;
	tracked_options(tracked, &completed);
	r = mtl_curve_from_observations(observations, n, tracked->store->births,
	        tracked->store->n_births, &completed, &curve);
	if (r >= 0)
		r = tracked_reuse_curve(tracked, &completed, curve);
	if (r < 0)
		return r;
	tracked->error = error_of(curve);
	*ret_curve = TAKE_PTR(curve);
	*ret_origin = origin;
	return 0;
}

int manager_observations(struct manager *manager, pid_t pid,
        struct mtl_observation **ret_observations, size_t *ret_n, struct mtl_birth **ret_births,
        size_t *ret_n_births, struct mtl_curve_origin *ret_origin,
        struct mtl_estimate_options *ret_options)
{
	_cleanup_free_ struct mtl_observation *observations = NULL;
	struct mtl_curve_origin origin;
	struct tracked *tracked;
	struct mtl_birth *births;
	size_t n;
	int r = gather(manager, pid, &tracked, &observations, &n, &origin);

	if (r < 0)
		return r;
	births = malloc(sizeof(tracked->store->births));
	if (!births)
		return -ENOMEM;
	memcpy(births, tracked->store->births, sizeof(tracked->store->births));
	*ret_options = (struct mtl_estimate_options){0};
	tracked_options(tracked, ret_options);
	*ret_observations = TAKE_PTR(observations);
	*ret_n = n;
	*ret_births = births;
	*ret_n_births = tracked->store->n_births;
	*ret_origin = origin;
	return 0;
}

int manager_history(struct manager *manager, pid_t pid, const double *sizes, size_t n,
        struct mtl_history **ret_history)
{
	struct entry *entry = manager_find(manager, pid);
	struct tracked *tracked = entry ? entry->tracked : NULL;
	double now = source_now() / 1e9;
	int r;

	if (!tracked)
		return -ENOENT;
	tracked->asked_at = now;
	r = history_tell(&tracked->history, now, sizes, n, ret_history);
	if (r < 0)
		return r;
	(*ret_history)->pid = pid;
	(*ret_history)->window_seconds = manager->config->window_seconds;
	memcpy((*ret_history)->comm, tracked->comm, sizeof((*ret_history)->comm));
	return 0;
}

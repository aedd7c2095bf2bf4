// SPDX-License-Identifier: MIT
/*
 * Once a second: mtld's own CPU use and the share of every pace that keeps it under its bound, the
 * pace of each process, who has had its time, and the periods of samples.
 */
#include "manager_parts.h"

#include <malloc.h>
#include <math.h>
#include <sys/resource.h>

#include "budget.h"

#define FREE_MORE (2 << 20)

static double own_cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static bool has_had_its_time(const struct manager *manager, const struct entry *entry, uint64_t now)
{
	const struct tracked *tracked = entry->tracked;
	double asked = now / 1e9 - tracked->asked_at;

	if (tracked->idle_seconds > 0 && asked > tracked->idle_seconds)
		return true;
	return !manager_is_alive(entry) && asked > manager->config->keep_exited_seconds &&
	       (now - tracked->end_wall_ns) / 1e9 > manager->config->keep_exited_seconds;
}

#define ASKED_SECONDS 30

/* The error of a curve nobody asks for is taken to fall with the root of the observations. */
static struct budget_process budget_process(const struct tracked *tracked, uint64_t now)
{
	struct budget_process process = {
	        .demand = tracked->governor.pace / tracked->share * tracked->running,
	        .asked = now / 1e9 - tracked->asked_at < ASKED_SECONDS,
	};

	if (tracked->state == TRACKED_EXITED || tracked_is_still(tracked))
		process.demand = 0;
	process.error = process.asked ? tracked->error : NAN;
	if (isnan(process.error) && tracked->store->n_observations > 0)
		process.error = 2 / sqrt(tracked->store->n_observations);
	return process;
}

/* Among those that do something. */
static void share_out(struct manager *manager, uint64_t now)
{
	struct budget_process processes[INDEX_MAX] = {0};
	struct tracked *sharing[INDEX_MAX];
	double shares[INDEX_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < manager->n_entries; i++)
		if (!manager->entries[i]->rests) {
			sharing[n] = manager->entries[i]->tracked;
			processes[n] = budget_process(sharing[n], now);
			n++;
		}
	budget_shares(processes, n, manager->share, shares);
	for (unsigned i = 0; i < n; i++)
		tracked_settle(sharing[i], shares[i]);
	manager->instrument->running = n;
}

static void forget_who_had_their_time(struct manager *manager, uint64_t now)
{
	for (unsigned i = manager->n_entries; i-- > 0;)
		if (has_had_its_time(manager, manager->entries[i], now))
			manager_release(manager, manager->entries[i]);
}

/* What processes that have gone took, or clients that did not read, is not kept. */
static void give_memory_back(struct manager *manager)
{
	size_t free_bytes = mallinfo2().fordblks;

	if (free_bytes > manager->free_bytes + FREE_MORE) {
		malloc_trim(0);
		manager->free_bytes = mallinfo2().fordblks;
	} else if (free_bytes < manager->free_bytes) {
		manager->free_bytes = free_bytes;
	}
}

static void settle_processes(struct manager *manager)
{
	uint64_t now = source_now();
	double cpu = own_cpu_seconds() - manager->served_cpu,
	       seconds = (now - manager->settled_ns) / 1e9;

	if (manager->settled_ns) {
		double used = (cpu - manager->settled_cpu) / seconds;
		double before = manager->daemon_cpu;

		manager->share = governor_share(
		        manager->share, used, before, manager->config->max_daemon_cpu);
		manager->daemon_cpu = isnan(before) ? used : before + 0.4 * (used - before);
	}
	manager->settled_ns = now;
	manager->settled_cpu = cpu;
	share_out(manager, now);
	forget_who_had_their_time(manager, now);
	give_memory_back(manager);
}

/* Of the process most sampled, in its CPU time. */
static double most_sampled(const struct manager *manager)
{
	double most = 0;

	for (unsigned i = 0; i < manager->n_entries; i++)
		if (manager_is_alive(manager->entries[i]))
			most = fmax(most, manager->entries[i]->tracked->governor.sample_rate);
	return most;
}

/* Before the periods of samples change. */
static void follow_rates(struct manager *manager)
{
	struct rates_sampling sampling;

	address_use_sampling(manager->addresses, &sampling);
	for (unsigned i = 0; i < manager->n_entries; i++) {
		struct tracked *tracked = manager->entries[i]->tracked;

		if (manager_is_alive(manager->entries[i]) && !tracked_is_still(tracked))
			rates_follow(&tracked->rates,
			        source_counts(manager->instrument->source, tracked->index),
			        tracked->counts.cpu_ns / 1e9, manager->config->window_seconds,
			        &sampling);
	}
}

static void settle_events(struct manager *manager)
{
	if (!manager->instrument->source)
		return;
	sampler_follow_cpus(manager->instrument->sampler);
	source_follow_cpus(manager->instrument->source);
	counters_follow(manager->counters);
	manager->instrument->calibration.count_seconds = counters_switch_seconds(manager->counters);
	follow_rates(manager);
	address_use_settle(manager->addresses, most_sampled(manager), manager->share);
}

void manager_settle(struct manager *manager)
{
	settle_processes(manager);
	manager_rest_decide(manager);
	settle_events(manager);
}

// SPDX-License-Identifier: MIT
/*
 * Stopping and starting the programs at context switches for all processes together, when duty.h
 * says so. At the start every CPU is made to switch once, so that whoever runs is on the clock.
 */
#include "manager_parts.h"

#include <math.h>

static void for_living(struct manager *manager, void (*act)(struct tracked *tracked))
{
	for (unsigned i = 0; i < manager->n_entries; i++)
		if (manager_is_alive(manager->entries[i]))
			act(manager->entries[i]->tracked);
}

static void stop(struct manager *manager)
{
	for_living(manager, tracked_lie_down);
	source_clock_stop(manager->instrument->source);
	for_living(manager, tracked_rest);
}

static void start(struct manager *manager)
{
	for_living(manager, tracked_rest_on);
	if (source_clock_start(manager->instrument->source) < 0)
		return; /* it is tried again at the next phase */
	counters_resume(manager->counters);
	for_living(manager, tracked_wake);
	sampler_poke(manager->instrument->sampler);
}

static double longest_watch(const struct manager *manager)
{
	double longest = 0;

	for (unsigned i = 0; i < manager->n_entries; i++)
		if (manager_is_alive(manager->entries[i]))
			longest =
			        fmax(longest, manager->entries[i]->tracked->deadlines.now.longest);
	return longest;
}

void manager_rest_tick(struct manager *manager)
{
	double watch = manager->duty.share < 1 ? longest_watch(manager) : 0;

	if (!manager->instrument->source)
		return;
	if (duty_step(&manager->duty, source_now(), watch))
		(manager->duty.resting ? stop : start)(manager);
	else if (manager->duty.resting)
		for_living(manager, tracked_rest_on);
}

void manager_rest_decide(struct manager *manager)
{
	double most = 0;

	for (unsigned i = 0; i < manager->n_entries; i++)
		if (manager_is_alive(manager->entries[i]))
			most = fmax(most, manager->entries[i]->tracked->governor.switching);
	duty_decide(&manager->duty, most / manager->config->max_overhead);
	manager->instrument->awake = manager->duty.share;
}

void manager_wake(struct manager *manager)
{
	if (duty_wake(&manager->duty))
		start(manager);
}

// SPDX-License-Identifier: MIT
/*
 * All state of the daemon and its wiring into the event loop.
 *
 * While something is tracked a timer ticks ten times a second; while nothing is, programs are
 * detached and no timer runs: an idle mtld costs nothing. Of the processes that do nothing a tenth
 * is looked at each time.
 */
#include "manager_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "cleanup.h"
#include "follow.h"
#include "code_heat.h"

#define PACED_A_TICK                                                                               \
	256 /* processes; where there are more, which CPU they run on is looked at less often */

/* ---- the event loop ---- */

/* The tracked process that an event is about; NULL: no more. */
static struct tracked *about(const struct manager *manager, uint32_t index, uint32_t tgid)
{
	struct tracked *tracked = index < INDEX_MAX ? manager->by_index[index] : NULL;

	return tracked && tracked->tgid == tgid ? tracked : NULL;
}

static void on_life(void *userdata, const struct mtl_life *life)
{
	struct tracked *tracked = about(userdata, life->process, life->tgid);

	if (tracked)
		tracked_life(tracked, life);
}

/* A sample stands for as many accesses as its period says. */
static void on_address(void *userdata, const struct mtl_address *sample)
{
	struct tracked *tracked = about(userdata, sample->process, sample->tgid);

	if (tracked && tracked->planner)
		planner_heat(tracked->planner, sample->address, fmax(sample->period, 1));
}

static enum code_outcome on_code(void *userdata, const struct mtl_instruction *sample)
{
	struct tracked *tracked = about(userdata, sample->process, sample->tgid);

	if (!tracked || !tracked->planner)
		return CODE_UNREADABLE;
	if (!tracked_wants_code(tracked))
		return CODE_LEFT_OUT;
	return code_heat(tracked->planner, tracked->root, tracked->pid, sample);
}

static int on_samples_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct manager *manager = userdata;

	(void)source;
	(void)fd;
	(void)revents;
	address_use_consume(manager->addresses);
	return 0;
}

static int on_life_ready(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct manager *manager = userdata;

	(void)source;
	(void)fd;
	(void)revents;
	source_life_consume(manager->instrument->source);
	return 0;
}

static void tick_processes(struct manager *manager)
{
	for (unsigned i = 0; i < manager->n_entries; i++) {
		struct entry *entry = manager->entries[i];

		if (entry->rests && (i + manager->ticks) % TICKS_A_SECOND != 0)
			continue;
		tracked_tick(entry->tracked);
		entry->rests = !manager_is_alive(entry) || tracked_is_still(entry->tracked);
	}
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *manager = userdata;

	(void)usec;
	address_use_consume(manager->addresses);
	if (manager->instrument->source)
		source_life_consume(manager->instrument->source);
	manager_rest_tick(manager);
	tick_processes(manager);
	if (++manager->ticks % TICKS_A_SECOND == 0)
		manager_settle(manager);
	if (manager->instrument->sampler &&
	        manager->ticks % (1 + manager->n_entries / PACED_A_TICK) == 0)
		sampler_pace_cpus(manager->instrument->sampler);
	sd_event_source_set_time_relative(source, TICK_USEC);
	return 0;
}

/* ---- begin and end ---- */

static int wire(struct manager *manager)
{
	struct source *source = manager->instrument->source;
	int r = sd_event_add_time_relative(
	        manager->event, &manager->tick, CLOCK_MONOTONIC, TICK_USEC, 1000, on_tick, manager);

	if (r < 0)
		return r;
	sd_event_source_set_enabled(manager->tick, SD_EVENT_OFF);
	if (!source)
		return 0;
	r = source_life_open(source, on_life, manager);
	if (r >= 0)
		r = sd_event_add_io(manager->event, &manager->life, source_life_fd(source),
		        EPOLLIN | EPOLLET, on_life_ready, manager);
	if (r >= 0 && address_use_events(manager->addresses) > 0)
		r = sd_event_add_io(manager->event, &manager->samples,
		        address_use_fd(manager->addresses), EPOLLIN, on_samples_ready, manager);
	return r;
}

/* Where address samples stand for accesses, the counters that would count them too are left to
 * others. What cannot be counted is unknown. */
static int count(struct manager *manager)
{
	const struct instrument *instrument = manager->instrument;
	enum rung_index rung = instrument->ladder.chosen;

	return counters_new(instrument->source, instrument->events,
	        rung < RUNG_WATCHPOINTS ? instrument->n_events : 0, rung != RUNG_PEBS,
	        &manager->counters);
}

DEFINE_CLEANUP(struct manager, manager_free)

int manager_new(sd_event *event, const struct config *config, const char *root,
        struct manager **ret_manager)
{
	_cleanup_(manager_freep) struct manager *manager = calloc(1, sizeof(*manager));
	int r;

	if (!manager)
		return -ENOMEM;
	manager->event = sd_event_ref(event);
	manager->config = config;
	manager->daemon_cpu = NAN;
	manager->share = 1;
	duty_begin(&manager->duty, source_now());
	manager->begin_ns = source_now();
	manager->root = strdup(root ? root : "");
	manager->entries = calloc(INDEX_MAX, sizeof(manager->entries[0]));
	if (!manager->root || !manager->entries)
		return -ENOMEM;
	r = instrument_new(config, manager->root, &manager->instrument);
	if (r >= 0)
		r = address_use_new(manager->instrument, config, on_address, on_code, manager,
		        &manager->addresses);
	if (r >= 0)
		r = count(manager);
	if (r >= 0)
		r = wire(manager);
	if (r >= 0 && manager->instrument->source)
		r = follow_new(manager, &manager->follow);
	if (r < 0)
		return r;
	manager->instrument->calibration.sample_seconds =
	        address_use_sample_seconds(manager->addresses);
	*ret_manager = TAKE_PTR(manager);
	return 0;
}

struct manager *manager_free(struct manager *manager)
{
	if (!manager)
		return NULL;
	follow_free(manager->follow);
	while (manager->n_entries > 0)
		manager_free_entry(manager->entries[--manager->n_entries]);
	sd_event_source_disable_unref(manager->tick);
	sd_event_source_disable_unref(manager->life);
	sd_event_source_disable_unref(manager->samples);
	address_use_free(manager->addresses);
	counters_free(manager->counters);
	instrument_free(manager->instrument);
	sd_event_unref(manager->event);
	free(manager->entries);
	free(manager->root);
	free(manager);
	return NULL;
}

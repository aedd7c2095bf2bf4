// SPDX-License-Identifier: MIT
/*
 * All state of the daemon and its wiring into the event loop.
 *
 * While something is tracked a timer ticks ten times a second; while nothing is, programs are
 * detached and no timer runs: an idle mtld costs nothing. A process that ends is noticed through
 * its pidfd and keeps its last curve for a while.
 */
#include "manager.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "address_use.h"
#include "cleanup.h"
#include "instrument.h"
#include "tracked.h"

#define TICK_USEC 100000
#define TICKS_A_SECOND 10

/* The calibration child has the sampler's last slot. */
enum { INDEX_MAX = MTL_PROCESSES_MAX - 1 };

struct entry {
	struct manager *manager;
	struct tracked *tracked;
	sd_event_source *end; /* of its pidfd */
	int pidfd;
};

struct manager {
	sd_event *event;
	const struct config *config;
	char *root;
	struct instrument *instrument;
	struct entry **entries; /* in order of tracking */
	unsigned n_entries;
	struct address_use *addresses;
	struct counters *counters;
	sd_event_source *life, *tick, *samples;
	unsigned ticks;
	uint64_t begin_ns, settled_ns;
	double settled_cpu, daemon_cpu, share;
	uint64_t lost; /* of processes that were forgotten */
};

static double own_cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
		(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static struct entry *find(struct manager *manager, pid_t pid)
{
	for (unsigned i = 0; i < manager->n_entries; i++)
		if (manager->entries[i]->tracked->pid == pid)
			return manager->entries[i];
	return NULL;
}

static bool is_alive(const struct entry *entry)
{
	return entry->tracked->state != TRACKED_EXITED;
}

static unsigned n_alive(const struct manager *manager)
{
	unsigned n = 0;

	for (unsigned i = 0; i < manager->n_entries; i++)
		n += is_alive(manager->entries[i]);
	return n;
}

static void free_entry(struct entry *entry)
{
	sd_event_source_disable_unref(entry->end);
	tracked_free(entry->tracked);
	if (entry->pidfd >= 0)
		close(entry->pidfd);
	free(entry);
}

static void rest_when_idle(struct manager *manager)
{
	if (!manager->instrument->source || n_alive(manager) > 0)
		return;
	sampler_pace_cpus(manager->instrument->sampler);
	address_use_rest(manager->addresses);
	counters_rest(manager->counters);
	source_detach(manager->instrument->source);
}

static void forget(struct manager *manager, struct entry *entry)
{
	unsigned i = 0;

	while (manager->entries[i] != entry)
		i++;
	memmove(&manager->entries[i], &manager->entries[i + 1],
		(--manager->n_entries - i) * sizeof(manager->entries[0]));
	manager->lost += entry->tracked->counts.lost;
	free_entry(entry);
	rest_when_idle(manager);
	if (manager->n_entries == 0)
		sd_event_source_set_enabled(manager->tick, SD_EVENT_OFF);
}

/* ---- the event loop ---- */

static int on_end(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct entry *entry = userdata;

	(void)source;
	(void)fd;
	(void)revents;
	tracked_exited(entry->tracked);
	sd_event_source_set_enabled(entry->end, SD_EVENT_OFF);
	rest_when_idle(entry->manager);
	return 0;
}

/* The tracked process that an event is about; NULL: no more. */
static struct tracked *about(const struct manager *manager, uint32_t index, uint32_t tgid)
{
	for (unsigned i = 0; i < manager->n_entries; i++) {
		struct tracked *tracked = manager->entries[i]->tracked;

		if (is_alive(manager->entries[i]) && tracked->index == index && tracked->tgid == tgid)
			return tracked;
	}
	return NULL;
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

static bool has_had_its_time(const struct manager *manager, const struct entry *entry, uint64_t now)
{
	const struct tracked *tracked = entry->tracked;
	double asked = now / 1e9 - tracked->asked_at;

	if (tracked->idle_seconds > 0 && asked > tracked->idle_seconds)
		return true;
	return !is_alive(entry) && asked > manager->config->keep_exited_seconds &&
		(now - tracked->end_wall_ns) / 1e9 > manager->config->keep_exited_seconds;
}

static void settle(struct manager *manager)
{
	uint64_t now = source_now();
	double cpu = own_cpu_seconds(), seconds = (now - manager->settled_ns) / 1e9;

	if (manager->settled_ns) {
		double used = (cpu - manager->settled_cpu) / seconds;

		manager->daemon_cpu = isnan(manager->daemon_cpu) ?
			used :
			manager->daemon_cpu + 0.4 * (used - manager->daemon_cpu);
		manager->share = governor_share(manager->share, manager->daemon_cpu,
			manager->config->max_daemon_cpu);
	}
	manager->settled_ns = now;
	manager->settled_cpu = cpu;
	for (unsigned i = manager->n_entries; i-- > 0;) {
		struct entry *entry = manager->entries[i];

		tracked_settle(entry->tracked, manager->share);
		if (has_had_its_time(manager, entry, now))
			forget(manager, entry);
	}
}

/* Of the process most sampled, in its CPU time. */
static double most_sampled(const struct manager *manager)
{
	double most = 0;

	for (unsigned i = 0; i < manager->n_entries; i++)
		if (is_alive(manager->entries[i]))
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

		if (is_alive(manager->entries[i]))
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
	source_follow_cpus(manager->instrument->source);
	counters_follow(manager->counters);
	follow_rates(manager);
	address_use_settle(manager->addresses, most_sampled(manager), manager->share);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *manager = userdata;

	(void)usec;
	address_use_consume(manager->addresses);
	for (unsigned i = 0; i < manager->n_entries; i++)
		tracked_tick(manager->entries[i]->tracked);
	if (++manager->ticks % TICKS_A_SECOND == 0) {
		settle(manager);
		settle_events(manager);
	}
	if (manager->instrument->sampler)
		sampler_pace_cpus(manager->instrument->sampler);
	sd_event_source_set_time_relative(source, TICK_USEC);
	return 0;
}

/* ---- begin and end ---- */

static int wire(struct manager *manager)
{
	struct source *source = manager->instrument->source;
	int r = sd_event_add_time_relative(manager->event, &manager->tick, CLOCK_MONOTONIC, TICK_USEC,
		1000, on_tick, manager);

	if (r < 0)
		return r;
	sd_event_source_set_enabled(manager->tick, SD_EVENT_OFF);
	if (!source)
		return 0;
	r = source_life_open(source, on_life, manager);
	if (r >= 0)
		r = sd_event_add_io(manager->event, &manager->life, source_life_fd(source), EPOLLIN,
			on_life_ready, manager);
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
	manager->begin_ns = source_now();
	manager->root = strdup(root ? root : "");
	manager->entries = calloc(INDEX_MAX, sizeof(manager->entries[0]));
	if (!manager->root || !manager->entries)
		return -ENOMEM;
	r = instrument_new(config, manager->root, &manager->instrument);
	if (r >= 0)
		r = address_use_new(manager->instrument, config, on_address, manager,
			&manager->addresses);
	if (r >= 0)
		r = count(manager);
	if (r >= 0)
		r = wire(manager);
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
	while (manager->n_entries > 0)
		free_entry(manager->entries[--manager->n_entries]);
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

/* ---- tracking ---- */

/* A slot no process uses and no CPU still counts for. */
static int free_index(struct manager *manager, uint32_t *ret_index)
{
	for (uint32_t index = 0; index < INDEX_MAX; index++) {
		bool used = source_process(manager->instrument->source, index)->clock &
			MTL_CLOCK_RUNNING;

		for (unsigned i = 0; i < manager->n_entries && !used; i++)
			used = is_alive(manager->entries[i]) &&
				manager->entries[i]->tracked->index == index;
		if (!used) {
			*ret_index = index;
			return 0;
		}
	}
	return -EUSERS;
}

static int add_entry(struct manager *manager, pid_t pid, uint32_t index, struct entry **ret_entry)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	int r;

	if (!entry)
		return -ENOMEM;
	entry->manager = manager;
	entry->pidfd = syscall(SYS_pidfd_open, pid, 0);
	/* A thread that is not a process (ENOENT since Linux 6.16): there is no such process. */
	r = entry->pidfd >= 0 ? 0 : errno == EINVAL || errno == ENOENT ? -ESRCH : -errno;
	if (r >= 0)
		r = source_attach(manager->instrument->source);
	if (r >= 0)
		r = tracked_new(manager->instrument, manager->config, manager->root, pid, index,
			&entry->tracked);
	if (r >= 0)
		r = sd_event_add_io(manager->event, &entry->end, entry->pidfd, EPOLLIN, on_end, entry);
	if (r < 0) {
		free_entry(entry);
		return r;
	}
	*ret_entry = entry;
	return 0;
}

/* Those that have ended never keep one that runs out. */
static int make_room(struct manager *manager)
{
	if (n_alive(manager) >= manager->config->max_processes)
		return -EUSERS;
	for (unsigned i = 0; manager->n_entries >= INDEX_MAX && i < manager->n_entries; i++)
		if (!is_alive(manager->entries[i]))
			forget(manager, manager->entries[i]);
	return manager->n_entries < INDEX_MAX ? 0 : -EUSERS;
}

static int track_anew(struct manager *manager, pid_t pid, struct entry **ret_entry)
{
	struct entry *entry, *old;
	uint32_t index;
	int r = manager->instrument->source ? make_room(manager) : -ENOSYS;

	if (r >= 0)
		r = free_index(manager, &index);
	if (r >= 0)
		r = add_entry(manager, pid, index, &entry);
	if (r < 0) {
		rest_when_idle(manager);
		return r;
	}
	old = find(manager, pid);
	manager->entries[manager->n_entries++] = entry;
	if (old) /* the pid has come round again */
		forget(manager, old);
	address_use_begin(manager->addresses);
	counters_begin(manager->counters);
	sd_event_source_set_time_relative(manager->tick, TICK_USEC);
	sd_event_source_set_enabled(manager->tick, SD_EVENT_ON);
	sampler_pace_cpus(manager->instrument->sampler);
	*ret_entry = entry;
	return 0;
}

int manager_track(struct manager *manager, pid_t pid, double idle_seconds)
{
	struct entry *entry = find(manager, pid);
	int r = entry && is_alive(entry) ? 0 : track_anew(manager, pid, &entry);

	if (r < 0)
		return r;
	entry->tracked->idle_seconds = idle_seconds;
	entry->tracked->asked_at = source_now() / 1e9;
	return 0;
}

int manager_untrack(struct manager *manager, pid_t pid)
{
	struct entry *entry = find(manager, pid);

	if (!entry)
		return -ENOENT;
	forget(manager, entry);
	return 0;
}

/* ---- questions ---- */

int manager_process(struct manager *manager, pid_t pid, struct manager_process *ret_process)
{
	struct entry *entry = find(manager, pid);

	if (!entry)
		return -ENOENT;
	tracked_describe(entry->tracked, ret_process);
	return 0;
}

int manager_process_at(struct manager *manager, unsigned index, struct manager_process *ret_process)
{
	if (index >= manager->n_entries)
		return -ENOENT;
	tracked_describe(manager->entries[index]->tracked, ret_process);
	return 0;
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
	ret_status->n_events = fmin(address_use_events(manager->addresses), MANAGER_EVENTS_MAX);
	for (unsigned i = 0; i < ret_status->n_events; i++)
		address_use_describe(manager->addresses, i, &ret_status->events[i]);
	snprintf(ret_status->events_reason, sizeof(ret_status->events_reason), "%s",
		address_use_problem(manager->addresses));
	snprintf(ret_status->rung, sizeof(ret_status->rung), "%s", instrument_rung(instrument));
	snprintf(ret_status->reason, sizeof(ret_status->reason), "%s", decisive->reason);
	snprintf(ret_status->fix, sizeof(ret_status->fix), "%s", decisive->fix);
	snprintf(ret_status->method, sizeof(ret_status->method), "%s", instrument_method(instrument));
}

/* The observations of that process, its origin and what an estimate needs; marks it as asked for. */
static int gather(struct manager *manager, pid_t pid, struct tracked **ret_tracked,
	struct mtl_observation **ret_observations, size_t *ret_n, struct mtl_curve_origin *ret_origin)
{
	struct entry *entry = find(manager, pid);
	struct mtl_observation *copy;

	if (!entry)
		return -ENOENT;
	copy = malloc(STORE_OBSERVATIONS * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	tracked_tick(entry->tracked);
	entry->tracked->asked_at = source_now() / 1e9;
	*ret_n = store_observations(entry->tracked->store, copy);
	*ret_observations = copy;
	*ret_tracked = entry->tracked;
	tracked_origin(entry->tracked, manager->daemon_cpu, ret_origin);
	return 0;
}

int manager_curve(struct manager *manager, pid_t pid, const struct mtl_estimate_options *options,
	struct mtl_curve **ret_curve, struct mtl_curve_origin *ret_origin)
{
	_cleanup_free_ struct mtl_observation *observations = NULL;
	struct mtl_estimate_options completed = *options;
	struct mtl_curve_origin origin;
	struct tracked *tracked;
	size_t n;
	int r = gather(manager, pid, &tracked, &observations, &n, &origin);

	if (r < 0)
		return r;
	tracked_options(tracked, &completed);
	r = mtl_curve_from_observations(observations, n, tracked->store->births,
		tracked->store->n_births, &completed, ret_curve);
	if (r < 0)
		return r;
	*ret_origin = origin;
	return 0;
}

int manager_observations(struct manager *manager, pid_t pid, struct mtl_observation **ret_observations,
	size_t *ret_n, struct mtl_birth **ret_births, size_t *ret_n_births,
	struct mtl_curve_origin *ret_origin, struct mtl_estimate_options *ret_options)
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

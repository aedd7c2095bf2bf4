// SPDX-License-Identifier: MIT
/*
 * Who is tracked: begin and end. A process that ends is noticed through its pidfd and keeps its
 * last curve for a while.
 */
#include "manager_parts.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"
#include "follow.h"
#include "proc.h"

/* The place of that pid among the entries, or where it would be. */
static unsigned place_of(const struct manager *manager, pid_t pid)
{
	unsigned low = 0, high = manager->n_entries;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (manager->entries[middle]->tracked->pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct entry *manager_find(struct manager *manager, pid_t pid)
{
	unsigned place = place_of(manager, pid);

	if (place == manager->n_entries || manager->entries[place]->tracked->pid != pid)
		return NULL;
	return manager->entries[place];
}

static void insert(struct manager *manager, struct entry *entry)
{
	unsigned place = place_of(manager, entry->tracked->pid);

	memmove(&manager->entries[place + 1], &manager->entries[place],
	        (manager->n_entries++ - place) * sizeof(manager->entries[0]));
	manager->entries[place] = entry;
}

bool manager_is_alive(const struct entry *entry)
{
	return entry->tracked->state != TRACKED_EXITED;
}

static unsigned n_alive(const struct manager *manager)
{
	unsigned n = 0;

	for (unsigned i = 0; i < manager->n_entries; i++)
		n += manager_is_alive(manager->entries[i]);
	return n;
}

void manager_free_entry(struct entry *entry)
{
	sd_event_source_disable_unref(entry->end);
	tracked_free(entry->tracked);
	if (entry->pidfd >= 0)
		close(entry->pidfd);
	free(entry->cgroup);
	free(entry);
}

void manager_rest_when_idle(struct manager *manager)
{
	if (!manager->instrument->source || n_alive(manager) > 0)
		return;
	duty_begin(&manager->duty, source_now());
	sampler_pace_cpus(manager->instrument->sampler);
	address_use_rest(manager->addresses);
	counters_rest(manager->counters);
	source_detach(manager->instrument->source);
	malloc_trim(0); /* what many took is not kept */
}

void manager_forget(struct manager *manager, struct entry *entry)
{
	unsigned i = 0;

	while (manager->entries[i] != entry)
		i++;
	memmove(&manager->entries[i], &manager->entries[i + 1],
	        (--manager->n_entries - i) * sizeof(manager->entries[0]));
	manager->lost += entry->tracked->counts.lost;
	if (manager_is_alive(entry))
		manager->by_index[entry->tracked->index] = NULL;
	manager_free_entry(entry);
	manager_rest_when_idle(manager);
	if (manager->n_entries == 0)
		sd_event_source_set_enabled(manager->tick, SD_EVENT_OFF);
}

static struct entry *ended_first(struct manager *manager, unsigned *ret_ended)
{
	struct entry *first = NULL;

	*ret_ended = 0;
	for (unsigned i = 0; i < manager->n_entries; i++) {
		struct entry *entry = manager->entries[i];

		if (manager_is_alive(entry))
			continue;
		++*ret_ended;
		if (!first || entry->tracked->end_wall_ns < first->tracked->end_wall_ns)
			first = entry;
	}
	return first;
}

static void forget_ended(struct manager *manager)
{
	unsigned ended;
	struct entry *first = ended_first(manager, &ended);

	if (ended > manager->config->max_exited)
		manager_forget(manager, first);
}

static int on_end(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct entry *entry = userdata;
	struct manager *manager = entry->manager;

	(void)source;
	(void)fd;
	(void)revents;
	tracked_exited(entry->tracked);
	manager->by_index[entry->tracked->index] = NULL;
	entry->end = sd_event_source_disable_unref(entry->end);
	close(entry->pidfd);
	entry->pidfd = -1;
	manager_rest_when_idle(manager);
	forget_ended(manager);
	return 0;
}

/* A slot no process uses and no CPU still counts for. */
static int free_index(struct manager *manager, uint32_t *ret_index)
{
	for (uint32_t index = 0; index < INDEX_MAX; index++)
		if (!manager->by_index[index] &&
		        !(source_process(manager->instrument->source, index)->clock &
		                MTL_CLOCK_RUNNING)) {
			*ret_index = index;
			return 0;
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
		r = sd_event_add_io(
		        manager->event, &entry->end, entry->pidfd, EPOLLIN, on_end, entry);
	if (r < 0) {
		manager_free_entry(entry);
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
		if (!manager_is_alive(manager->entries[i]))
			manager_forget(manager, manager->entries[i]);
	return manager->n_entries < INDEX_MAX ? 0 : -EUSERS;
}

/* The reason is the first of what is missing, as far as the operator can do something about it. */
static void judge_reuse(struct manager *manager)
{
	struct instrument *instrument = manager->instrument;
	struct reuse_ability *reuse = &instrument->reuse;
	bool counted = counters_kinds(manager->counters) & 1U << COUNTER_L1_MISSES;
	const char *reason = "";

	*reuse = (struct reuse_ability){
	        .means = address_use_misses(manager->addresses),
	        .l1_bytes = proc_cache_bytes(manager->root, 1, NULL),
	};
	if (reuse->means == REUSE_NONE)
		reason = "no event in use tells of single cache misses";
	else if (!(reuse->l1_bytes > 0))
		reason = "the size of the L1 cache is not known";
	else if (reuse->means == REUSE_COUNTED && !counted)
		reason = "misses of the L1 cache are sampled, but not counted";
	if (!*reason)
		return;
	reuse->means = REUSE_NONE;
	snprintf(reuse->reason, sizeof(reuse->reason), "%s (rung %s)", reason,
	        instrument_rung(instrument));
}

static int track_anew(struct manager *manager, pid_t pid, struct entry **ret_entry)
{
	struct entry *entry, *old;
	uint32_t index;
	int r = manager->instrument->source ? make_room(manager) : -ENOSYS;

	if (r >= 0) {
		manager_wake(manager);
		r = free_index(manager, &index);
	}
	if (r >= 0)
		r = add_entry(manager, pid, index, &entry);
	if (r < 0) {
		manager_rest_when_idle(manager);
		return r;
	}
	old = manager_find(manager, pid);
	insert(manager, entry);
	manager->by_index[index] = entry->tracked;
	if (old) /* the pid has come round again */
		manager_forget(manager, old);
	address_use_begin(manager->addresses);
	address_use_hurry(manager->addresses);
	counters_begin(manager->counters);
	judge_reuse(manager);
	sd_event_source_set_time_relative(manager->tick, TICK_USEC);
	sd_event_source_set_enabled(manager->tick, SD_EVENT_ON);
	sampler_pace_cpus(manager->instrument->sampler);
	*ret_entry = entry;
	return 0;
}

int manager_track(struct manager *manager, pid_t pid, double idle_seconds)
{
	struct entry *entry = manager_find(manager, pid);
	int r = entry && manager_is_alive(entry) ? 0 : track_anew(manager, pid, &entry);

	if (r < 0)
		return r;
	entry->by = BY_PID;
	entry->tracked->idle_seconds = idle_seconds;
	entry->tracked->asked_at = source_now() / 1e9;
	return 0;
}

int manager_track_for(struct manager *manager, pid_t pid, enum tracked_by by, const char *cgroup)
{
	_cleanup_free_ char *name = cgroup ? strdup(cgroup) : NULL;
	struct entry *entry;
	int r = cgroup && !name ? -ENOMEM : track_anew(manager, pid, &entry);

	if (r < 0)
		return r;
	entry->by = by;
	entry->cgroup = TAKE_PTR(name);
	return 0;
}

int manager_track_cgroup(struct manager *manager, const char *cgroup)
{
	return manager->follow ? follow_cgroup(manager->follow, cgroup) : -ENOSYS;
}

int manager_untrack_cgroup(struct manager *manager, const char *cgroup)
{
	return manager->follow ? follow_no_more(manager->follow, cgroup) : -ENOENT;
}

int manager_cgroup_at(struct manager *manager, unsigned index, struct manager_cgroup *ret_cgroup)
{
	return manager->follow ? follow_describe(manager->follow, index, ret_cgroup) : -ENOENT;
}

void manager_release(struct manager *manager, struct entry *entry)
{
	if (manager_is_alive(entry) && follow_takes(manager->follow, entry))
		entry->tracked->idle_seconds = 0;
	else
		manager_forget(manager, entry);
}

int manager_untrack(struct manager *manager, pid_t pid)
{
	struct entry *entry = manager_find(manager, pid);

	if (!entry)
		return -ENOENT;
	if (manager_is_alive(entry) && entry->by != BY_PID)
		return -EBUSY;
	manager_release(manager, entry);
	return 0;
}

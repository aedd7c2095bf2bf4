/* SPDX-License-Identifier: MIT */
#ifndef MTLD_MANAGER_PARTS_H
#define MTLD_MANAGER_PARTS_H

/*
 * What the files of the manager (manager*.c) are to each other. Everybody else uses manager.h.
 */

#include "address_use.h"
#include "counters.h"
#include "duty.h"
#include "instrument.h"
#include "manager.h"
#include "tracked.h"

#define TICK_USEC 100000
#define TICKS_A_SECOND 10

/* The calibration child has the sampler's last slot. */
enum { INDEX_MAX = MTL_PROCESSES_MAX - 1 };

/* On whose account a process is tracked; who is named by its number stays until untracked. */
enum tracked_by { BY_PID, BY_CGROUP, BY_TOP };

struct entry {
	struct manager *manager;
	struct tracked *tracked;
	sd_event_source *end; /* of its pidfd */
	int pidfd; /* -1: it has ended */
	bool rests; /* did nothing of late, or has ended: is looked at once a second */
	enum tracked_by by;
	char *cgroup; /* NULL unless by one */
};

struct manager {
	sd_event *event;
	const struct config *config;
	char *root;
	struct instrument *instrument;
	struct entry **entries; /* by pid; of one that came round again the new one is first, and soon alone */
	unsigned n_entries;
	size_t free_bytes; /* of the heap, least since memory was last given back */
	struct tracked *by_index[INDEX_MAX]; /* those that live */
	struct address_use *addresses;
	struct counters *counters;
	struct follow *follow; /* NULL where nothing can be sampled */
	sd_event_source *life, *tick, *samples;
	struct duty duty;
	unsigned ticks;
	uint64_t begin_ns, settled_ns;
	double settled_cpu, daemon_cpu, share;
	bool serves;       /* this turn of the event loop is for a client */
	double served_cpu; /* of mtld's CPU time, that went into serving clients */
	uint64_t lost; /* of processes that were forgotten */
};

/* The latest entry of that pid; NULL: none. */
struct entry *manager_find(struct manager *manager, pid_t pid);

/* Tracks a process that is not, on that account. Errors as manager_track(). */
int manager_track_for(struct manager *manager, pid_t pid, enum tracked_by by, const char *cgroup);

bool manager_is_alive(const struct entry *entry);

/* manager_track.c: ends an entry and all that is known of it. */
void manager_forget(struct manager *manager, struct entry *entry);
void manager_free_entry(struct entry *entry);

/* Nobody wants it by its number any more; a group that is followed, or the top, may. */
void manager_release(struct manager *manager, struct entry *entry);

/* Detaches the programs when nothing that lives is tracked. */
void manager_rest_when_idle(struct manager *manager);

/* manager_rest.c: some ten times a second; once a second; when all have to be seen at once. */
void manager_rest_tick(struct manager *manager);
void manager_rest_decide(struct manager *manager);
void manager_wake(struct manager *manager);

/* manager_settle.c: once a second. */
void manager_settle(struct manager *manager);

#endif

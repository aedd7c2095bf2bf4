/* SPDX-License-Identifier: MIT */
#ifndef MTLD_MANAGER_H
#define MTLD_MANAGER_H

/*
 * The manager holds all state of the daemon: tracked processes, their observations, the governor,
 * the sampler. The server asks it; it never knows about sockets or JSON framing. Everything here
 * is called from the one event-loop thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <systemd/sd-event.h>
#include "config.h"
#include "history.h"
#include "backoff.h"
#include "mtl.h"

struct manager;

/* Per second of CPU time; NAN: not counted. */
struct manager_rates {
	double accesses, l1_misses, l2_misses, llc_misses;
};

struct manager_backoff {
	const char *reason; /* backoff_name() */
	double share;       /* of the pace that is left */
	double seconds;     /* since it began */
	char text[128];
};

struct manager_governing {
	struct check_result checked;
	struct manager_backoff backoff[N_BACKOFF_REASONS];
	unsigned n_backoff;
};

struct manager_process {
	const char *tracked_by; /* "pid", "cgroup", "top" */
	const char *cgroup;     /* its name; NULL: by nothing of the kind. Until the next call of anything */
	double first_curve_seconds; /* wall-clock time to go, predicted; 0: there is one; NAN: not known */
	char first_curve_basis[96]; /* on what that rests, or why it is not known */
	pid_t pid;
	uid_t uid; /* owner, as the effective uid of the process when it was tracked */
	char comm[16];
	const char *state; /* "starting", "sampling", "paused", "exited" */
	char reason[96];   /* "" or why the state is what it is */
	unsigned threads;
	uint64_t observations, births, lost;
	double resident_bytes, cpu_seconds, wall_seconds;
	double overhead_target;         /* NAN: not known yet */
	double observations_per_second; /* NAN: not known yet */
	struct manager_rates rates;
	double llc_ratio;        /* predicted / counted misses of the last-level cache; NAN: none */
	double reuse_difference; /* of the curve from reuse times, struct mtl_reuse; NAN: none */
	uint64_t reuse_observations;
	struct manager_governing governing;
};

enum { MANAGER_CGROUPS_MAX = 32, MANAGER_CGROUP_NAME = 256 };

/* A control group whose members are tracked. */
struct manager_cgroup {
	char name[MANAGER_CGROUP_NAME];
	unsigned members, tracked;
	unsigned elsewhere; /* members of another pid namespace */
	int error;          /* negative errno: why not all are tracked; -ENOENT: it is not there; 0 */
};

/* Its last curve is kept for a while. */
static inline bool manager_has_ended(const struct manager_process *process)
{
	return strcmp(process->state, "exited") == 0;
}

enum { MANAGER_EVENTS_MAX = 8 };

/* One event of address samples, on all CPUs. seen is the sum of foreign (processes that are not
 * tracked), zero (no address), kernel, filtered (loads that hit), unreadable (its code was not there to be
 * decoded), delivered and lost. */
struct manager_event {
	char name[64], pmu[24];
	const char *source; /* the document its encoding is from */
	unsigned cpus, precise;
	bool misses_only;
	double period, starved; /* starved: share of the time in which others had the counter */
	uint64_t seen, foreign, zero, kernel, filtered, unreadable, delivered, lost;
	uint64_t unseen;    /* due by what the event counted, but never given to mtld */
	uint64_t throttled; /* times the kernel stopped it until the next tick */
};

struct manager_status {
	pid_t pid;
	double uptime_seconds;
	char rung[16];    /* of the ladder: "watchpoints" ...; "none" */
	char reason[320]; /* why this rung; with "none": what is missing */
	char fix[256];    /* what would help; "" when nothing is needed */
	char method[16];  /* "own-cpu" or "one-shot"; "" when none */
	unsigned slots;
	double trap_seconds, arm_seconds, switch_seconds, shift_seconds, resolution_seconds;
	double daemon_cpu; /* fraction of one core over the last seconds; NAN: not known yet */
	unsigned processes;
	uint64_t lost;
	struct manager_event events[MANAGER_EVENTS_MAX];
	unsigned n_events;
	char events_reason[320]; /* why one that was wanted is not there, and the fix; "" */
	double llc_ratio, reuse_difference; /* the worst of all processes; NAN: none has it */
	unsigned scored;                    /* processes with one of them */
	char reuse_reason[112]; /* why no reuse times are taken; "": they are, or nothing is tracked yet */
};

/* Never fails for want of privilege: then the rung is "none" and tracking says why. */
int manager_new(sd_event *event, const struct config *config, const char *root,
	struct manager **ret_manager);
struct manager *manager_free(struct manager *manager);

/*
 * 0, also when already tracked (idle_seconds is then updated; 0: never forget).
 * -ESRCH no such process; -ENOTSUP a kernel thread; -EUSERS max_processes reached;
 * -ENOSYS sampling impossible here (manager_status() has reason and fix); -EACCES this process is
 * not to be observed.
 */
int manager_track(struct manager *manager, pid_t pid, double idle_seconds);

/* -ENOENT: not tracked. -EBUSY: not on account of its number, but of a control group or the top. A member
 * of a group that is followed stays tracked, on that account. */
int manager_untrack(struct manager *manager, pid_t pid);

/*
 * Members of a control group, as they come and go: within a second. -ENOENT: there is no such group, or
 * it is not followed; -EOPNOTSUPP: it is threaded; -E2BIG: MANAGER_CGROUPS_MAX are followed; -ENOSYS.
 */
int manager_track_cgroup(struct manager *manager, const char *cgroup);
int manager_untrack_cgroup(struct manager *manager, const char *cgroup);
int manager_cgroup_at(struct manager *manager, unsigned index, struct manager_cgroup *ret_cgroup);

/* One process, or -ENOENT. */
int manager_process(struct manager *manager, pid_t pid, struct manager_process *ret_process);

/* The index'th tracked process, or -ENOENT at the end. Order is stable while nothing is tracked. */
int manager_process_at(struct manager *manager, unsigned index, struct manager_process *ret_process);

void manager_status(struct manager *manager, struct manager_status *ret_status);

/* It was asked for, so it is not forgotten for as long as was said. Nothing when not tracked. */
void manager_asked(struct manager *manager, pid_t pid);

/* This turn of the event loop is for a client. */
void manager_serves(struct manager *manager);

/* A turn of the event loop took so much CPU time, waking up and looking for events with it. One that
 * was for a client is not charged to max_daemon_cpu: sampling goes on whatever is asked. */
void manager_turn_over(struct manager *manager, double cpu_seconds);

/*
 * The curve now. In options only sizes, windows and reference_bytes are read (reference 0: the L2
 * size). -ENOENT not tracked; -ENODATA not enough observations yet; -EINVAL; -ENOMEM.
 */
int manager_curve(struct manager *manager, pid_t pid, const struct mtl_estimate_options *options,
	struct mtl_curve **ret_curve, struct mtl_curve_origin *ret_origin);

/* The last hour at these sizes, at most HISTORY_ASKED; none given: those of the caches. The caller frees
 * it. -ENOENT: not tracked; -ENOMEM. */
int manager_history(struct manager *manager, pid_t pid, const double *sizes, size_t n,
	struct mtl_history **ret_history);

/* Copies of the observations held, for --record; the caller frees both arrays. */
int manager_observations(struct manager *manager, pid_t pid, struct mtl_observation **ret_observations,
	size_t *ret_n, struct mtl_birth **ret_births, size_t *ret_n_births,
	struct mtl_curve_origin *ret_origin, struct mtl_estimate_options *ret_options);

#endif

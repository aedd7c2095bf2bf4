/* SPDX-License-Identifier: MIT */
#ifndef MTLD_TRACKED_H
#define MTLD_TRACKED_H

/*
 * One tracked process: its planner, its observations, its governor, and the state it is in. The
 * manager creates it, ticks it and passes it the events that concern it.
 */

#include <stdbool.h>
#include <stdint.h>
#include "backoff.h"
#include "births.h"
#include "config.h"
#include "deadlines.h"
#include "first_curve.h"
#include "governor.h"
#include "history_ring.h"
#include "instrument.h"
#include "manager.h"
#include "observation_store.h"
#include "phases.h"
#include "planner.h"
#include "rates.h"
#include "string_cost.h"
#include "tracked_reuse.h"

enum tracked_state { TRACKED_STARTING, TRACKED_SAMPLING, TRACKED_PAUSED, TRACKED_EXITED };

/* While the programs at context switches are stopped. */
struct tracked_rest {
	uint64_t kernel_ns; /* CPU time as the kernel had it when clock_ns was so */
	uint64_t clock_ns;
	uint64_t rested_ns; /* CPU time in all rests */
};

struct tracked {
	struct instrument *instrument;
	const struct config *config;
	const char *root;
	pid_t pid;
	uint32_t index, tgid;
	uint64_t start_ticks; /* proc_start_ticks() */
	uid_t uid;
	char comm[16];
	enum tracked_state state;
	char reason[96];
	int watch_error;         /* of opening watches: negative errno, 0: none */
	bool threads_changed;
	uint32_t execs; /* seen to */
	uint64_t clock_word; /* at the latest tick, */
	unsigned still;      /* and for how many ticks it has been that */
	bool begun;   /* how often it switches is known: it may be sampled */
	bool settled_once; /* since then */

	struct planner *planner;
	struct deadlines deadlines;
	double share;   /* of the pace it might have, at the latest tracked_settle() */
	double running; /* CPUs, likewise */
	double error;   /* of the latest curve, as a part of it; NAN: there was none */
	struct governor governor;
	struct string_cost string_cost;
	uint64_t code_due_ns; /* the next sample to be decoded, CLOCK_MONOTONIC */
	struct observation_store *store;
	struct phases phases;
	struct history_ring history; /* from tracking on, exec or not */
	struct sampler_counts counts;  /* latest */
	struct sampler_counts settled; /* at the latest call of tracked_settle() */
	uint64_t settled_wall_ns;

	uint64_t begin_wall_ns, begin_cpu_ns; /* of what the store holds: tracking or exec */
	uint64_t end_wall_ns;                 /* 0: still running */
	uint64_t survey_due_ns, stale_due_ns; /* CLOCK_MONOTONIC */
	uint64_t survey_took_ns;              /* so far, of the one under way */
	uint64_t check_due_ns;                /* threads and debugger, likewise */
	uint64_t faults_surveyed;
	double resident_at_end, unseen_at_end; /* bytes; the planner is gone then */
	double resident_at_first; /* pages, when the oldest observation kept was drawn */
	struct births births;
	struct rates rates; /* the manager follows them */
	struct tracked_reuse reuse;
	double observations_per_second;
	struct arrivals arrivals;
	struct tracked_rest rest;

	struct backoff backoff;
	struct self_check check;
	struct check_result checked; /* the latest; no unit: none yet */
	bool checking;               /* sampling is paused by the self-check */
	double waiting_ran, waiting_waited; /* seconds so far, at the latest look; NAN: none yet */

	double idle_seconds, asked_at; /* forget when nobody asked for so long; 0: never */
};

/* Begins to observe process pid in slot index. Errors as manager_track(). */
int tracked_new(struct instrument *instrument, const struct config *config, const char *root,
	pid_t pid, uint32_t index, struct tracked **ret_tracked);
struct tracked *tracked_free(struct tracked *tracked);

/* Some ten times a second: fetches observations, refills the sampler's candidates. Of a process that
 * has not run for a second nothing is asked any more until it runs: it could not have changed. */
void tracked_tick(struct tracked *tracked);

/* The same now, whether it has run or not. */
void tracked_refresh(struct tracked *tracked);

bool tracked_is_still(const struct tracked *tracked);

/* About once a second: pace, deadlines, threads, debugger. share: governor_share(). */
void tracked_settle(struct tracked *tracked, double share);

/* tracked_govern.c: what is left of a share of the pace, once a second of CPU time; ten times a second. */
double tracked_govern(struct tracked *tracked, double share);
void tracked_self_check(struct tracked *tracked);

/* An event of process_life.bpf.c. */
void tracked_life(struct tracked *tracked, const struct mtl_life *life);

/* The process has ended: what was seen is kept, the slot is given back. */
void tracked_exited(struct tracked *tracked);

/* Nothing of it is watched any more; the programs have been stopped: its clock follows the kernel's, with
 * every call of tracked_rest_on(); the programs run again. */
void tracked_lie_down(struct tracked *tracked);
void tracked_rest(struct tracked *tracked);
void tracked_rest_on(struct tracked *tracked);
void tracked_wake(struct tracked *tracked);

void tracked_describe(const struct tracked *tracked, struct manager_process *ret_process);

/* Gives the curve, of these options, its reuse times or the reason why there are none. */
int tracked_reuse_curve(const struct tracked *tracked, const struct mtl_estimate_options *options,
        struct mtl_curve *curve);

/* Fills in the origin, and in options what an estimate of this process needs. */
void tracked_origin(const struct tracked *tracked, double overhead_daemon,
	struct mtl_curve_origin *ret_origin);
/* Whether a sample of the clock is to be decoded: 200 a second are enough. */
bool tracked_wants_code(struct tracked *tracked);

/* What the store holds, for an estimate: the caller's to free. -ENOMEM. */
int tracked_observations(const struct tracked *tracked, struct mtl_observation **ret_observations,
	size_t *ret_n);
void tracked_options(const struct tracked *tracked, struct mtl_estimate_options *options);

#endif

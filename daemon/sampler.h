/* SPDX-License-Identifier: MIT */
#ifndef MTLD_SAMPLER_H
#define MTLD_SAMPLER_H

/*
 * The sampler watches lines: one armer thread a CPU arms what the planner drew, at moments of its
 * own, and turns the raw hits into observations. All functions may be called from the main thread;
 * the sampler's lock is held for microseconds only.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "candidate.h"
#include "mtl.h"
#include "source.h"
#include "visit.h"
#include "watch.h"

enum { SAMPLER_QUEUE = 32, SAMPLER_FINISHED = 256 };

/* Counts since a target was added. */
struct sampler_counts {
	uint64_t arms, hits, switches, traps, stray_traps, lost, faults;
	uint64_t busy;     /* moments that fell into a watch under way */
	uint64_t starved;  /* moments without a candidate */
	uint64_t refused;  /* the kernel refused to arm */
	uint64_t reborn;   /* watched pages that were faulted in anew */
	uint64_t samples;  /* addresses taken of it */
	uint64_t misses;   /* of these, known to be misses */
	uint64_t visits;   /* watches armed at the end of one; in arms too */
	uint64_t late;     /* of these, given up: live too long after its miss */
	uint64_t armed_ns; /* process CPU time while a watch was on */
	struct mtl_clock_samples clock[2]; /* while no watch was on, while one was (string_cost.h) */
	uint64_t woken;    /* moments in a slice of reuse times, and misses told: an armer woke */
	uint64_t armed_switches; /* context switches while a watch was on */
	unsigned threads, slots;
	int error;         /* latest error of opening or arming, negative errno, 0: none */
	uint64_t cpu_ns;   /* process clock */
	uint64_t rested_ns; /* of it, while the programs at switches were stopped; the caller's */
};

struct sampler;

/* realtime: ask for SCHED_FIFO; where it is refused the one-shot method is used. */
int sampler_new(struct source *source, bool realtime, struct sampler **ret_sampler);
struct sampler *sampler_free(struct sampler *sampler);

/* Armers for CPUs that have come online. About once a second. */
void sampler_follow_cpus(struct sampler *sampler);

enum watch_method sampler_method(const struct sampler *sampler);
void sampler_set_method(struct sampler *sampler, enum watch_method method);
/* Constant part of every measured time, subtracted from all: found by calibration. */
void sampler_set_shift(struct sampler *sampler, double shift_ns);

/* Takes process `index` (already tracked in the source) under observation. */
int sampler_add(struct sampler *sampler, uint32_t index, unsigned slots, unsigned length);
void sampler_remove(struct sampler *sampler, uint32_t index);

/* Opens events of new threads and closes those of ended ones; tids as in /proc/PID/task.
 * -ENOSPC: no debug register free. */
int sampler_threads(struct sampler *sampler, uint32_t index, const pid_t *tids, unsigned n);

/* Stops observing and closes all events (a debugger came); false starts again. */
void sampler_pause(struct sampler *sampler, uint32_t index, bool paused);

/* The same for a while and at a time of mtld's choosing: what is under way becomes an observation that
 * was watched until now. */
void sampler_rest(struct sampler *sampler, uint32_t index, bool resting);

/* Has every CPU switch once. */
void sampler_poke(struct sampler *sampler);

/* The watched memory is gone (exec): what is under way is thrown away. */
void sampler_forget(struct sampler *sampler, uint32_t index);

/* close_between: keep events closed between watches (for targets that switch very often). */
void sampler_set_pace(struct sampler *sampler, uint32_t index, double arms_per_cpu_second,
	bool close_between);

/* What visits are to be watched, from now on; once a tick what BPF is told of it. */
void sampler_ask_visits(struct sampler *sampler, uint32_t index, const struct visit_terms *terms);
void sampler_turn(struct sampler *sampler, uint32_t index);

/* Room in the candidate queue; offering more than that is -ENOBUFS. */
unsigned sampler_room(struct sampler *sampler, uint32_t index);
int sampler_offer(struct sampler *sampler, uint32_t index, const struct candidate *candidate);
void sampler_drop_candidates(struct sampler *sampler, uint32_t index);

/* Moves finished observations whose deadline has passed out, and where they looked (NULL: not wanted); returns how many. */
unsigned sampler_take(struct sampler *sampler, uint32_t index, struct mtl_observation *ret_observations,
	uint64_t *ret_addresses, unsigned n);

/* The same of visits, whose times count from their misses. */
unsigned sampler_take_visits(struct sampler *sampler, uint32_t index,
	struct mtl_observation *ret_observations, unsigned n);

void sampler_counts(struct sampler *sampler, uint32_t index, struct sampler_counts *ret_counts);

/* Sets every armer's pace to what the targets seen on its CPU ask for. Call about every 0.1 s. */
void sampler_pace_cpus(struct sampler *sampler);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_FLIGHT_H
#define MTLD_FLIGHT_H

/*
 * A flight is one watch from launch to landing; a target is a process as the sampler knows it. All
 * of it belongs to the sampler's lock.
 */

#include <stdbool.h>
#include <stdint.h>
#include "sampler.h"

#define NEVER UINT64_MAX

struct flight {
	bool armed;
	bool visit; /* armed at the end of one: times count from its miss */
	struct candidate candidate;
	uint64_t moment, wall;       /* process clock and CLOCK_MONOTONIC at arming; of a visit, at its miss */
	uint64_t busy_until;         /* process clock: the process is occupied until then */
	uint64_t touched[MTL_SLOTS]; /* process clock; NEVER: not yet */
	unsigned pending;            /* slots still on, bit mask */
	unsigned cpu;                /* whose armer sees to the deadline */
	uint64_t switches;           /* of the process at arming */
	unsigned naps;               /* deadline checks in a row that found the process asleep */
};

/* A bit a target, 1: in flight, or a visit waits. Armers go through these only, of 1024. */
struct flying {
	uint64_t bits[MTL_PROCESSES_MAX / 64];
};

/* Observations that nobody has taken yet. */
struct landed {
	struct mtl_observation seen[SAMPLER_FINISHED];
	uint64_t address[SAMPLER_FINISHED];
	unsigned n;
};

struct target {
	struct flying *flying;
	bool paused, resting, close_between;
	uint32_t index;
	struct source *source;
	struct mtl_process *process; /* shared with the BPF programs */
	struct watch watch;
	pid_t *tids;
	unsigned n_tids;
	double pace;     /* moments a CPU second */
	double shift_ns; /* constant part of every time */
	struct candidate queue[SAMPLER_QUEUE];
	unsigned head, queued;
	struct flight flight;
	struct visits visits;
	struct landed landed[2]; /* residual times, reuse times */
	uint64_t observations;
	struct sampler_counts counts;
};

/* Opens what events of its tids begin..end-1 are not open yet: 0 when at least one thread can be
 * watched. -ENOSPC, -EMFILE: some threads cannot be. */
int target_open(struct target *target, unsigned begin, unsigned end);
void target_close(struct target *target);

/* Arms the next candidate from `cpu`. The caller has made sure that there is one, and no flight. */
void target_launch(struct target *target, unsigned cpu);

/* A sampled miss: begins a visit, when it is the turn of one; `cpu` arms when it is over. */
void target_miss(struct target *target, const struct mtl_hit *miss, unsigned cpu);

/* The visit that waits is given up. */
void target_leave(struct target *target);

/* Arms for the visit that waits for `cpu`, if it is over, or tells when to look again (NEVER: none
 * waits). */
uint64_t target_see_to_visit(struct target *target, unsigned cpu);

/* Whether this moment of residual times is to be left to reuse times. */
bool target_yields(struct target *target);

/* Tells BPF whether misses may begin visits now. */
void target_turn(struct target *target);

/* Ends the flight, if there is one; keep: as an observation. */
void target_land(struct target *target, bool keep);

/* Of the observations that are finished, those whose deadline has passed, too: the newest may have been
 * touched early. */
unsigned target_due(const struct target *target, bool visits);

/* Ends the flight now, as if its deadline had been drawn so. Nothing about the line decides when that is, and
 * one that was touched early and has landed already is treated alike. */
void target_cut(struct target *target);

/* A trap of this target was delivered. */
void target_hit(struct target *target, const struct mtl_hit *hit);

/* Lands the flight whose deadline has passed (NEVER), or tells when to look again
 * (CLOCK_MONOTONIC). */
uint64_t target_see_to_deadline(struct target *target);

#endif

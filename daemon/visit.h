/* SPDX-License-Identifier: MIT */
#ifndef MTLD_VISIT_H
#define MTLD_VISIT_H

/*
 * Visits: a sampled miss begins one, and the watch that is armed when the visit is over sees the
 * gap that ends it. Decisions on plain structs; clocks are the process's, in ns, and all 64 bits of
 * it.
 */

#include <stdbool.h>
#include <stdint.h>
#include "candidate.h"
#include "event.h"
#include "slices.h"

/* What the main thread asks for. */
struct visit_terms {
	double quiet; /* seconds of CPU time from a miss to its watch; 0: no visits are watched */
	double part;  /* of the misses told, those that begin one, 0 .. 1 */
	double turns[2]; /* mean slices of residual and of reuse times, seconds of CPU time */
	struct planner_deadlines deadlines; /* from the miss on */
};

/* Those of one process; what is not said here is zero at first. */
struct visits {
	struct visit_terms terms;
	unsigned short random[3];
	struct slices slices; /* drawn while terms.quiet is not 0 */
	bool waiting;         /* for a visit to be over */
	uint64_t sampled;     /* when its miss was */
	uint64_t address;     /* where */
	double weight;        /* misses that it stands for */
	uint64_t deadline;    /* from the miss on, ns */
	unsigned cpu;         /* whose armer arms */
	unsigned naps;        /* looks in a row that found the process asleep */
};

/* New terms. Slices go on while visits are watched before and after. */
void visits_ask(struct visits *visits, const struct visit_terms *terms, uint64_t clock);

/* Whether that moment belongs to reuse times. */
bool visits_have_turn(struct visits *visits, uint64_t clock);

/* How long a watch may last that begins then, when `drawn` is its deadline: to the end of the slice
 * at most. 0: not worth beginning. */
uint64_t visits_deadline(const struct visits *visits, uint64_t clock, uint64_t drawn);

/* What BPF is to be told then: see mtl_counts.visit_part. */
uint32_t visits_part(struct visits *visits, uint64_t clock);

/* This miss begins a visit, which then waits for the armer of `cpu`. False: another waits, or it is
 * not their turn. */
bool visits_begin(struct visits *visits, const struct mtl_hit *miss, uint64_t clock, unsigned cpu);

/* ns until the visit that waits is over. */
int64_t visits_left(const struct visits *visits, uint64_t clock);

/* What to watch of it: `slots` words of the line, drawn at random, or all of it. */
struct candidate visits_candidate(struct visits *visits, unsigned slots, bool whole_line);

/* Whether a watch that went live then is too late for it. */
bool visits_late(const struct visits *visits, uint64_t clock);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_BIRTHS_H
#define MTLD_BIRTHS_H

/*
 * Births: lines that come into being while a process is observed. No earlier draw could have picked
 * them, so they are counted by page faults and added to the footprint.
 */

#include "event.h"
#include "observation_store.h"
#include "planner.h"

struct births {
	uint64_t faults;         /* of the process, when last noted */
	double lines;            /* born since births_begin() */
	double lines_per_fault;  /* learned from sampled addresses */
	double lines_elsewhere;  /* of these, where there was no page lately; likewise */
	double moment;           /* process CPU time, when last noted */
};

void births_begin(struct births *births, struct mtl_process *process);

/* Adds the faults since the last call to the series, and sets how often the BPF program tells one.
 * share: of how often that would be (0..1], where mtld is over its own bound. */
void births_note(struct births *births, struct mtl_process *process, double moment, double share,
	struct observation_store *store);

/* A fault's address was told: what kind of page came there? */
void births_learn(struct births *births, struct planner *planner, uint64_t address);

#endif

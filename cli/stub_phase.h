/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_PHASE_H
#define MTL_CLI_STUB_PHASE_H

#include <stdint.h>

#include "stub_file.h"

/* A row's phase with the memory it works on, which is its own. */
struct stub_phase {
	enum stub_pattern pattern;
	uint64_t working_set_bytes, stride_bytes, repeats;
	uint64_t *memory;
	uint64_t random; /* state of the random pattern, which goes on from run to run */
	uint64_t hash;
};

/*
 * Maps the working set and touches every page of it. Two phases of the same row, in whatever
 * process, make the same accesses. -ENOMEM.
 */
int stub_phase_new(const struct stub_row *row, uint64_t seed, struct stub_phase *ret_phase);
void stub_phase_done(struct stub_phase *phase);

/* All accesses of a phase: reads of aligned 8-byte words. */
void stub_phase_run(struct stub_phase *phase);
/* The same accesses told of one by one. */
void stub_phase_tell(struct stub_phase *phase,
        void (*access)(void *context, const volatile uint64_t *word), void *context);

#endif

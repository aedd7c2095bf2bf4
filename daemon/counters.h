/* SPDX-License-Identifier: MIT */
#ifndef MTLD_COUNTERS_H
#define MTLD_COUNTERS_H

/*
 * The counters that run while something is tracked: memory accesses and misses of L1, L2 and LLC,
 * on every CPU; bpf/process_count.bpf.c tells which process it was.
 */

#include "pmu.h"
#include "source.h"

/* Kinds of counts, as bpf/event.h numbers them. */
enum counter_kind {
	COUNTER_LOADS,
	COUNTER_STORES,
	COUNTER_ACCESSES, /* loads and stores in one */
	COUNTER_L1_MISSES,
	COUNTER_L2_MISSES,
	COUNTER_LLC_MISSES,
	N_COUNTERS,
};

_Static_assert((int)N_COUNTERS == MTL_COUNTERS, "one kind each");

struct counters;

/*
 * Takes the counted ones of the events given (copied), opens none. accesses: loads and stores too,
 * not misses alone. With nothing to count, or where the program is refused, there is nothing to do
 * later either. -ENOMEM.
 */
int counters_new(struct source *source, const struct pmu_event *events, unsigned n, bool accesses,
        struct counters **ret_counters);
struct counters *counters_free(struct counters *counters);

/* Something is tracked (and source_attach() called): opens and turns on what there is. Nothing is
 * any more. A CPU that refuses counts nothing. */
void counters_begin(struct counters *counters);
/* What reading them takes of a target at a switch in and out, measured in the first second; 0: not known. */
double counters_switch_seconds(const struct counters *counters);

/* After source_clock_stop() and source_clock_start(). */
void counters_resume(struct counters *counters);
void counters_rest(struct counters *counters);

/* Follows CPUs that come and go. About once a second. */
void counters_follow(struct counters *counters);

/* Bit mask of the kinds that count on some CPU now. */
unsigned counters_kinds(const struct counters *counters);

#endif

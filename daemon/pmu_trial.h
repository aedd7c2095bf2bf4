/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PMU_TRIAL_H
#define MTLD_PMU_TRIAL_H

/* Whether an event keeps what the files promise, tried on this very process. */

#include "ladder.h"

/*
 * Opens the event on a CPU of its PMU as mtld would for its work, touches memory there and looks at
 * what comes: a sampled event has to tell addresses of that memory, a counted one at least half of
 * the accesses made (misses: at least one). A few milliseconds; the thread's CPU affinity is put
 * back.
 */
void pmu_trial(const struct pmu_machine *machine, const struct pmu_event *event,
        struct ladder_outcome *ret_outcome);

#endif

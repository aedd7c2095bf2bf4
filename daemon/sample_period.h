/* SPDX-License-Identifier: MIT */
#ifndef MTLD_SAMPLE_PERIOD_H
#define MTLD_SAMPLE_PERIOD_H

/* How far apart samples of an event are. Pure decisions on plain numbers. */

#include "pmu.h"

#define SAMPLE_PERIOD_MAX 0x7fffffffULL /* what every counter can hold */

/* The nearest period not below `wanted` that the event accepts: prime, or a prime times
 * period_step, and at least least_period; 1 where every event is a sample. */
uint64_t sample_period_near(const struct pmu_event *event, double wanted);

/*
 * The period after samples came at `rate` a second with `period`, when `most` a second are
 * affordable. Too many: lengthened at once, as far as it takes. Fewer than half: shortened, by four
 * at most.
 */
uint64_t sample_period_next(
        const struct pmu_event *event, uint64_t period, double rate, double most);

/* Samples a second of one CPU's time that cost `part` of it, at sample_seconds each. */
double sample_rate_affordable(double part, double sample_seconds);

#endif

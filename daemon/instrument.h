/* SPDX-License-Identifier: MIT */
#ifndef MTLD_INSTRUMENT_H
#define MTLD_INSTRUMENT_H

/*
 * The measuring instrument as a whole: source, sampler and calibration, and the rung of the ladder it
 * stands on, or the reason why there is none here. Found once at start; `mtld --self-test` shows the
 * same.
 */

#include "calibration.h"
#include "config.h"
#include "ladder.h"
#include "pmu.h"
#include "sampler.h"
#include "source.h"
#include "tracked_reuse.h"

struct instrument {
	struct source *source;   /* NULL: no sampling here */
	struct sampler *sampler;
	struct calibration calibration;
	unsigned running; /* processes tracked that do something */
	double awake; /* share of the time in which the programs at switches run: duty.h */
	double l2_bytes, last_cache_bytes; /* of this machine; 0: unknown */
	struct pmu_machine *machine; /* NULL, and without events: its /proc/cpuinfo is hidden */
	struct pmu_event *events;
	unsigned n_events;
	struct ladder ladder;
	struct reuse_ability reuse; /* of the events in use */
};

/* Always succeeds but for -ENOMEM; instrument->source tells whether sampling works. */
int instrument_new(const struct config *config, const char *root, struct instrument **ret_instrument);
struct instrument *instrument_free(struct instrument *instrument);

const char *instrument_method(const struct instrument *instrument);

/* The rung it stands on: "watchpoints"; "none": there is none. And the one that explains the choice. */
const char *instrument_rung(const struct instrument *instrument);
const struct rung *instrument_decisive(const struct instrument *instrument);

#endif

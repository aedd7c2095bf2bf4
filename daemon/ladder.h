/* SPDX-License-Identifier: MIT */
#ifndef MTLD_LADDER_H
#define MTLD_LADDER_H

/*
 * The ladder: the ways of measuring, best first, whether each works here, and if not, the true
 * reason and the fix. Every rung but the last needs the watchpoints too.
 */

#include <stdbool.h>
#include <stddef.h>
#include "pmu.h"

enum rung_index { RUNG_PEBS, RUNG_IBS, RUNG_COUNTERS, RUNG_WATCHPOINTS, RUNG_NONE, N_RUNGS };

struct rung {
	const char *name;
	bool works;
	char reason[320]; /* why, or why not */
	char fix[256];    /* what would make it work; "": nothing would, or nothing is needed */
	char gain[288];   /* what it gives beyond the rungs below; "": never to be had here */
	bool proven;      /* it has been run on hardware, ever */
};

struct ladder {
	struct rung rungs[N_RUNGS];
	enum rung_index chosen;   /* RUNG_NONE: sampling is impossible */
	enum rung_index decisive; /* whose reason and fix explain the choice */
};

/* What was found out by trying; NULL members of struct ladder_facts: it was not tried. */
struct ladder_outcome {
	bool works;
	char reason[320], fix[256];
};

struct ladder_facts {
	const struct pmu_machine *machine;
	const struct pmu_event *events;
	unsigned n_events;
	const struct ladder_outcome *watchpoints;
	/* opens the event and samples or counts with it; called for what the files promise */
	void (*trial)(const struct pmu_machine *machine, const struct pmu_event *event,
	        struct ladder_outcome *ret_outcome);
	const char *unused[N_RUNGS]; /* why the daemon makes no use of it; NULL: it does */
};

/* The rung of that name ("pebs", "ibs", "counters", "watchpoints"), N_RUNGS: there is none to
 * choose. */
enum rung_index ladder_rung_named(const char *name);

/*
 * Judges every rung and chooses the highest that works and is in use; `forced` other than N_RUNGS:
 * that one or none. Of a dump (facts->machine->dump) only the files are asked, and the reasons say
 * so.
 */
void ladder_judge(
        const struct ladder_facts *facts, enum rung_index forced, struct ladder *ret_ladder);

#endif

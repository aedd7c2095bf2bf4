/* SPDX-License-Identifier: MIT */
#ifndef MTLD_GOVERNOR_H
#define MTLD_GOVERNOR_H

/*
 * The governor turns what acts cost (calibration) and what happened (counts) into how often a
 * process may be sampled. Pure decisions on plain structs.
 */

#include <stdbool.h>
#include "calibration.h"
#include "sampler.h"

struct governor_prices {
	double arm, trap, moment, switch_on, switch_open; /* seconds of the target's time */
	double sample; /* of an address */
	double clock; /* one switch in and out, in the programs that run at switches */
	double open; /* opening and closing the events around one watch */
	double watched; /* of a second in which a watch is on */
};

/* One process's pace and what it was decided from. */
struct governor {
	double overhead;     /* estimated fraction of the target's CPU time; NAN: not known yet */
	double cost;         /* seconds per arm, smoothed; 0: not known yet */
	double pace;         /* watches a CPU second, within bounds */
	double fixed;        /* of that, what does not depend on how long they are; likewise */
	double timed;        /* what a second costs in which a watch is on, of a second of its time */
	double watches;      /* a CPU second that the budget pays for; 0: not known yet */
	double switching;    /* what switches take of its CPU time while the clock runs */
	double sample_rate;  /* address samples a CPU second, of late */
	bool close_between;  /* events closed between watches */
};

struct governor_prices governor_prices(const struct calibration *calibration);

/* The moments a CPU second, at random, of which so many find the process not being watched. */
double governor_moments(double pace, double watch_seconds);

/* What a watch of no length costs if every slot is hit, seconds. */
double governor_short_watch(const struct governor_prices *prices);

/* What a second costs in which a watch is on, of a process that switches so often a second. */
double governor_timed(const struct governor_prices *prices, double switches);

/* The pace to begin with, of a process that switches `switches` times a CPU second and would be watched
 * for watch_seconds at a time; as if every slot were to be hit. */
void governor_begin(struct governor *governor, const struct governor_prices *prices,
	double max_overhead, double switches, double watch_seconds);

/*
 * After `cpu_seconds` of the target in which `delta` happened. `share` (0..1] scales the pace down
 * when mtld itself is over its own budget.
 */
void governor_update(struct governor *governor, const struct governor_prices *prices,
	const struct sampler_counts *delta, double cpu_seconds, double max_overhead, double share);

/*
 * The share of the pace that keeps mtld's own CPU use under max_daemon_cpu, by that of the latest
 * second and that of those before it (NAN: there were none).
 */
double governor_share(double share, double latest, double before, double max_daemon_cpu);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_RATES_H
#define MTLD_RATES_H

/*
 * What a process does a second of its CPU time: memory accesses and cache misses, from counters and
 * from address samples. Pure functions on plain structs.
 */

#include "counters.h"
#include "manager.h"

/* Of late: sums that decay by the window. */
struct rates {
	double value[N_COUNTERS];   /* events counted */
	double seconds[N_COUNTERS]; /* of CPU time, in which they were counted */
	double sampled;             /* accesses that samples stand for */
	double sampled_seconds;     /* of CPU time, in which samples could come */
	bool followed;              /* the two below are known */
	double at;                  /* process clock of the latest reading, seconds */
	struct mtl_counts latest;
};

/* Accesses that samples stand for are these times as many as the kernel gave. */
struct rates_sampling {
	bool accesses;  /* there are samples that stand for accesses */
	double unseen;  /* samples that were due and never came, for each that came */
	double starved; /* of the time, the share in which others had the counter */
};

/* From one reading of the counts to the next, cpu_seconds of the process clock apart, with a window
 * of so many seconds (0: nothing decays). */
void rates_add(struct rates *rates, const struct mtl_counts *from, const struct mtl_counts *to,
        double cpu_seconds, double window_seconds, const struct rates_sampling *sampling);

/* The same from the latest reading to this one, at `at` seconds of the process clock; the first one
 * only begins. What is zeroed begins anew. */
void rates_follow(struct rates *rates, const struct mtl_counts *now, double at,
        double window_seconds, const struct rates_sampling *sampling);

/* Per second of CPU time; NAN: not counted, or too little of it yet. */
double rates_of(const struct rates *rates, enum counter_kind kind);

/* Loads and stores together, counted, else sampled; NAN also when there was none. */
double rates_of_accesses(const struct rates *rates);

/* All of them. */
struct manager_rates rates_tell(const struct rates *rates);
void rates_tell_origin(const struct rates *rates, struct mtl_curve_origin *origin);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_TRACKED_REUSE_H
#define MTLD_TRACKED_REUSE_H

/*
 * Reuse times of a tracked process, sampled at misses: what this machine can tell of misses, what
 * was seen, and how the curve agrees with it and with counted misses.
 */

#include "mtl.h"
#include "observation_store.h"

/* How many misses there are is known from a counter; the stand-in counts itself. */
enum reuse_means { REUSE_NONE, REUSE_COUNTED, REUSE_FAULTS };

/* Of this machine, as the events in use are. */
struct reuse_ability {
	enum reuse_means means;
	double l1_bytes;
	char reason[112]; /* why none */
};

/* The latest scores; NAN: none. */
struct reuse_scores {
	double llc_ratio;  /* predicted / counted misses of the last-level cache */
	double difference; /* between residual and reuse times, struct mtl_reuse */
};

struct tracked_reuse {
	struct observation_store *store; /* of reuse times; NULL: none were asked for */
	double quiet;                    /* from a miss to its watch, seconds; 0: not decided */
	double cache_bytes;              /* filled within quiet; 0: not known */
	struct reuse_scores scores;
	unsigned wait; /* seconds of its CPU time until they are looked at again */
};

#endif

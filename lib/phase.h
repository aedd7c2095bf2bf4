/* SPDX-License-Identifier: MIT */
#ifndef MTL_PHASE_H
#define MTL_PHASE_H

/* Observations -> is the program another one than it was? */

#include "mtl.h"

/* Stretches of time that observations are added up in; a change is told to one of them. */
#define PHASE_BINS 240
/* A change is looked for where at least so many stretches lie before it and after it, */
#define PHASE_BINS_LEAST 8
/* and so many observations, which is what a curve of either side needs. */
#define PHASE_OBSERVATIONS_LEAST MTL_OBSERVATIONS_NEEDED

struct mtl_phase_options {
	double begin,
	        now; /* process CPU time that is looked at; observations before are left out */
	double span; /* longest stretch that is compared, > 0: PHASE_BINS bins of it */
	double false_alarms; /* chance that this look tells of a change that is none, 0 < it < 1 */
};

struct mtl_phase {
	bool changed;
	double moment;      /* CPU time from which on all is the new phase; NAN: no change */
	double probability; /* of a difference as great as the greatest one found, if all is alike
	                     */
	/* Lines touched within `window`, as watched words tell, where that differs most; NAN: no
	 * change, or too few that were watched so long. */
	double window, before, after;
	/* How much more the observations since `begin`, or since the change, scatter from bin to
	 * bin than independent ones would, 1: no more. */
	double dispersion;
};

/*
 * Compares what came before and after every moment. -EINVAL: an option or observation that cannot
 * be. -ENOMEM. Too few observations are no change.
 */
int mtl_phase_from_observations(const struct mtl_observation *observations, size_t n,
        const struct mtl_phase_options *options, struct mtl_phase *ret_phase);

#endif

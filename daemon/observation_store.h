/* SPDX-License-Identifier: MIT */
#ifndef MTLD_OBSERVATION_STORE_H
#define MTLD_OBSERVATION_STORE_H

/*
 * What was seen of one process, in bounded memory: a ring of observations (256 KiB) and a series of
 * births. The oldest give way.
 */

#include <stddef.h>
#include "mtl.h"

enum { STORE_OBSERVATIONS = 4096, STORE_BIRTHS = 1024 };

struct observation_store {
	struct mtl_observation observations[STORE_OBSERVATIONS];
	struct mtl_birth births[STORE_BIRTHS];
	size_t n_observations, next_observation; /* ring */
	size_t n_births;                         /* in order of time, compacted when full */
	uint64_t total;                          /* observations ever stored since the last clear */
};

void store_clear(struct observation_store *store);
/* Forgets what was seen, but counts on. */
void store_forget(struct observation_store *store);
void store_add(struct observation_store *store, const struct mtl_observation *observations, size_t n);

/* The births so far, at that moment. Moments must not decrease. When the series is full every other
 * point of its older half goes. */
void store_add_birth(struct observation_store *store, double moment, double lines);

/* Drops what is older than `oldest` (process CPU time). */
void store_expire(struct observation_store *store, double oldest);

/* The observations in order of time, copied to ret_observations (room for STORE_OBSERVATIONS). */
size_t store_observations(const struct observation_store *store, struct mtl_observation *ret_observations);

#endif

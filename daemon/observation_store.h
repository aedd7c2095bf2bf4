/* SPDX-License-Identifier: MIT */
#ifndef MTLD_OBSERVATION_STORE_H
#define MTLD_OBSERVATION_STORE_H

/*
 * What was seen of one process, in bounded memory: a ring of observations that grows as they come
 * (512 KiB at most) and a series of births. The oldest give way.
 */

#include <stddef.h>
#include "mtl.h"

enum { STORE_OBSERVATIONS = 8192, STORE_BIRTHS = 1024 };

struct observation_store {
	struct mtl_observation *observations; /* ring, room for `room` */
	size_t n_observations, next_observation, room;
	struct mtl_birth births[STORE_BIRTHS];
	size_t n_births;                         /* in order of time, compacted when full */
	uint64_t total;                          /* observations ever stored since the last clear */
};

/* A store begins as zeroes, and is empty. */
void store_done(struct observation_store *store);
void store_clear(struct observation_store *store);
/* Forgets what was seen, but counts on. */
void store_forget(struct observation_store *store);
/* Where there is no memory to grow, the oldest give way already. */
void store_add(struct observation_store *store, const struct mtl_observation *observations, size_t n);

/* The births so far, at that moment. Moments must not decrease. When the series is full every other
 * point of its older half goes. */
void store_add_birth(struct observation_store *store, double moment, double lines);

/* Drops what is older than `oldest` (process CPU time). */
void store_expire(struct observation_store *store, double oldest);

/* The observations in order of time, the caller's to free; 0 or -ENOMEM. */
int store_copy(const struct observation_store *store, struct mtl_observation **ret_observations, size_t *ret_n);

#endif

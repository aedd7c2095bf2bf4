// SPDX-License-Identifier: MIT
/*
 * Bounded memory for what was seen. Observations weigh exp(-age / window) in an estimate, so those
 * older than a few windows can go; the ring's size bounds them anyway. It doubles while nothing in it is
 * that old, so that a process watched now and then takes little. Births are a cumulative
 * series that is interpolated, so thinning its old half loses detail, never births.
 */
#include "observation_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256

void store_done(struct observation_store *store)
{
	free(store->observations);
	*store = (struct observation_store){0};
}

void store_forget(struct observation_store *store)
{
	store->n_observations = store->next_observation = store->n_births = 0;
}

void store_clear(struct observation_store *store)
{
	store_forget(store);
	store->total = 0;
}

static size_t oldest_index(const struct observation_store *store)
{
	return (store->next_observation + store->room - store->n_observations) % store->room;
}

/* Those in the ring, in order of time. */
static void unroll(const struct observation_store *store, struct mtl_observation *ret_observations)
{
	for (size_t i = 0; i < store->n_observations; i++)
		ret_observations[i] = store->observations[(oldest_index(store) + i) % store->room];
}

static void grow(struct observation_store *store)
{
	size_t room = store->room ? 2 * store->room : FIRST_ROOM;
	struct mtl_observation *larger = malloc(room * sizeof(*larger));

	if (!larger)
		return;
	unroll(store, larger);
	free(store->observations);
	store->observations = larger;
	store->next_observation = store->n_observations;
	store->room = room;
}

void store_add(struct observation_store *store, const struct mtl_observation *observations, size_t n)
{
	store->total += n;
	for (size_t i = 0; i < n; i++) {
		if (store->n_observations == store->room && store->room < STORE_OBSERVATIONS)
			grow(store);
		if (store->room == 0)
			return;
		store->observations[store->next_observation] = observations[i];
		store->next_observation = (store->next_observation + 1) % store->room;
		if (store->n_observations < store->room)
			store->n_observations++;
	}
}

static void thin_births(struct observation_store *store)
{
	size_t kept = 0;

	for (size_t i = 0; i < store->n_births; i++)
		if (i >= STORE_BIRTHS / 2 || i % 2 == 0)
			store->births[kept++] = store->births[i];
	store->n_births = kept;
}

void store_add_birth(struct observation_store *store, double moment, double lines)
{
	if (store->n_births == STORE_BIRTHS)
		thin_births(store);
	store->births[store->n_births++] = (struct mtl_birth){.moment = moment, .lines = lines};
}

void store_expire(struct observation_store *store, double oldest)
{
	size_t gone = 0;

	while (store->n_observations > 0 &&
		store->observations[oldest_index(store)].moment < oldest)
		store->n_observations--;
	while (gone + 1 < store->n_births && store->births[gone + 1].moment < oldest)
		gone++;
	store->n_births -= gone;
	memmove(store->births, store->births + gone, store->n_births * sizeof(store->births[0]));
}

int store_copy(const struct observation_store *store, struct mtl_observation **ret_observations, size_t *ret_n)
{
	struct mtl_observation *copy = malloc((store->n_observations + 1) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	unroll(store, copy);
	*ret_observations = copy;
	*ret_n = store->n_observations;
	return 0;
}

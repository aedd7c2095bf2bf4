// SPDX-License-Identifier: MIT
/*
 * Bounded memory for what was seen. Observations weigh exp(-age / window) in an estimate, so those
 * older than a few windows can go; the ring's size bounds them anyway. Births are a cumulative
 * series that is interpolated, so thinning its old half loses detail, never births.
 */
#include "observation_store.h"

#include <string.h>

void store_forget(struct observation_store *store)
{
	store->n_observations = store->next_observation = store->n_births = 0;
}

void store_clear(struct observation_store *store)
{
	store_forget(store);
	store->total = 0;
}

void store_add(struct observation_store *store, const struct mtl_observation *observations, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		store->observations[store->next_observation] = observations[i];
		store->next_observation = (store->next_observation + 1) % STORE_OBSERVATIONS;
		if (store->n_observations < STORE_OBSERVATIONS)
			store->n_observations++;
	}
	store->total += n;
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

static size_t oldest_index(const struct observation_store *store)
{
	return (store->next_observation + STORE_OBSERVATIONS - store->n_observations) %
		STORE_OBSERVATIONS;
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

size_t store_observations(const struct observation_store *store, struct mtl_observation *ret_observations)
{
	size_t first = oldest_index(store);

	for (size_t i = 0; i < store->n_observations; i++)
		ret_observations[i] = store->observations[(first + i) % STORE_OBSERVATIONS];
	return store->n_observations;
}

/* SPDX-License-Identifier: MIT */
/*
 * One pass over a trace: the reuse time of every access, into a histogram, and when each datum came
 * first. When each was accessed last is what the table holds at the end.
 *
 * The table is too big for the caches, so that data are looked up some accesses after their slots
 * have been prefetched: the pass is bound by the histogram, not by memory.
 */

#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define AHEAD 24 /* accesses between prefetch and use */

DEFINE_CLEANUP(struct mtl_profile, mtl_profile_free)

int mtl_profile_new(uint64_t memory_bytes, struct mtl_profile **ret_profile)
{
	_cleanup_(mtl_profile_freep) struct mtl_profile *profile = calloc(1, sizeof(*profile));
	uint64_t rest = memory_bytes - sizeof(*profile);

	if (!profile || (memory_bytes && memory_bytes <= sizeof(*profile)))
		return -ENOMEM;
	if (mtl_last_access_init(&profile->last, memory_bytes ? rest : 0) < 0)
		return -ENOMEM;
	*ret_profile = TAKE_PTR(profile);
	return 0;
}

struct mtl_profile *mtl_profile_free(struct mtl_profile *profile)
{
	if (!profile)
		return NULL;
	mtl_last_access_done(&profile->last);
	free(profile);
	return NULL;
}

static int access_one(struct mtl_profile *p, uint64_t datum, uint64_t *ret_time)
{
	struct mtl_last_slot *slot = mtl_last_access_slot(&p->last, datum);
	uint64_t now = p->accesses + 1;

	if (!slot)
		return -ENOMEM;
	p->accesses = now;
	if (slot->time) {
		*ret_time = now - slot->time;
		mtl_histogram_count(&p->reuse_times, now - slot->time);
	} else {
		*ret_time = MTL_NEVER;
		p->reuse_times.infinite++;
		mtl_histogram_add(&p->first_times, now, 1);
	}
	slot->time = now;
	return 0;
}

int mtl_profile_access(
        struct mtl_profile *profile, const uint64_t *data, size_t n, uint64_t *ret_times)
{
	uint64_t time;
	int r = 0;

	profile->reuse_times.settled = false;
	for (size_t i = 0; i < n && i < AHEAD; i++)
		mtl_last_access_prefetch(&profile->last, data[i]);
	for (size_t i = 0; i < n && r == 0; i++) {
		if (i + AHEAD < n)
			mtl_last_access_prefetch(&profile->last, data[i + AHEAD]);
		r = access_one(profile, data[i], ret_times ? &ret_times[i] : &time);
	}
	return r;
}

uint64_t mtl_profile_accesses(const struct mtl_profile *profile)
{
	return profile->accesses;
}

uint64_t mtl_profile_distinct(const struct mtl_profile *profile)
{
	return profile->last.used;
}

uint64_t mtl_profile_bytes(const struct mtl_profile *profile)
{
	return sizeof(*profile) + profile->last.peak;
}

struct mtl_histogram *mtl_profile_reuse_times(struct mtl_profile *profile)
{
	return &profile->reuse_times;
}

struct mtl_histogram *mtl_profile_first_times(struct mtl_profile *profile)
{
	return &profile->first_times;
}

struct mtl_histogram *mtl_profile_last_times(struct mtl_profile *profile)
{
	struct mtl_last_cursor cursor = {0};
	const struct mtl_last_slot *slot;

	if (profile->last_times_at == profile->accesses)
		return &profile->last_times;
	mtl_histogram_clear(&profile->last_times);
	while ((slot = mtl_last_access_next(&profile->last, &cursor)))
		mtl_histogram_add(&profile->last_times, profile->accesses - slot->time + 1, 1);
	profile->last_times_at = profile->accesses;
	return &profile->last_times;
}

double mtl_profile_survival(struct mtl_profile *profile, double x)
{
	return (mtl_histogram_above(&profile->reuse_times, x) + (double)profile->last.used) /
	       (double)profile->accesses;
}

void mtl_profile_lines_in_sets(
        const struct mtl_profile *profile, uint64_t sets, uint64_t *ret_lines_in_set)
{
	struct mtl_last_cursor cursor = {0};
	const struct mtl_last_slot *slot;

	memset(ret_lines_in_set, 0, sets * sizeof(*ret_lines_in_set));
	while ((slot = mtl_last_access_next(&profile->last, &cursor)))
		ret_lines_in_set[slot->datum % sets]++;
}

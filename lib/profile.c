/* SPDX-License-Identifier: MIT */
/*
 * One pass over a trace: the reuse time of every access, into a histogram, and when each datum came
 * first. When each was accessed last is what the table holds at the end.
 * */

#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define BLOCK 1024

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

/* Times of previous accesses, 0 for none, to reuse times. */
static void count(struct mtl_profile *p, size_t n, uint64_t *times)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t now = ++p->accesses;

		if (times[i]) {
			times[i] = now - times[i];
			mtl_histogram_count(&p->reuse_times, times[i]);
		} else {
			times[i] = MTL_NEVER;
			p->reuse_times.infinite++;
			mtl_histogram_add(&p->first_times, now, 1);
		}
	}
}

int mtl_profile_access(
        struct mtl_profile *profile, const uint64_t *data, size_t n, uint64_t *ret_times)
{
	uint64_t block[BLOCK];

	profile->reuse_times.settled = false;
	for (size_t from = 0, done, asked; from < n; from += done) {
		uint64_t *times = ret_times ? ret_times + from : block;

		asked = n - from < BLOCK ? n - from : BLOCK;
		done = mtl_last_access_renew(
		        &profile->last, data + from, asked, profile->accesses + 1, times);
		count(profile, done, times);
		if (done < asked)
			return -ENOMEM;
	}
	return 0;
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
	uint64_t datum, *time;

	if (profile->last_times_at == profile->accesses)
		return &profile->last_times;
	mtl_histogram_clear(&profile->last_times);
	while (mtl_last_access_next(&profile->last, &cursor, &datum, &time))
		mtl_histogram_add(&profile->last_times, profile->accesses - *time + 1, 1);
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
	uint64_t datum, *time;

	memset(ret_lines_in_set, 0, sets * sizeof(*ret_lines_in_set));
	while (mtl_last_access_next(&profile->last, &cursor, &datum, &time))
		ret_lines_in_set[datum % sets]++;
}

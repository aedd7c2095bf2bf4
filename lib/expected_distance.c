/* SPDX-License-Identifier: MIT */
/*
 * Expected stack distance (StatStack; patent CN105677584B). Of the r accesses from the previous one
 * to a datum up to the one before its reuse, those are counted that are the last to their datum in
 * that interval: the one i before its end is, if its next access is more than i later. So
 *
 *     ES(r) = sum of P(rt > i),  0 <= i < r,
 *
 * which is the working-set size s(r) of Denning and Schwartz: StatStack and the average eviction
 * time are the same estimate, and a miss, ES(r) > c, is a reuse time beyond the eviction time.
 */

#include <math.h>
#include "profile.h"

double mtl_expected_distance(struct mtl_profile *profile, double reuse_time)
{
	return mtl_profile_footprint(profile, MTL_DENNING_SCHWARTZ, reuse_time);
}

/* The greatest reuse time that still hits; ES never falls with it. */
static uint64_t longest_hit(struct mtl_profile *profile, double lines)
{
	uint64_t hit = 0, miss = profile->accesses; /* no reuse time is as long as the trace */

	while (miss - hit > 1) {
		uint64_t middle = hit + (miss - hit) / 2;

		if (mtl_expected_distance(profile, (double)middle) > lines)
			miss = middle;
		else
			hit = middle;
	}
	return hit;
}

double mtl_miss_ratio_by_expected_distance(struct mtl_profile *profile, double lines)
{
	if (lines >= (double)profile->last.used)
		lines = INFINITY;
	return profile->accesses
	               ? mtl_profile_survival(profile, (double)longest_hit(profile, lines))
	               : NAN;
}

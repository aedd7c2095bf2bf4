/* SPDX-License-Identifier: MIT */
/*
 * From footprints to caches: the time in which c lines are filled, and what misses afterwards.
 *
 *     fill time          fp(ft(c)) = c
 *     differentiation    mr(c) = fp(x + 1) - fp(x)  at  fp(x) = c
 *     reuse time         mr(c) = P(rt > ft(c))
 *     eviction time      s(T) = c,  mr(c) = P(rt > T)      s is the integral of P(rt > t)
 *     Easton and Fagin   ft(c_j) = sum (c_{i+1} - c_i) / mr(c_i)
 *
 * The fill time is found by halving windows down to whole ones, between which footprints are
 * linear; fp never falls with the window, so there is one. At and beyond m lines there is none.
 */

#include <errno.h>
#include <math.h>
#include "profile.h"

static double cold(const struct mtl_profile *p)
{
	return p->accesses ? (double)p->last.used / (double)p->accesses : NAN;
}

static bool holds_all(const struct mtl_profile *profile, double lines)
{
	return lines >= (double)profile->last.used;
}

double mtl_profile_fill_time(
        struct mtl_profile *profile, enum mtl_footprint_kind kind, double lines)
{
	uint64_t low = 0, high = profile->accesses;

	if (holds_all(profile, lines))
		return INFINITY;
	if (mtl_profile_footprint(profile, kind, 0) >= lines)
		return 0;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (mtl_profile_footprint(profile, kind, (double)middle) < lines)
			low = middle;
		else
			high = middle;
	}
	double from = mtl_profile_footprint(profile, kind, (double)low);
	double to = mtl_profile_footprint(profile, kind, (double)high);
	return (double)low + (to > from ? fmin((lines - from) / (to - from), 1) : 1);
}

double mtl_miss_ratio_by_differentiation(
        struct mtl_profile *profile, enum mtl_footprint_kind kind, double lines)
{
	double x = mtl_profile_fill_time(profile, kind, lines);

	if (isinf(x))
		return cold(profile);
	return mtl_profile_footprint(profile, kind, x + 1) -
	       mtl_profile_footprint(profile, kind, x);
}

double mtl_miss_ratio_by_reuse_time(
        struct mtl_profile *profile, enum mtl_footprint_kind kind, double lines)
{
	double time = mtl_profile_fill_time(profile, kind, lines);

	return isinf(time) ? cold(profile) : mtl_profile_survival(profile, time);
}

double mtl_profile_eviction_time(struct mtl_profile *profile, double lines)
{
	return mtl_profile_fill_time(profile, MTL_DENNING_SCHWARTZ, lines);
}

double mtl_miss_ratio_by_eviction_time(struct mtl_profile *profile, double lines)
{
	return mtl_miss_ratio_by_reuse_time(profile, MTL_DENNING_SCHWARTZ, lines);
}

double mtl_inter_miss_time(double miss_ratio)
{
	return 1 / miss_ratio;
}

double mtl_residence_time(double lines, double miss_ratio)
{
	return lines / miss_ratio;
}

int mtl_fill_times_from_miss_ratios(
        const double *lines, const double *miss_ratios, size_t n, double *ret_times)
{
	double time = 0, from = 0, ratio = 1;

	for (size_t i = 0; i < n; i++)
		if (!(lines[i] > (i ? lines[i - 1] : 0)) ||
		        !(miss_ratios[i] >= 0 && miss_ratios[i] <= 1))
			return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		time += (lines[i] - from) * mtl_inter_miss_time(ratio);
		from = lines[i];
		ratio = miss_ratios[i];
		ret_times[i] = time;
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_PROFILE_H
#define MTL_PROFILE_H

#include "histogram.h"
#include "last_access.h"
#include "mtl.h"

struct mtl_profile {
	struct mtl_last_access last;
	uint64_t accesses;
	uint64_t last_times_at; /* accesses when last_times was made; 0: not yet */
	struct mtl_histogram reuse_times, first_times, last_times;
};

/* P(rt > x), first accesses included. */
double mtl_profile_survival(struct mtl_profile *profile, double x);

#endif

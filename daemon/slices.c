// SPDX-License-Identifier: MIT
/* Lengths are exponential, so that no period of the program keeps step with them. */
#include "slices.h"

#include <math.h>

#include "splitmix.h"

static double next_length(struct slices *slices)
{
	return -slices->mean[slices->reuse] * log(splitmix_uniform(&slices->random));
}

void slices_begin(
        struct slices *slices, uint64_t seed, double now, double residual_mean, double reuse_mean)
{
	*slices = (struct slices){.random = seed, .mean = {residual_mean, reuse_mean}};
	slices->end = now + next_length(slices);
}

void slices_advance(struct slices *slices, double now)
{
	while (slices->end <= now) {
		slices->reuse = !slices->reuse;
		slices->end += next_length(slices);
	}
}

double slices_deadline(const struct slices *slices, double now, double drawn)
{
	return fmin(drawn, slices->end - now);
}

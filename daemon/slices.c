// SPDX-License-Identifier: MIT
/* Lengths are exponential, so that no period of the program keeps step with them. */
#include "slices.h"

#include <math.h>

static double uniform(uint64_t *random)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double next_length(struct slices *slices)
{
	return -slices->mean[slices->reuse] * log(uniform(&slices->random));
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

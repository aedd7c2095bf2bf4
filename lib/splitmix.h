/* SPDX-License-Identifier: MIT */
#ifndef MTL_SPLITMIX_H
#define MTL_SPLITMIX_H

/*
 * Random numbers where the seed has to decide and nothing else is asked of them: splitmix64
 * (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). The state may be
 * anything.
 */

#include <stdint.h>

/* Its finaliser, a bijection: every bit of z reaches every bit of the result. */
static inline uint64_t splitmix_finalise(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* 64 bits. */
static inline uint64_t splitmix_next(uint64_t *state)
{
	return splitmix_finalise(*state += 0x9e3779b97f4a7c15);
}

/* Between 0 and 1, neither of them ever. */
static inline double splitmix_uniform(uint64_t *state)
{
	return ((double)(splitmix_next(state) >> 11) + 0.5) / 9007199254740992.0;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_WORKLOAD_ZIPF_H
#define MTL_WORKLOAD_ZIPF_H

#include <stdint.h>

/*
 * Zipf draws without a table as large as the working set and without libm in the loop: ranks fall
 * into bins, eight an octave, and every rank of a bin has the same probability (that of the bin's
 * middle), so the closed form knows the exact distribution. A draw is one alias look-up.
 */

#define ZIPF_BINS_MAX 512

struct zipf_bin {
	uint64_t first, width; /* ranks from 0 */
	double chance;         /* of one rank */
	uint32_t cut, other;   /* alias method */
};

struct zipf {
	unsigned n;
	uint64_t ranks;
	uint64_t scatter; /* coprime to ranks: neighbours in rank are not neighbours in memory */
	struct zipf_bin bins[ZIPF_BINS_MAX];
};

void zipf_init(struct zipf *ret_zipf, uint64_t ranks, double skew);

/* A number in 0..ranks-1. */
uint64_t zipf_draw(const struct zipf *zipf, uint64_t *random);

#endif

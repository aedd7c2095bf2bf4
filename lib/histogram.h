/* SPDX-License-Identifier: MIT */
#ifndef MTL_HISTOGRAM_H
#define MTL_HISTOGRAM_H

/* The log-linear histogram from the inside: adding a value is on the way of every access. */

#include <stdbool.h>

#include "mtl.h"

#define HISTOGRAM_STEPS_LOG2 8 /* 256 bins an octave */
#define HISTOGRAM_BINS ((64 - HISTOGRAM_STEPS_LOG2 + 1) << HISTOGRAM_STEPS_LOG2)

struct mtl_histogram_bin {
	uint64_t count;
	uint64_t offset; /* sum of (value - lower end) */
};

struct mtl_histogram {
	uint64_t infinite;
	uint64_t greatest; /* finite value; the last bin ends there */
	bool settled;      /* what follows the bins is made from them */
	unsigned n_used;   /* bins up to the last that holds anything */
	struct mtl_histogram_bin bins[HISTOGRAM_BINS];
	/* at the upper end e of each used bin: values > e, sum of (value - e) over these, of
	 * (e - value) over the others; 0 beyond */
	double above[HISTOGRAM_BINS], excess[HISTOGRAM_BINS], shortfall[HISTOGRAM_BINS];
};

/* Bin i holds the values lower + 1 ... lower + width. */
static inline uint64_t mtl_histogram_width(unsigned bin)
{
	unsigned octave = bin >> HISTOGRAM_STEPS_LOG2;

	return octave < 2 ? 1 : UINT64_C(1) << (octave - 1);
}

static inline uint64_t mtl_histogram_lower(unsigned bin)
{
	unsigned octave = bin >> HISTOGRAM_STEPS_LOG2;
	uint64_t steps = UINT64_C(1) << HISTOGRAM_STEPS_LOG2;

	return octave < 2 ? bin : (steps + (bin & (steps - 1))) << (octave - 1);
}

/* log2 of the width of the bin that lower + 1 falls into */
static inline unsigned mtl_histogram_shift(uint64_t lower)
{
	return 63 - HISTOGRAM_STEPS_LOG2 -
	       (unsigned)__builtin_clzll(lower | UINT64_C(1) << HISTOGRAM_STEPS_LOG2);
}

static inline unsigned mtl_histogram_bin_of(uint64_t value)
{
	unsigned shift = mtl_histogram_shift(value - 1);

	return (shift << HISTOGRAM_STEPS_LOG2) + (unsigned)((value - 1) >> shift);
}

/* Leaves `settled` to the caller. */
static inline void mtl_histogram_count(struct mtl_histogram *histogram, uint64_t value)
{
	uint64_t lower = value - 1;
	unsigned shift = mtl_histogram_shift(lower);
	struct mtl_histogram_bin *bin =
	        &histogram->bins[(shift << HISTOGRAM_STEPS_LOG2) + (lower >> shift)];

	bin->count++;
	bin->offset += lower - (lower >> shift << shift) + 1;
	histogram->greatest = value > histogram->greatest ? value : histogram->greatest;
}

void mtl_histogram_clear(struct mtl_histogram *histogram);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_BOOTSTRAP_H
#define MTL_BOOTSTRAP_H

/* Estimate -> 90 % intervals, by resampling the observations. */

#include "miss_curve.h"

/* All that one estimate is made from, and room for its stages. */
struct mtl_estimator {
	struct mtl_samples samples;
	struct mtl_grid grid;
	struct mtl_birth_rate births;
	struct mtl_coverage_model model;
	struct mtl_tally tally;
	struct mtl_survival survival;
	double resolution;
};

struct mtl_estimate {
	struct mtl_line_coverage coverage;
	struct mtl_footprint footprint;
	double lines;
};

struct mtl_interval {
	double low, high;
};

/*
 * observations -> footprint in one go. multiplicity: how often each sample counts, birth_times: how
 * often each stretch of births does (NULL: once); start: an estimate near this one, or NULL.
 */
void mtl_estimate(struct mtl_estimator *estimator, const uint8_t *multiplicity,
        const uint8_t *birth_times, const struct mtl_estimate *start,
        struct mtl_estimate *ret_estimate);

/*
 * Intervals of the miss rate at each size (lines) and of the footprint (lines) at each window.
 * Deterministic for a seed. -ENOMEM.
 */
int mtl_bootstrap(struct mtl_estimator *estimator, const struct mtl_estimate *estimate,
        unsigned resamples, uint64_t seed, const double *sizes, size_t n_sizes,
        const double *windows, size_t n_windows, struct mtl_interval *ret_misses,
        struct mtl_interval *ret_footprint);

#endif

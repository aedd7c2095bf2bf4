/* SPDX-License-Identifier: MIT */
#ifndef MTL_BOOTSTRAP_H
#define MTL_BOOTSTRAP_H

/* Estimate -> 90 % intervals, by resampling the observations. */

#include "miss_curve.h"

/* All that one estimate is made from, and its stages. */
struct mtl_estimator {
	struct mtl_samples samples;
	struct mtl_grid grid;
	struct mtl_birth_rate births;
	struct mtl_coverage_model model;
	struct mtl_tally tally;
	struct mtl_survival survival;
	struct mtl_line_coverage coverage;
	struct mtl_footprint footprint, majorant;
	double resolution;
	struct mtl_visits visits; /* rate 0: residual times */
};

/* Its coverage, or one like it, as a footprint. */
void mtl_footprint_of_estimator(const struct mtl_estimator *estimator, const double *coverage,
        double lines, double birth_rate, struct mtl_footprint *ret_footprint);

struct mtl_interval {
	double low, high;
};

/* What intervals are wanted of: sizes in lines, windows in seconds. */
struct mtl_request {
	double *sizes, *windows;
	size_t n_sizes, n_windows;
};

/*
 * Intervals of the miss rate at each size and of the footprint (lines) at each window.
 * Deterministic for a seed. -ENOMEM.
 */
int mtl_bootstrap(const struct mtl_estimator *estimator, const struct mtl_request *request,
        unsigned resamples, uint64_t seed, struct mtl_interval *ret_misses,
        struct mtl_interval *ret_footprint);

#endif

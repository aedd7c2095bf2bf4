/* SPDX-License-Identifier: MIT */
#ifndef MTL_BOOTSTRAP_H
#define MTL_BOOTSTRAP_H

/* Estimate -> 90 % intervals, by resampling the observations. */

#include "band.h"
#include "interval.h"
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
	struct mtl_bands bands;
	double resolution;
	size_t together; /* first window of the grid at which the words of a line count as armed so
	                  */
	struct mtl_visits visits; /* rate 0: residual times */
};

/* Its coverage, or one like it, as a footprint. */
void mtl_footprint_of_estimator(const struct mtl_estimator *estimator, const double *coverage,
        double lines, double birth_rate, struct mtl_footprint *ret_footprint);

/*
 * Intervals of the miss rate at each of n sizes (lines), and of the footprint (lines) at each
 * corner of the estimator's; *ret_known: the shortest window, seconds, from the resolution on, whose
 * footprint rests on touches enough to be told from chance. Deterministic for a seed. -ENOMEM.
 */
int mtl_bootstrap(const struct mtl_estimator *estimator, const double *sizes, size_t n,
        unsigned resamples, uint64_t seed, struct mtl_interval *ret_misses,
        struct mtl_interval ret_footprint[GRID_MAX + 1], double *ret_known);

#endif

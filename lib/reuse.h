/* SPDX-License-Identifier: MIT */
#ifndef MTL_REUSE_H
#define MTL_REUSE_H

#include "mtl.h"

/*
 * The second curve beside the first: from reuse times sampled at misses, at the same sizes, and how
 * the two agree. Two instruments that share neither events nor moments; what they have in common is
 * the estimator behind them.
 */

/*
 * Gives the curve its `reuse` (freeing an older one): of `observations`, whose options say so
 * (miss_cache_bytes, misses_per_second; sizes and windows are not read). Too few of them are a
 * reason, not an error. -EINVAL, -ENOMEM.
 */
int mtl_reuse_from_observations(const struct mtl_observation *observations, size_t n,
        const struct mtl_birth *births, size_t n_births, const struct mtl_estimate_options *options,
        struct mtl_curve *curve);

/* A curve with a reason why there are no reuse times. -ENOMEM. */
int mtl_reuse_refuse(struct mtl_curve *curve, const char *reason);

/* NULL-safe, returns NULL. */
struct mtl_reuse *mtl_reuse_free(struct mtl_reuse *reuse);

/*
 * Fills in difference and overlap, from the points of both, which are of the same sizes: over those
 * that neither decides below its resolution, and that hold the cache whose misses were sampled.
 */
void mtl_reuse_compare(const struct mtl_curve *curve, struct mtl_reuse *reuse);

#endif

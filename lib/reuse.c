/* SPDX-License-Identifier: MIT */
/*
 * Reuse times beside residual times: two curves at the same sizes and a score.
 *
 *     difference = mean |reuse - residual| / residual at the smallest size compared
 *     overlap    = part of the sizes at which their 90 % intervals have something in common
 *
 * The difference is that of miss ratios which are 1 at the smallest size: sizes at which hardly
 * anything misses do not blow it up, as a mean of ratios would.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "cleanup.h"
#include "reuse.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

struct mtl_reuse *mtl_reuse_free(struct mtl_reuse *reuse)
{
	if (!reuse)
		return NULL;
	free(reuse->points);
	free(reuse);
	return NULL;
}

DEFINE_CLEANUP(struct mtl_reuse, mtl_reuse_free)

static bool is_compared(const struct mtl_reuse *reuse, const struct mtl_curve_point *a,
        const struct mtl_curve_point *b)
{
	return !a->below_resolution && !b->below_resolution && a->size_bytes >= reuse->cache_bytes;
}

void mtl_reuse_compare(const struct mtl_curve *curve, struct mtl_reuse *reuse)
{
	double apart = 0, most = 0;
	size_t compared = 0, overlap = 0;

	for (size_t i = 0; i < curve->n_points && i < reuse->n_points; i++) {
		const struct mtl_curve_point *a = &curve->points[i], *b = &reuse->points[i];

		if (!is_compared(reuse, a, b))
			continue;
		compared++;
		apart += fabs(a->misses_per_second - b->misses_per_second);
		most = fmax(most, a->misses_per_second);
		overlap += a->low <= b->high && b->low <= a->high;
	}
	reuse->difference = most > 0 ? apart / (double)compared / most : NAN;
	reuse->overlap = compared ? (double)overlap / (double)compared : NAN;
	if (!compared && reuse->n_points && !*reuse->reason)
		snprintf(reuse->reason, sizeof(reuse->reason),
		        "no size above what both can resolve: nothing to compare");
}

static int reuse_new(struct mtl_reuse **ret_reuse)
{
	struct mtl_reuse *reuse = calloc(1, sizeof(*reuse));

	if (!reuse)
		return -ENOMEM;
	reuse->cache_bytes = reuse->misses_per_second = reuse->delay_seconds = NAN;
	reuse->difference = reuse->overlap = NAN;
	*ret_reuse = reuse;
	return 0;
}

static void replace(struct mtl_curve *curve, struct mtl_reuse *reuse)
{
	mtl_reuse_free(curve->reuse);
	curve->reuse = reuse;
}

int mtl_reuse_refuse(struct mtl_curve *curve, const char *reason)
{
	struct mtl_reuse *reuse;
	int r = reuse_new(&reuse);

	if (r < 0)
		return r;
	snprintf(reuse->reason, sizeof(reuse->reason), "%s", reason);
	replace(curve, reuse);
	return 0;
}

/* The second curve at the sizes of the first. */
static int estimate(const struct mtl_observation *observations, size_t n,
        const struct mtl_birth *births, size_t n_births, struct mtl_estimate_options options,
        const struct mtl_curve *curve, struct mtl_curve **ret_second)
{
	_cleanup_free_ double *sizes = malloc((curve->n_points + 1) * sizeof(*sizes));

	if (!sizes)
		return -ENOMEM;
	for (size_t i = 0; i < curve->n_points; i++)
		sizes[i] = curve->points[i].size_bytes;
	options.sizes = sizes;
	options.n_sizes = curve->n_points;
	options.windows = NULL;
	return mtl_curve_from_observations(observations, n, births, n_births, &options, ret_second);
}

int mtl_reuse_from_observations(const struct mtl_observation *observations, size_t n,
        const struct mtl_birth *births, size_t n_births, const struct mtl_estimate_options *options,
        struct mtl_curve *curve)
{
	_cleanup_(mtl_reuse_freep) struct mtl_reuse *reuse = NULL;
	_cleanup_(mtl_curve_freep) struct mtl_curve *second = NULL;
	int r = reuse_new(&reuse);

	if (r < 0)
		return r;
	reuse->observations = n;
	reuse->cache_bytes = options->miss_cache_bytes;
	reuse->misses_per_second = options->misses_per_second;
	reuse->delay_seconds = options->resolution_seconds;
	r = estimate(observations, n, births, n_births, *options, curve, &second);
	if (r == -ENODATA)
		snprintf(reuse->reason, sizeof(reuse->reason),
		        "not enough yet: %zu of about %u reuse times", n, MTL_OBSERVATIONS_NEEDED);
	else if (r < 0)
		return r;
	if (second) {
		reuse->points = TAKE_PTR(second->points);
		reuse->n_points = second->n_points;
		second->n_points = 0;
		mtl_reuse_compare(curve, reuse);
	}
	replace(curve, TAKE_PTR(reuse));
	return 0;
}

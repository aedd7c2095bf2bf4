/* SPDX-License-Identifier: MIT */
#ifndef MTL_SURVIVAL_H
#define MTL_SURVIVAL_H

/* Samples on a grid -> survival of words. */

#include "samples.h"

/*
 * occupied[kind][g][k] = P(k watched words touched by window g), moved[kind][g][j][k] = P(j were by
 * window g - 1 and k > j are by window g), at_risk: weight not censored before window g.
 */
struct mtl_survival {
	double lines; /* estimate of the lines there are to touch */
	double at_risk[KINDS][GRID_MAX];
	double occupied[KINDS][GRID_MAX][STATES];
	double moved[KINDS][GRID_MAX][STATES][STATES];
};

/* Scratch of mtl_survival_from_samples(), one kind and stratum at a time. */
struct mtl_tally {
	double entered[GRID_MAX + 1][STATES];
	double moved[GRID_MAX][STATES][STATES];
};

/* multiplicity: how often each sample counts (NULL: once). */
void mtl_survival_from_samples(const struct mtl_samples *samples, const uint8_t *multiplicity,
        const struct mtl_grid *grid, struct mtl_tally *tally, struct mtl_survival *ret_survival);

#endif

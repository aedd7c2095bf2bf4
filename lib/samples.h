/* SPDX-License-Identifier: MIT */
#ifndef MTL_SAMPLES_H
#define MTL_SAMPLES_H

/* Observations -> samples on a grid of windows. */

#include "mtl.h"

#define GRID_MAX 48
#define STATES (MTL_SLOTS_MAX + 1)

/* How an observation looked at its line: by 1..4 of its words, or at all of it. */
enum mtl_kind { KIND_WHOLE_LINE = 0, KIND_WORD = 1, KIND_QUAD = MTL_SLOTS_MAX, KINDS };

/* Window lengths, ascending, at which everything is evaluated; the last is the longest trusted. */
struct mtl_grid {
	size_t n;
	double window[GRID_MAX];
};

/* The number of touched words goes `from` -> `to` somewhere in (window[bin - 1], window[bin]]. */
struct mtl_step {
	uint16_t bin;
	uint8_t from, to;
};

/* One observation as the estimators want it. */
struct mtl_sample {
	double decay;  /* exp(-age / window) */
	double weight; /* decay x lines it stands for */
	double deadline;
	float touched[MTL_SLOTS_MAX]; /* ascending; INFINITY: not by the deadline */
	struct mtl_step steps[MTL_SLOTS_MAX];
	uint16_t bins;    /* grid windows not longer than the deadline */
	uint16_t stratum; /* of its kind: observations of like weight */
	uint8_t n_steps, kind;
};

struct mtl_samples {
	struct mtl_sample *sample;
	size_t n;
	double first_moment;
	bool present[KINDS]; /* kinds that occur */
};

/*
 * Checks every observation (-EINVAL) and keeps those whose deadline has passed, whatever they saw:
 * whether an observation counts must not depend on its outcome. -ENODATA: fewer than
 * MTL_OBSERVATIONS_NEEDED are left.
 */
int mtl_samples_from_observations(const struct mtl_observation *observations, size_t n, double now,
        double window_seconds, struct mtl_samples *ret_samples);
void mtl_samples_done(struct mtl_samples *samples);

/* (sum of weights)^2 / sum of squared weights. */
double mtl_effective_observations(const struct mtl_samples *samples);

/* How many observations of equal weight would make what was touched as uncertain. */
double mtl_effective_watchers(const struct mtl_samples *samples);

/*
 * Of those that are watched up to each window of the grid at least: how many they are (effective,
 * by decay), and how many lines the heaviest would stand for if the others were of its kind.
 */
void mtl_watchers_from_samples(const struct mtl_samples *samples, const struct mtl_grid *grid,
        double ret_watchers[GRID_MAX], double ret_heaviest[GRID_MAX]);

/* The longest window that enough observations watched to its end. Sorts the samples. */
double mtl_trusted_window(struct mtl_samples *samples);

/*
 * Windows from `shortest` to `longest`: log-spaced ones and quantiles of the touches seen.
 * scratch: room for samples->n numbers.
 */
void mtl_grid_from_samples(const struct mtl_samples *samples, double shortest, double longest,
        double *scratch, struct mtl_grid *ret_grid);

/* Gives each sample its stratum and its steps on the grid. Sorts the samples. */
void mtl_samples_on_grid(struct mtl_samples *samples, const struct mtl_grid *grid);

#endif

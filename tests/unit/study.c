/* SPDX-License-Identifier: MIT */
#include "study.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

#define SECONDS 30.0
/* Everything has been watched to its end by then. */
#define NOW 1e3

static double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void study_begin(const struct program *program, struct study *study)
{
	double resolved = program->footprint(program->resolution);

	*study = (struct study){0};
	for (unsigned i = 0; i < PROGRAM_SIZES && program->part[i] > 0; i++) {
		double lines = program->part[i] * program->lines;

		if (lines > resolved)
			study->size[study->n_sizes++] =
			        (struct study_cell){.at = lines * MTL_LINE_BYTES,
			                .truth = program_misses(program, lines)};
	}
	for (unsigned i = 0; i < PROGRAM_WINDOWS && program->window[i] > 0; i++)
		study->window[study->n_windows++] = (struct study_cell){.at = program->window[i],
		        .truth = program->footprint(program->window[i]) * MTL_LINE_BYTES};
}

static void enter(struct study_cell *cell, double low, double value, double high)
{
	double slack = 1e-9 * cell->truth;

	cell->runs++;
	cell->below += high < cell->truth - slack;
	cell->above += low > cell->truth + slack;
	cell->held += high >= cell->truth - slack && low <= cell->truth + slack;
	cell->sum += value / cell->truth;
	cell->squares += value * value / cell->truth / cell->truth;
	cell->width += (high - low) / cell->truth;
}

static void enter_curve(
        const struct program *program, const struct mtl_curve *curve, struct study *study)
{
	double error = program_relative_error(program, curve);

	for (size_t i = 0; i < study->n_sizes; i++)
		enter(&study->size[i], curve->points[i].low, curve->points[i].misses_per_second,
		        curve->points[i].high);
	for (size_t i = 0; i < study->n_windows; i++)
		enter(&study->window[i], curve->footprint[i].low, curve->footprint[i].bytes,
		        curve->footprint[i].high);
	study->runs++;
	study->relative_error += error;
	study->worst_relative = fmax(study->worst_relative, error);
}

static int study_once(const struct program *program, struct mtl_observation *observations, size_t n,
        uint64_t seed, struct study *study)
{
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	double sizes[PROGRAM_SIZES], windows[PROGRAM_WINDOWS];
	const struct mtl_estimate_options options = {
	        .sizes = sizes,
	        .n_sizes = study->n_sizes,
	        .windows = windows,
	        .n_windows = study->n_windows,
	        .now = NOW,
	        .resolution_seconds = program->resolution,
	        .reference_bytes = program_reference(program),
	        .accesses_per_second = NAN,
	        .seed = seed,
	};
	int r = program_observe(program, seed, SECONDS, observations, n);

	for (size_t i = 0; i < study->n_sizes; i++)
		sizes[i] = study->size[i].at;
	for (size_t i = 0; i < study->n_windows; i++)
		windows[i] = study->window[i].at;
	double begun = now_seconds();
	if (r >= 0)
		r = mtl_curve_from_observations(observations, n, NULL, 0, &options, &curve);
	study->seconds += now_seconds() - begun;
	if (r < 0)
		return r;
	enter_curve(program, curve, study);
	return 0;
}

int study_program(const struct program *program, size_t n, unsigned runs, uint64_t seed,
        struct study *ret_study)
{
	_cleanup_free_ struct mtl_observation *observations = calloc(n, sizeof(*observations));
	struct study study;
	int r = observations ? 0 : -ENOMEM;

	study_begin(program, &study);
	for (unsigned run = 0; r >= 0 && run < runs; run++)
		r = study_once(program, observations, n, seed + run, &study);
	if (r < 0)
		return r;
	*ret_study = study;
	return 0;
}

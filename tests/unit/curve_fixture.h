/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_CURVE_FIXTURE_H
#define MTL_TEST_CURVE_FIXTURE_H

/*
 * Curves with known answers for the tests of what the command line shows: a scan of 16 MiB (all
 * misses until it fits), random touches of 8 MiB (misses fall in proportion), and a flat one.
 */

#include <math.h>
#include <string.h>

#include "mtl.h"

#define FIXTURE_POINTS 10
#define FIXTURE_MI (1024.0 * 1024.0)

struct curve_fixture {
	struct mtl_curve curve;
	struct mtl_curve_origin origin;
	struct mtl_curve_point points[FIXTURE_POINTS];
	struct mtl_footprint_point footprint[2];
};

/* Sizes 128 KiB * 2^i, i < 10; misses from a function of the size; sizes below resolution marked.
 */
static inline void curve_fixture_fill(
        struct curve_fixture *ret, double (*misses)(double size), double resolution)
{
	*ret = (struct curve_fixture){
	        .origin = {.pid = 77,
	                .comm = "fixture",
	                .method = "residual",
	                .rung = "watchpoints",
	                .clock = "cpu",
	                .window_seconds = 30,
	                .wall_seconds = 41.2,
	                .cpu_seconds = 29.8,
	                .resident_bytes = 17 * FIXTURE_MI,
	                .phase_seconds = NAN,
	                .accesses_per_second = NAN,
	                .overhead_target = 0.004,
	                .overhead_daemon = NAN},
	        .footprint = {{1e-3, 4 * FIXTURE_MI, 3.5 * FIXTURE_MI, 4.5 * FIXTURE_MI},
	                {1, 16 * FIXTURE_MI, 15 * FIXTURE_MI, 17 * FIXTURE_MI}},
	        .curve = {.observations = 881,
	                .effective_observations = 700,
	                .footprint_bytes = 16 * FIXTURE_MI,
	                .footprint_window_seconds = 1,
	                .resolution_seconds = 5e-5,
	                .resolution_bytes = resolution,
	                .reference_bytes = FIXTURE_MI,
	                .n_points = FIXTURE_POINTS,
	                .n_footprint = 2},
	};
	ret->curve.points = ret->points;
	ret->curve.footprint = ret->footprint;
	for (int i = 0; i < FIXTURE_POINTS; i++) {
		double size = FIXTURE_MI / 8 * exp2(i);

		ret->points[i] = (struct mtl_curve_point){
		        .size_bytes = size,
		        .fill_time_seconds = size < 16 * FIXTURE_MI ? size * 1e-10 : INFINITY,
		        .misses_per_second = misses(size),
		        .low = 0.9 * misses(size),
		        .high = 1.1 * misses(size),
		        .miss_ratio = NAN,
		        .relative_miss_ratio = misses(size) / misses(FIXTURE_MI),
		        .below_resolution = size < resolution,
		};
	}
}

static inline double scan_misses(double size)
{
	return size < 16 * FIXTURE_MI ? 4e8 : 0;
}

static inline double random_misses(double size)
{
	return 4e7 * fmax(1 - size / (8 * FIXTURE_MI), 0);
}

static inline double flat_misses(double size)
{
	return 1e6 - size / FIXTURE_MI;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_STUDY_H
#define MTL_TEST_STUDY_H

/* Many runs of one program at one number of observations: how often intervals hold the truth. */

#include "programs.h"

/* Of one size or window, over all runs that said anything about it. */
struct study_cell {
	double at; /* bytes or seconds */
	double truth;
	unsigned runs, held, below, above; /* below: the interval lies below the truth */
	double sum, squares;               /* of value / truth */
	double width;                      /* sum of (high - low) / truth */
};

struct study {
	struct study_cell size[PROGRAM_SIZES], window[PROGRAM_WINDOWS];
	size_t n_sizes, n_windows;
	unsigned runs;
	double relative_error, worst_relative; /* sum over runs of the mean absolute error of the
	                                        * relative miss ratio; the worst run's */
	double seconds;                        /* estimating took in all */
};

/* 0 or a negative errno. */
int study_program(const struct program *program, size_t observations, unsigned runs, uint64_t seed,
        struct study *ret_study);

#endif

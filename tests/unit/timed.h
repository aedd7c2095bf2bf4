/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_TIMED_H
#define MTL_TEST_TIMED_H

/*
 * A known program (programs.h) watched for so long: one line at a time, each until its deadline, as
 * often as the budget pays for, deadlines adapted once a second, lines drawn by the planner.
 */

#include "programs.h"

struct timed_terms {
	double watches; /* a CPU second that the budget pays for */
	double lean;    /* of the deadlines; NAN: as mtld has it */
};

/* What is known after so many CPU seconds. */
struct timed {
	size_t observations; /* the estimate was made of */
	double error; /* mean absolute error of the relative miss ratio, sizes from 512 KiB to 0.97
	               * of the program's, a factor of sqrt(2) apart; 1: nothing to be said yet */
	double longest, lean; /* of the deadlines by then */
};

/* seconds: n ascending whole numbers. 0 or a negative errno. */
int timed_run(const struct program *program, const struct timed_terms *terms, uint64_t seed,
        const double *seconds, size_t n, struct timed *ret_timed);

#endif

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
	double window;  /* seconds; 0: mtld's default, 60 */
	/* Bytes, sizes asked for; 0: from 512 KiB, to 0.97 of the program's. */
	double smallest, largest;
};

/* What is known after so many CPU seconds. */
struct timed {
	size_t observations; /* the estimate was made of */
	/* Mean absolute errors of the relative miss ratio, sizes a factor of sqrt(2) apart; 1: nothing
	 * to be said yet. To the reference, over all sizes; to the first that is resolved; to that from
	 * the reference on. */
	double error, to_first, to_reference;
	double longest, lean; /* of the deadlines by then */
};

/* seconds: n ascending whole numbers. 0 or a negative errno. */
int timed_run(const struct program *program, const struct timed_terms *terms, uint64_t seed,
        const double *seconds, size_t n, struct timed *ret_timed);

/* Sorts them. */
double timed_median(double *values, size_t n);

#endif

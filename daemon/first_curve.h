/* SPDX-License-Identifier: MIT */
#ifndef MTLD_FIRST_CURVE_H
#define MTLD_FIRST_CURVE_H

/*
 * When a process will have its first curve: a prediction on plain structs.
 */

#include <stddef.h>
#include <stdint.h>

struct first_curve_facts {
	uint64_t observations, needed;
	double cpu_seconds, wall_seconds; /* since tracked */
	double pace;                      /* moments a CPU second as planned; 0: not known yet */
	double watch_seconds;             /* CPU time that a watch takes, on average */
};

/*
 * Seconds of wall-clock time, if things go on so, and on what that rests ("at 4.1 observations a
 * second so far"). 0: there are enough. NAN: nothing to go by, and why.
 */
double first_curve_seconds(const struct first_curve_facts *facts, char *ret_basis, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PROGRAM_COST_H
#define MTLD_PROGRAM_COST_H

/*
 * What one run of a BPF program takes, as the kernel measures it while it is asked to.
 */

struct program_cost {
	int fd;      /* while it is open the kernel measures; negative: it does not */
	int program; /* descriptor */
	unsigned long long runs, ns;
};

/* Begins to measure. Negative errno: the kernel does not (before 5.8, or not permitted). */
int program_cost_begin(int program, struct program_cost *ret_cost);

/* Seconds a run since the latest call or the beginning; NAN: it did not run often enough to say. */
double program_cost_lap(struct program_cost *cost);

void program_cost_end(struct program_cost *cost);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_BUSIEST_H
#define MTLD_BUSIEST_H

/*
 * Which processes use most CPU time, with hysteresis: decisions on plain structs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* CPU time of a thread or of all ended ones since it began; those of one process are added up. */
struct busiest_sample {
	pid_t pid;
	uint64_t start; /* of the process: with the pid it names it for good */
	uint64_t cpu_ns;
};

struct busiest_process {
	pid_t pid;
	uint64_t start, cpu_ns;
	double share; /* of one CPU, smoothed */
	bool chosen;
	bool refused; /* it cannot be tracked: never chosen again */
	unsigned out; /* looks in a row by which it would not have been chosen */
};

struct busiest {
	struct busiest_process *processes; /* by pid */
	size_t n;
};

/*
 * A look at all processes, `seconds` after the one before (0: the first, after which nothing is
 * known yet). Samples are sorted. Of `wanted` at most, `chosen` then says whether to track.
 * -ENOMEM: nothing has changed.
 */
int busiest_update(struct busiest *top, struct busiest_sample *samples, size_t n, double seconds,
        unsigned wanted);

void busiest_done(struct busiest *top);

#endif

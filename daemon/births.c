// SPDX-License-Identifier: MIT
/*
 * How many lines does a page fault bear?
 *
 * All 64 when the page is fresh anonymous memory, for the kernel has just zeroed every line of it,
 * and 32768 when it is a huge one. Of a file page that was merely mapped, the one line whose touch
 * faulted is known to be touched, the others are not: it counts one, a lower bound. A page that is
 * gone before mtld can look counts 64: to leave such out would leave only the faults that a program
 * streaming through fresh memory does not make. Which kind the faults of this process are, and
 * whether of pages that it had given back before, is learned from a sample of them, every n-th,
 * with n such that some SAMPLES_A_SECOND are looked at, fewer where mtld is over its own bound:
 * each wakes it.
 *
 * Huge pages are not told to the planner as ones that may come back: one is born by a fault at any
 * of its 512 pages, so that a watch of another would not notice (bpf/page_birth.bpf.c).
 */
#include "births.h"

#include <math.h>

#define LINES_PER_PAGE 64
#define SAMPLES_A_SECOND 50
#define FIRST_PERIOD 64 /* before their rate is known */
#define MEMORY 16       /* samples that the average remembers */

void births_begin(struct births *births, struct mtl_process *process)
{
	*births = (struct births){.faults = process->faults,
	        .lines_per_fault = LINES_PER_PAGE,
	        .lines_elsewhere = LINES_PER_PAGE};
	process->fault_period = FIRST_PERIOD;
}

void births_note(struct births *births, struct mtl_process *process, double moment, double share,
        struct observation_store *store)
{
	uint64_t faults = process->faults;
	double new = faults - births->faults, seconds;

	/* The clock steps back a little when the cost of a trap is taken off it. */
	moment = fmax(moment, births->moment);
	seconds = moment - births->moment;

	births->lines += new * births->lines_per_fault;
	births->faults = faults;
	births->moment = moment;
	store_add_birth(store, moment, births->lines);
	if (seconds > 0)
		process->fault_period =
		        fmax(1, fmin(1e6, new / seconds / (SAMPLES_A_SECOND * share)));
}

void births_learn(struct births *births, struct planner *planner, uint64_t address)
{
	unsigned lines;
	bool known = false;

	if (planner_fresh_lines(planner, address, &lines) < 0)
		lines = LINES_PER_PAGE;
	if (lines <= LINES_PER_PAGE)
		known = planner_birth(planner, address);
	births->lines_per_fault += (fmax(lines, 1) - births->lines_per_fault) / MEMORY;
	births->lines_elsewhere += (!known * fmax(lines, 1) - births->lines_elsewhere) / MEMORY;
}

// SPDX-License-Identifier: MIT
/*
 * A miss of a small cache begins a visit to its line: touches no more than that cache's fill time
 * apart. The watch is armed `quiet` after the miss, by when the visit is over, and timed from the
 * miss (docs/THEORY.md, reuse times sampled at misses). Armed later it would count a line as gone
 * that came back meanwhile, and once for each of its misses: so a watch that goes live more than
 * LATE x quiet after its miss is given up.
 *
 * Which misses begin a visit is drawn by lot in BPF, `part` of them, so that each stands for as
 * many as its period times 1 / part. Misses while a watch is under way begin none: where misses
 * come in bursts those at the beginning of one are preferred, by as much as watches last longer
 * than bursts are apart. Slices, and with them the deadlines that they cut, know nothing of the
 * program.
 */
#include "visit.h"

#include <math.h>

#include "mtl.h"

#define LATE 1.5
#define SHORTEST                                                                                   \
	2 /* deadlines are at least so many times as long as the wait, before slices cut them */

void visits_ask(struct visits *visits, const struct visit_terms *terms, uint64_t clock)
{
	bool before = visits->terms.quiet > 0;

	visits->terms = *terms;
	if (!(terms->quiet > 0))
		return;
	if (!before)
		slices_begin(&visits->slices, clock ^ (uint64_t)visits->random[1] << 32,
		        clock / 1e9, terms->turns[0], terms->turns[1]);
	visits->slices.mean[0] = terms->turns[0];
	visits->slices.mean[1] = terms->turns[1];
}

bool visits_have_turn(struct visits *visits, uint64_t clock)
{
	if (!(visits->terms.quiet > 0))
		return false;
	slices_advance(&visits->slices, clock / 1e9);
	return visits->slices.reuse;
}

uint64_t visits_deadline(const struct visits *visits, uint64_t clock, uint64_t drawn)
{
	double seconds = clock / 1e9;

	if (!(visits->terms.quiet > 0))
		return drawn;
	if (visits->slices.end - seconds <= visits->terms.quiet)
		return 0;
	return slices_deadline(&visits->slices, seconds, drawn / 1e9) * 1e9;
}

uint32_t visits_part(struct visits *visits, uint64_t clock)
{
	return visits_have_turn(visits, clock) ? fmin(1, visits->terms.part) * UINT32_MAX : 0;
}

bool visits_begin(struct visits *visits, const struct mtl_hit *miss, uint64_t clock, unsigned cpu)
{
	uint64_t sampled = clock + mtl_clock_between(clock, miss->clock);
	struct planner_deadlines deadlines = visits->terms.deadlines;

	if (visits->waiting || !visits_have_turn(visits, clock))
		return false;
	deadlines.shortest = fmax(deadlines.shortest, SHORTEST * visits->terms.quiet);
	deadlines.longest = fmax(deadlines.longest, deadlines.shortest);
	visits->deadline = visits_deadline(
	        visits, sampled, candidate_deadline(&deadlines, visits->random) * 1e9);
	visits->waiting = visits->deadline > LATE * visits->terms.quiet * 1e9;
	visits->sampled = sampled;
	visits->address = miss->address;
	visits->weight = fmax(miss->period, 1) / fmax(visits->terms.part, 1e-9);
	visits->cpu = cpu;
	visits->naps = 0;
	return visits->waiting;
}

int64_t visits_left(const struct visits *visits, uint64_t clock)
{
	return (int64_t)(visits->sampled - clock) + (int64_t)(visits->terms.quiet * 1e9);
}

struct candidate visits_candidate(struct visits *visits, unsigned slots, bool whole_line)
{
	struct candidate candidate = {.weight = visits->weight, .deadline_ns = visits->deadline};

	candidate_cover(&candidate, visits->address & ~(uint64_t)(MTL_LINE_BYTES - 1), slots,
	        whole_line, visits->random);
	return candidate;
}

bool visits_late(const struct visits *visits, uint64_t clock)
{
	return (double)(int64_t)(clock - visits->sampled) > LATE * visits->terms.quiet * 1e9;
}

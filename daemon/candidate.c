// SPDX-License-Identifier: MIT
/*
 * What planner and visits draw alike. Words are a random choice, so that those watched say of the
 * line what any others would (docs/THEORY.md, section 3).
 */
#include "candidate.h"

#include <math.h>
#include <stdlib.h>

#include "mtl.h"

static double log_uniform(double low, double high, unsigned short random[3])
{
	return low * pow(high / low, erand48(random));
}

double candidate_deadline(const struct planner_deadlines *deadlines, unsigned short random[3])
{
	if (deadlines->limit > deadlines->longest && erand48(random) < PLANNER_TAIL)
		return log_uniform(deadlines->longest, deadlines->limit, random);
	return log_uniform(deadlines->shortest, deadlines->longest, random);
}

static void pick_words(
        uint64_t line, unsigned slots, unsigned short random[3], uint64_t *ret_address)
{
	unsigned words[MTL_WORDS_PER_LINE];

	for (unsigned i = 0; i < MTL_WORDS_PER_LINE; i++)
		words[i] = i;
	for (unsigned i = 0; i < slots; i++) {
		unsigned other = i + (unsigned)(erand48(random) * (MTL_WORDS_PER_LINE - i));
		unsigned word = words[other];

		words[other] = words[i];
		words[i] = word;
		ret_address[i] = line + word * 8;
	}
}

void candidate_cover(struct candidate *candidate, uint64_t line, unsigned slots, bool whole_line,
        unsigned short random[3])
{
	candidate->slots = whole_line ? 1 : slots;
	candidate->whole_line = whole_line;
	if (whole_line)
		candidate->address[0] = line;
	else
		pick_words(line, slots, random, candidate->address);
}

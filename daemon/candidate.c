// SPDX-License-Identifier: MIT
/*
 * What planner and visits draw alike. Words are a random choice, so that those watched say of the
 * line what any others would (docs/THEORY.md, section 3).
 */
#include "candidate.h"

#include <math.h>
#include <stdlib.h>

#include "mtl.h"

/* Less is none: the formulas divide by it. */
#define LEAN_LEAST 1e-6

static double draw_between(double low, double high, double lean, double part)
{
	if (lean < LEAN_LEAST)
		return low * pow(high / low, part);
	return low * pow(1 + part * expm1(lean * log(low / high)), -1 / lean);
}

double candidate_deadline(const struct planner_deadlines *deadlines, unsigned short random[3])
{
	if (deadlines->limit > deadlines->longest && erand48(random) < PLANNER_TAIL)
		return draw_between(deadlines->longest, deadlines->limit, 1, erand48(random));
	return draw_between(deadlines->shortest, deadlines->longest, deadlines->lean, erand48(random));
}

/* Integral of x^(power - 1) from 1 to `ratio`. */
static double integral(double power, double ratio)
{
	return fabs(power) < LEAN_LEAST ? log(ratio) : expm1(power * log(ratio)) / power;
}

static double mean_between(double low, double high, double lean)
{
	double ratio = high / low;

	return ratio > 1 ? low * integral(1 - lean, ratio) / integral(-lean, ratio) : high;
}

double candidate_deadline_mean(const struct planner_deadlines *deadlines)
{
	double tail = deadlines->limit > deadlines->longest ? PLANNER_TAIL : 0;

	return (1 - tail) * mean_between(deadlines->shortest, deadlines->longest, deadlines->lean) +
	       tail * mean_between(deadlines->longest, deadlines->limit, 1);
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

/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_PROGRAMS_H
#define MTL_TEST_PROGRAMS_H

/*
 * Programs whose footprint and its slope are known in closed form, watched as mtld watches them:
 * moments at random, deadlines log-uniform with a few beyond, quads of random words, lines drawn
 * uniformly or by mtld's planner with all that it learns from what it draws.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mtl.h"

#define PROGRAM_SIZES 8
#define PROGRAM_WINDOWS 4

struct program {
	const char *name;
	double lines;    /* it touches */
	double resident; /* lines resident; more than `lines`: drawn by the planner */
	bool told; /* the planner is told of a line in use at every draw, as by samples of the clock
	            */
	double longest;    /* deadline, seconds, as mtld's deadlines come to be for it */
	double resolution; /* seconds */
	double reference;  /* bytes: of relative miss ratios; 0: 1 MiB, as with mtld where L2 is not
	                      known */
	/* When each word of a line (0 ... lines - 1) is touched first, from a random moment. */
	void (*touch)(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE]);
	double (*footprint)(double window); /* lines */
	double (*slope)(double window);     /* of the footprint: lines a second */
	double (*lru)(double lines); /* misses a second of a true LRU cache; NULL: the slope */
	/* Where it is asked, as parts of `lines`; seconds. 0: no more. */
	double part[PROGRAM_SIZES], window[PROGRAM_WINDOWS];
};

extern const struct program programs[];
extern const size_t n_programs;

/* What is needed before observing and afterwards; 0 or a negative errno. */
int programs_begin(void);
void programs_end(void);

/* n observations within `seconds` of CPU time; seed decides. 0 or a negative errno. */
int program_observe(const struct program *program, uint64_t seed, double seconds,
        struct mtl_observation *ret_observations, size_t n);

/* ft(c), seconds, and misses a second at a size of so many lines, by the footprint. */
double program_fill_time(const struct program *program, double lines);
double program_misses(const struct program *program, double lines);

#endif

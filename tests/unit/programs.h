/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_PROGRAMS_H
#define MTL_TEST_PROGRAMS_H

/*
 * Programs whose footprint and its slope are known in closed form, watched as mtld watches them:
 * moments at random, deadlines by mtld's law, quads of random words, lines drawn
 * uniformly or by mtld's planner with all that it learns from what it draws.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "candidate.h"
#include "mtl.h"

#define PROGRAM_SIZES 8
#define PROGRAM_WINDOWS 4

struct program {
	const char *name;
	double lines;    /* it touches */
	double resident; /* lines resident; more than `lines`: drawn by the planner */
	/* A line in use that the planner is told of at every draw, as by samples of the clock; NULL:
	 * it is told nothing. */
	uint64_t (*told)(uint64_t *random);
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

/* Another program than those above: what is needed besides, after programs_begin(). */
int program_begin(const struct program *program);

/* The same as fixtures of a group of tests. */
int programs_setup(void **state);
int programs_teardown(void **state);

/* Who watches it, one line after the other. `planned`: mtld's planner draws them. Seed decides. 0
 * or a negative errno. */
struct observer;
int observer_new(
        const struct program *program, uint64_t seed, bool planned, struct observer **ret_observer);
struct observer *observer_free(struct observer *observer);
int observer_watch(struct observer *observer, double moment,
        const struct planner_deadlines *deadlines, struct mtl_observation *ret_observation);
double observer_uniform(struct observer *observer); /* within 0 ... 1 */

/* n observations within `seconds` of CPU time, deadlines log-uniform with a few beyond; seed
 * decides. 0 or a negative errno. */
int program_observe(const struct program *program, uint64_t seed, double seconds,
        struct mtl_observation *ret_observations, size_t n);

/* ft(c), seconds, and misses a second at a size of so many lines, by the footprint. */
double program_fill_time(const struct program *program, double lines);
double program_misses(const struct program *program, double lines);

/* Bytes. */
double program_reference(const struct program *program);

/* Mean absolute error of the relative miss ratio over the curve's sizes, against true LRU. */
double program_relative_error(const struct program *program, const struct mtl_curve *curve);

/* The same of misses relative to those at the first size from `bytes` on that is resolved, over sizes
 * from there on; NAN: none is. */
double program_error_from(
        const struct program *program, const struct mtl_curve *curve, double bytes);

/* NULL: there is none. */
const struct program *program_named(const char *name);

#endif

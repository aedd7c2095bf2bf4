/* SPDX-License-Identifier: MIT */
#ifndef MTLD_LATELY_H
#define MTLD_LATELY_H

/*
 * Pages that come and go: which of them were resident lately, where births were told of. Pure, in
 * bounded memory.
 */

#include <stdbool.h>
#include <stdint.h>
#include "regions.h"

/* In an entry of /proc/PID/pagemap. */
#define PAGEMAP_PRESENT (1ULL << 63)

/* Of 1 GiB at most; 136 bytes each. */
enum { LATELY_REGIONS = 512, LATELY_GENERATIONS = 2, LATELY_WORDS = REGION_PAGES / 64 };

struct lately_region {
	uint64_t number : 56;  /* page / REGION_PAGES */
	uint64_t expected : 4; /* generations until it is dropped */
	uint64_t age : 4;      /* generations since births were first told of, the most it holds */
	uint64_t seen[LATELY_GENERATIONS][LATELY_WORDS];
};

struct lately {
	struct lately_region *items; /* ascending */
	unsigned n, allocated;
	unsigned now;             /* the generation that notes */
	double begun, begun_wall; /* CPU time of the process, and time of the world, seconds */
};

void lately_done(struct lately *lately);

/* A page was born there: what is resident around it is noted from now on, while births go on. Where
 * there is no room it is not. */
void lately_expect(struct lately *lately, uint64_t page);

/* Process CPU time has come to `moment`, seconds, and time in the world to `wall`: what was last
 * seen 4 to 8 s ago by both is forgotten. */
void lately_pass(struct lately *lately, double moment, double wall);

/* Pagemap entries of pages as they are now: notes those that are present, and marks as present
 * those that were lately. */
void lately_recall(struct lately *lately, uint64_t page, unsigned pages, uint64_t *entries);

/* The first page from `from` on that was seen lately, and the end of those seen in its region;
 * false: none before `to`. */
bool lately_next(const struct lately *lately, uint64_t from, uint64_t to, uint64_t *ret_first,
        uint64_t *ret_end);

/* Whether the page was there before, not just since it was born: seen in the generation before this
 * one, or in a region where pages have been born for longer than that (what is there for less than
 * a look at it takes is seldom seen). */
bool lately_knows(const struct lately *lately, uint64_t page);

#endif

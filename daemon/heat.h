/* SPDX-License-Identifier: MIT */
#ifndef MTLD_HEAT_H
#define MTLD_HEAT_H

/*
 * Where lines are worth drawing, from what was seen so far: pure decisions on plain structs, in
 * constant memory.
 */

#include <stdbool.h>
#include <stdint.h>
#include "regions.h"

/* Blocks of one page, 64 KiB (fine, within a region), 2 MiB, 32 MiB and 512 MiB (whole regions). */
enum { HEAT_FINE = 2, HEAT_SCALES = 5, HEAT_POINTS = 128 };

enum heat_source { HEAT_TOUCHED, HEAT_TOLD, HEAT_SOURCES };

/* Ways to draw: any region, any resident page, or one near a point of heat, by source and scale. */
enum {
	HEAT_ANY_REGION,
	HEAT_ANY_PAGE,
	HEAT_NEAR,
	HEAT_WAYS = HEAT_NEAR + HEAT_SOURCES * HEAT_SCALES
};

struct heat_point {
	uint64_t page;
	double lines;  /* it stands for */
	double moment; /* process CPU time, seconds */
	/* P(page | way) before it was known: how well each way would have found it */
	float of_way[HEAT_WAYS];
};

/* The latest points of one source, and what they are worth, by page, since heat_refresh(). */
struct heat_map {
	struct heat_point ring[HEAT_POINTS];
	unsigned n, next;
	unsigned n_sorted;
	uint64_t page[HEAT_POINTS];
	double before[HEAT_POINTS + 1]; /* worth of all points before this one; the last: of all */
};

struct heat {
	struct heat_map map[HEAT_SOURCES];
	double share[HEAT_WAYS]; /* of draws; they add up to 1 */
	double now;              /* process CPU time, seconds */
	unsigned news;           /* since heat_refresh() */
};

/* Pages [first, end). */
struct heat_block {
	uint64_t first, end;
};

/* A page that may be drawn, and among how many: resident now in its region and its fine blocks. */
struct heat_place {
	uint64_t page;
	const struct region *region;
	double in_region, in_block[HEAT_FINE];
};

void heat_begin(struct heat *heat);

/* A point of heat that stands for so many lines; left out where nothing is resident. */
void heat_add(struct heat *heat, const struct regions *regions, enum heat_source source,
        uint64_t page, double lines);

/* Process CPU time has come to `now`. */
void heat_pass(struct heat *heat, double now);

/* Looks at all points again and divides the draws among the ways. */
void heat_refresh(struct heat *heat);

/* A way, for `at` in [0, 1); a point of a way's source in proportion to its worth, likewise. */
unsigned heat_way(const struct heat *heat, double at);
uint64_t heat_point(const struct heat *heat, unsigned way, double at);

static inline unsigned heat_scale(unsigned way)
{
	return (way - HEAT_NEAR) % HEAT_SCALES;
}

/* The block of that scale around a page; where it is fine, no more of it than lies in the region.
 */
struct heat_block heat_block(unsigned scale, uint64_t page, const struct region *region);

/* Whether draws near points may reach this fine block. */
bool heat_reaches(const struct heat *heat, struct heat_block block);

/* Probability that a draw takes this very page. */
double heat_probability(
        const struct heat *heat, const struct regions *regions, const struct heat_place *place);

#endif

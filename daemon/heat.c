// SPDX-License-Identifier: MIT
/*
 * Where to look: strata at several scales, found by evidence.
 *
 * A draw takes one of several ways: any region, any resident page, or a page near a point of heat
 * (a page seen touched, or told of), that is in the block around it of one page, 64 KiB, 2 MiB, 32
 * MiB or 512 MiB. The probability of a page is the sum over all ways that lead to it,
 *
 *     q(page) = sum over ways of share(way) P(page | way)
 *
 * known at the draw and made of the past alone, so 1/q is an exact weight whatever the heat is;
 * heat decides how much an estimate varies, not what it is on average. Coarse blocks find the rest
 * of what a touch belongs to, fine ones keep to it.
 *
 * Each way's share follows from how well it would have found the touches seen since, each judged by
 * the heat before it: the variance of an estimate is about sum over touched pages of 1/q, so the
 * shares are moved to where sum of lines / q over the touches is least (a convex problem; each
 * round of improve() is a step of minorisation that never makes it worse), with PRIOR touches'
 * worth of belief in the shares to begin with. The ways that know nothing of heat keep a share
 * whatever is seen, so every resident page keeps a probability: no region is ever invisible.
 *
 * A page that was told of counts once, by its latest sighting: sightings come as often as an access
 * is executed, and a stack or a counter would take the place of all that is hot besides. What they
 * have to say is where, not how often.
 *
 * A touch is worth the lines it stands for, so that often drawn memory is not taken for hot; at
 * most CAP times the median, for one lucky draw must not outweigh all evidence. Its worth decays by
 * process CPU time, and the ring holds HEAT_POINTS, so that phases are followed.
 */
#include "heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY 10.0 /* seconds of CPU time: heat decays by e */
#define CAP 8.0     /* times the median: what a point is worth at most */
#define PRIOR 4.0   /* touches */
#define ROUNDS 5
#define START 0.1
#define LEAST_ANY_PAGE 0.2    /* of the draws */
#define SHARE_ANY_REGION 0.05 /* for what became resident since the survey */

static const double prior[HEAT_WAYS] = {
        [HEAT_ANY_PAGE] = 0.4,
        [HEAT_NEAR] = 0.02,
        0.06,
        0.15,
        0.2,
        0.1,
        [HEAT_NEAR + HEAT_SCALES] = 0.02,
        0.06,
        0.15,
        0.2,
        0.1,
};
static const unsigned scale_bits[HEAT_SCALES] = {0, 4, 9, 13, 17};

static unsigned source_of(unsigned way)
{
	return (way - HEAT_NEAR) / HEAT_SCALES;
}

/* Belief in a way before anything is known; a source without points leads nowhere. */
static double belief(const struct heat *heat, unsigned way)
{
	bool leads = way < HEAT_NEAR || heat->map[source_of(way)].n_sorted;

	return leads ? prior[way] : 0;
}

void heat_begin(struct heat *heat)
{
	memset(heat, 0, sizeof(*heat));
	heat->share[HEAT_ANY_REGION] = SHARE_ANY_REGION;
	heat->share[HEAT_ANY_PAGE] = 1 - SHARE_ANY_REGION;
}

void heat_pass(struct heat *heat, double now)
{
	heat->now = fmax(heat->now, now);
	heat->news++;
}

struct heat_block heat_block(unsigned scale, uint64_t page, const struct region *region)
{
	uint64_t pages = 1ULL << scale_bits[scale], first = page / pages * pages,
	         end = first + pages;

	if (scale < HEAT_FINE) {
		first = first > region->page ? first : region->page;
		end = end < region->page + region->pages ? end : region->page + region->pages;
	}
	return (struct heat_block){first, end};
}

static unsigned points_below(const struct heat_map *map, uint64_t page)
{
	unsigned low = 0, high = map->n_sorted;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (map->page[middle] >= page)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static double all_of(const struct heat_map *map)
{
	return map->before[map->n_sorted];
}

static double worth_of(const struct heat_map *map, struct heat_block block)
{
	return map->before[points_below(map, block.end)] -
	       map->before[points_below(map, block.first)];
}

bool heat_reaches(const struct heat *heat, struct heat_block block)
{
	for (unsigned source = 0; source < HEAT_SOURCES; source++)
		if (heat->map[source].n_sorted && worth_of(&heat->map[source], block) > 0)
			return true;
	return false;
}

/* P(page | a region of the block, in proportion to what is resident, then a page of it). */
static double within(const struct regions *regions, struct heat_block block, unsigned scale,
        const struct heat_place *place)
{
	uint64_t resident;

	if (scale < HEAT_FINE)
		return 1 / place->in_block[scale];
	resident = regions_resident(
	        regions, regions_from(regions, block.first), regions_from(regions, block.end));
	return resident ? place->region->resident / (double)resident / place->in_region : 0;
}

/* P(page | way), for every way. */
static void probabilities(const struct heat *heat, const struct regions *regions,
        const struct heat_place *place, double *ret)
{
	ret[HEAT_ANY_REGION] = 1.0 / regions->n / place->in_region;
	ret[HEAT_ANY_PAGE] = place->region->resident / (double)regions->resident / place->in_region;
	for (unsigned way = HEAT_NEAR; way < HEAT_WAYS; way++) {
		const struct heat_map *map = &heat->map[source_of(way)];
		unsigned scale = heat_scale(way);
		struct heat_block block = heat_block(scale, place->page, place->region);
		double worth = worth_of(map, block);

		ret[way] =
		        worth > 0 ? worth / all_of(map) * within(regions, block, scale, place) : 0;
	}
}

double heat_probability(
        const struct heat *heat, const struct regions *regions, const struct heat_place *place)
{
	double of_way[HEAT_WAYS], sum = 0;

	probabilities(heat, regions, place, of_way);
	for (unsigned way = 0; way < HEAT_WAYS; way++)
		sum += heat->share[way] * of_way[way];
	return sum;
}

/* ---- refresh ---- */

static int by_page(const void *a, const void *b)
{
	const struct heat_point *x = a, *y = b;

	return (x->page > y->page) - (x->page < y->page);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, unsigned n)
{
	double sorted[HEAT_POINTS];

	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), ascending);
	return n ? sorted[n / 2] : 0;
}

/* Only ratios matter: counted from the newest point, so that not all of them fade away. */
static double newest(const struct heat_map *map)
{
	double moment = 0;

	for (unsigned i = 0; i < map->n; i++)
		moment = fmax(moment, map->ring[i].moment);
	return moment;
}

static double worth_at(const struct heat_point *point, double moment)
{
	return point->lines * exp((point->moment - moment) / MEMORY);
}

/* Returns what a point is worth at most. */
static double sort_map(struct heat_map *map)
{
	struct heat_point sorted[HEAT_POINTS];
	double worth[HEAT_POINTS], moment = newest(map), cap;

	memcpy(sorted, map->ring, map->n * sizeof(*sorted));
	qsort(sorted, map->n, sizeof(*sorted), by_page);
	map->n_sorted = map->n;
	for (unsigned i = 0; i < map->n; i++) {
		map->page[i] = sorted[i].page;
		worth[i] = worth_at(&sorted[i], moment);
	}
	cap = CAP * median(worth, map->n);
	for (unsigned i = 0; i < map->n; i++)
		map->before[i + 1] = map->before[i] + fmin(worth[i], cap);
	return cap;
}

/* What the place of a point is taken for: pages spread evenly over its region. */
static bool place_of(const struct regions *regions, uint64_t page, struct heat_place *ret_place)
{
	const struct region *region = regions_at(regions, page);

	if (!region || !region->resident)
		return false;
	*ret_place =
	        (struct heat_place){.page = page, .region = region, .in_region = region->resident};
	for (unsigned scale = 0; scale < HEAT_FINE; scale++) {
		struct heat_block block = heat_block(scale, page, region);

		ret_place->in_block[scale] = fmax(
		        1, (block.end - block.first) * (double)region->resident / region->pages);
	}
	return true;
}

static struct heat_point *point_at(struct heat_map *map, uint64_t page)
{
	for (unsigned i = 0; i < map->n; i++)
		if (map->ring[i].page == page)
			return &map->ring[i];
	return NULL;
}

static void put_point(struct heat_map *map, const struct heat_point *point)
{
	map->ring[map->next] = *point;
	map->next = (map->next + 1) % HEAT_POINTS;
	map->n += map->n < HEAT_POINTS;
}

/* How well each way would have found it. */
static void judge_ways(const struct heat *heat, const struct regions *regions,
        const struct heat_place *place, struct heat_point *point)
{
	double of_way[HEAT_WAYS];

	probabilities(heat, regions, place, of_way);
	for (unsigned way = 0; way < HEAT_WAYS; way++)
		point->of_way[way] = of_way[way];
}

void heat_add(struct heat *heat, const struct regions *regions, enum heat_source source,
        uint64_t page, double lines)
{
	struct heat_map *map = &heat->map[source];
	struct heat_point point = {.page = page, .lines = lines, .moment = heat->now};
	struct heat_point *known = source == HEAT_TOLD ? point_at(map, page) : NULL;
	struct heat_place place;

	if (!place_of(regions, page, &place))
		return;
	if (source == HEAT_TOUCHED)
		judge_ways(heat, regions, &place, &point);
	if (known)
		*known = point;
	else
		put_point(map, &point);
	heat->news++;
}

/* The shares of all ways but HEAT_ANY_REGION, which is fixed, add up to the rest; HEAT_ANY_PAGE
 * gets LEAST_ANY_PAGE at least. */
static void scale_shares(struct heat *heat)
{
	double *share = heat->share, near = 0, rest = 1 - SHARE_ANY_REGION, any;

	for (unsigned way = HEAT_NEAR; way < HEAT_WAYS; way++)
		near += share[way];
	any = fmax(share[HEAT_ANY_PAGE] / (share[HEAT_ANY_PAGE] + near), LEAST_ANY_PAGE);
	any = near > 0 ? any : 1;
	for (unsigned way = HEAT_NEAR; way < HEAT_WAYS; way++)
		share[way] *= near > 0 ? (1 - any) * rest / near : 0;
	share[HEAT_ANY_PAGE] = any * rest;
}

static double mixed(const struct heat *heat, const float *of_way)
{
	double q = 0;

	for (unsigned way = 0; way < HEAT_WAYS; way++)
		q += heat->share[way] * of_way[way];
	return q;
}

/* One step towards the shares with the least sum of lines / q over the points. */
static void improve(
        struct heat *heat, const struct heat_point *points, const double *lines, unsigned n)
{
	double gain[HEAT_WAYS] = {0}, cost = 0, beliefs = 0;

	for (unsigned i = 0; i < n; i++) {
		double q = mixed(heat, points[i].of_way);

		cost += lines[i] / q / n;
		for (unsigned way = HEAT_ANY_PAGE; way < HEAT_WAYS; way++)
			gain[way] += lines[i] * points[i].of_way[way] / q / q;
	}
	for (unsigned way = HEAT_ANY_PAGE; way < HEAT_WAYS; way++)
		beliefs += belief(heat, way);
	for (unsigned way = HEAT_ANY_PAGE; way < HEAT_WAYS; way++) {
		double share = heat->share[way], believed = belief(heat, way) / beliefs;

		heat->share[way] = sqrt(
		        share * share * gain[way] + PRIOR * (n ? cost : 1) * believed * believed);
	}
	scale_shares(heat);
}

/* Ways that lead somewhere now and have lost their share get a little to start from. */
static void start_shares(struct heat *heat)
{
	for (unsigned way = HEAT_ANY_PAGE; way < HEAT_WAYS; way++)
		heat->share[way] =
		        belief(heat, way) > 0 ? fmax(heat->share[way], START * prior[way]) : 0;
	scale_shares(heat);
}

void heat_refresh(struct heat *heat)
{
	const struct heat_map *touched = &heat->map[HEAT_TOUCHED];
	double lines[HEAT_POINTS], cap[HEAT_SOURCES], moment = newest(touched);

	for (unsigned source = 0; source < HEAT_SOURCES; source++)
		cap[source] = sort_map(&heat->map[source]);
	for (unsigned i = 0; i < touched->n; i++)
		lines[i] = fmin(worth_at(&touched->ring[i], moment), cap[HEAT_TOUCHED]);
	start_shares(heat);
	for (unsigned round = 0; round < ROUNDS; round++)
		improve(heat, touched->ring, lines, touched->n);
	heat->news = 0;
}

unsigned heat_way(const struct heat *heat, double at)
{
	unsigned way = 0;

	for (; way + 1 < HEAT_WAYS && at >= heat->share[way]; way++)
		at -= heat->share[way];
	while (way > HEAT_ANY_REGION && heat->share[way] <= 0)
		way--;
	return way;
}

uint64_t heat_point(const struct heat *heat, unsigned way, double at)
{
	const struct heat_map *map = &heat->map[source_of(way)];
	unsigned low = 0, high = map->n_sorted - 1;

	at *= all_of(map);
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (map->before[middle + 1] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return map->page[low];
}

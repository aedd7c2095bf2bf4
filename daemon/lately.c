// SPDX-License-Identifier: MIT
/*
 * A line is drawn some tenths of a second before it is watched. A program that gives memory back
 * and takes it again in less than that has other pages by then: of those that were not resident
 * when lines were drawn none can be watched, and what they miss is not seen. But it takes back what
 * it gave, at the same addresses, for its allocator does. So where pages are born, draws are made
 * among all that were resident lately; a line that is not there when its watch begins counts as
 * untouched, even if it comes to be (flight.c), and every line that is there had the chance that
 * its weight says.
 *
 * Pages are noted in two generations of GENERATION_SECONDS, of CPU time (a process that seldom runs
 * changes slowly) and in the world (one of many threads has much of it before it is looked at): one
 * is being written, the other one remembered.
 */
#include "lately.h"

#include <stdlib.h>
#include <string.h>

#define GENERATION_SECONDS 4.0
#define AGE_MAX 15

void lately_done(struct lately *lately)
{
	free(lately->items);
	*lately = (struct lately){0};
}

static unsigned place_of(const struct lately *lately, uint64_t number)
{
	unsigned low = 0, high = lately->n;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (lately->items[middle].number >= number)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static struct lately_region *find(const struct lately *lately, uint64_t page)
{
	uint64_t number = page / REGION_PAGES;
	unsigned i = place_of(lately, number);

	return i < lately->n && lately->items[i].number == number ? &lately->items[i] : NULL;
}

static bool has_room(struct lately *lately)
{
	unsigned allocated = lately->allocated ? 2 * lately->allocated : 4;
	struct lately_region *items;

	if (lately->n < lately->allocated)
		return true;
	if (lately->n == LATELY_REGIONS)
		return false;
	items = realloc(lately->items, allocated * sizeof(*items));
	if (!items)
		return false;
	lately->items = items;
	lately->allocated = allocated;
	return true;
}

void lately_expect(struct lately *lately, uint64_t page)
{
	struct lately_region *region = find(lately, page);
	unsigned i = place_of(lately, page / REGION_PAGES);

	if (!region && has_room(lately)) {
		region = &lately->items[i];
		memmove(region + 1, region, (lately->n++ - i) * sizeof(*region));
		*region = (struct lately_region){.number = page / REGION_PAGES};
	}
	if (region)
		region->expected = LATELY_GENERATIONS;
}

void lately_pass(struct lately *lately, double moment, double wall)
{
	unsigned kept = 0;

	if (moment < lately->begun + GENERATION_SECONDS ||
	        wall < lately->begun_wall + GENERATION_SECONDS)
		return;
	lately->begun = moment;
	lately->begun_wall = wall;
	lately->now = (lately->now + 1) % LATELY_GENERATIONS;
	for (unsigned i = 0; i < lately->n; i++) {
		struct lately_region *region = &lately->items[i];

		if (region->expected == 0)
			continue;
		region->expected--;
		region->age += region->age < AGE_MAX;
		memset(region->seen[lately->now], 0, sizeof(region->seen[0]));
		lately->items[kept++] = *region;
	}
	lately->n = kept;
}

static bool was_seen(const struct lately_region *region, unsigned at)
{
	return (region->seen[0][at / 64] | region->seen[1][at / 64]) >> at % 64 & 1;
}

void lately_recall(struct lately *lately, uint64_t page, unsigned pages, uint64_t *entries)
{
	struct lately_region *region = NULL;

	for (unsigned i = 0; i < pages; i++) {
		unsigned at = (page + i) % REGION_PAGES;

		if (i == 0 || at == 0)
			region = find(lately, page + i);
		if (!region)
			continue;
		if (entries[i] & PAGEMAP_PRESENT)
			region->seen[lately->now][at / 64] |= 1ULL << at % 64;
		else if (was_seen(region, at))
			entries[i] |= PAGEMAP_PRESENT;
	}
}

/* Of one region, pages [begin, end) of it. */
static bool next_in(const struct lately_region *region, unsigned begin, unsigned end,
        uint64_t *ret_first, uint64_t *ret_end)
{
	uint64_t base = region->number * REGION_PAGES;

	while (begin < end && !was_seen(region, begin))
		begin++;
	while (end > begin && !was_seen(region, end - 1))
		end--;
	if (begin == end)
		return false;
	*ret_first = base + begin;
	*ret_end = base + end;
	return true;
}

bool lately_next(const struct lately *lately, uint64_t from, uint64_t to, uint64_t *ret_first,
        uint64_t *ret_end)
{
	for (unsigned i = place_of(lately, from / REGION_PAGES); i < lately->n; i++) {
		const struct lately_region *region = &lately->items[i];
		uint64_t base = region->number * REGION_PAGES, end = base + REGION_PAGES;

		if (base >= to)
			return false;
		if (next_in(region, (from > base ? from : base) - base,
		            (to < end ? to : end) - base, ret_first, ret_end))
			return true;
	}
	return false;
}

bool lately_knows(const struct lately *lately, uint64_t page)
{
	const struct lately_region *region = find(lately, page);
	unsigned at = page % REGION_PAGES, before = (lately->now + 1) % LATELY_GENERATIONS;

	return region && (region->age >= LATELY_GENERATIONS ||
	                         (region->seen[before][at / 64] >> at % 64 & 1));
}

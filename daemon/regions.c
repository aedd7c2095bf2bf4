// SPDX-License-Identifier: MIT
/*
 * A sorted array with running sums: looking up an address and drawing a region in proportion to
 * what is resident in it, of all memory or of any stretch of it, are binary searches.
 */
#include "regions.h"

#include <errno.h>
#include <stdlib.h>

static int append(struct regions *regions, uint64_t page, uint64_t pages)
{
	if (regions->n == regions->allocated) {
		unsigned allocated = regions->allocated ? regions->allocated * 2 : 64;
		struct region *items = realloc(regions->items, allocated * sizeof(*items));

		if (!items)
			return -ENOMEM;
		regions->items = items;
		regions->allocated = allocated;
	}
	regions->items[regions->n++] = (struct region){.page = page, .pages = pages};
	return 0;
}

int regions_add(struct regions *regions, uint64_t page, uint64_t end)
{
	int r = 0;

	while (page < end && r == 0) {
		uint64_t cut = (page / REGION_PAGES + 1) * REGION_PAGES;

		if (regions->n >= REGIONS_MAX) {
			regions->unseen += end - page;
			return 0;
		}
		cut = cut < end ? cut : end;
		r = append(regions, page, cut - page);
		page = cut;
	}
	return r;
}

void regions_clear(struct regions *regions)
{
	regions->n = regions->n_resident = 0;
	regions->resident = regions->present = regions->unseen = 0;
}

void regions_done(struct regions *regions)
{
	free(regions->items);
	*regions = (struct regions){0};
}

void regions_sum(struct regions *regions)
{
	regions->resident = regions->n_resident = 0;
	for (unsigned i = 0; i < regions->n; i++) {
		struct region *region = &regions->items[i];

		region->before = regions->resident;
		regions->resident += region->resident;
		regions->n_resident += region->resident > 0;
	}
}

unsigned regions_from(const struct regions *regions, uint64_t page)
{
	unsigned low = 0, high = regions->n;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (regions->items[middle].page + regions->items[middle].pages > page)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

const struct region *regions_at(const struct regions *regions, uint64_t page)
{
	unsigned i = regions_from(regions, page);

	return i < regions->n && regions->items[i].page <= page ? &regions->items[i] : NULL;
}

static uint64_t before(const struct regions *regions, unsigned i)
{
	return i < regions->n ? regions->items[i].before : regions->resident;
}

uint64_t regions_resident(const struct regions *regions, unsigned from, unsigned to)
{
	return before(regions, to) - before(regions, from);
}

const struct region *regions_nth(const struct regions *regions, uint64_t nth)
{
	unsigned low = 0, high = regions->n - 1;

	while (low < high) {
		unsigned middle = (low + high + 1) / 2;

		if (regions->items[middle].before <= nth)
			low = middle;
		else
			high = middle - 1;
	}
	return &regions->items[low];
}

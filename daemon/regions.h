/* SPDX-License-Identifier: MIT */
#ifndef MTLD_REGIONS_H
#define MTLD_REGIONS_H

/*
 * Mapped memory as the planner knows it: regions of at most 2 MiB that cross no boundary of 2 MiB,
 * ascending, each with its resident pages by the latest survey. 16 bytes a region.
 */

#include <stdint.h>

#define REGION_PAGES 512
#define REGIONS_MAX 131072 /* 256 GiB */

struct region {
	uint64_t page : 44;     /* first page number */
	uint64_t pages : 10;    /* 1 ... REGION_PAGES */
	uint64_t resident : 10; /* of them */
	uint64_t before;        /* pages resident in all regions before this one */
};

struct regions {
	struct region *items;
	unsigned n, allocated;
	uint64_t resident;   /* pages in all */
	uint64_t present;    /* of them now, where those that were lately count as resident */
	unsigned n_resident; /* regions with any */
	uint64_t unseen;     /* pages beyond REGIONS_MAX */
};

/* Appends pages [page, end), beyond all there are. -ENOMEM. */
int regions_add(struct regions *regions, uint64_t page, uint64_t end);
void regions_clear(struct regions *regions);
void regions_done(struct regions *regions);

/* Every region's `resident` is set: adds them up. */
void regions_sum(struct regions *regions);

/* Index of the first region that ends beyond `page`; regions->n: none. */
unsigned regions_from(const struct regions *regions, uint64_t page);

/* The region `page` lies in, or NULL. */
const struct region *regions_at(const struct regions *regions, uint64_t page);

/* Pages resident in regions from ... to - 1. */
uint64_t regions_resident(const struct regions *regions, unsigned from, unsigned to);

/* The region that holds the nth resident page, nth < regions->resident. */
const struct region *regions_nth(const struct regions *regions, uint64_t nth);

#endif

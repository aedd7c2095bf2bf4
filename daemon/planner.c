// SPDX-License-Identifier: MIT
/*
 * Drawing lines with known probability.
 *
 * Mapped memory is cut into regions of at most 2 MiB (regions.c). A survey counts the resident
 * pages of each from /proc/PID/pagemap. A draw takes one of the ways of heat.c: any region, any
 * resident page by the survey, or one near where touches were seen. Then the region's slice of
 * pagemap is read anew and one of the pages resident *now* in it (or in the block of it that the
 * way leads to) is picked, one of its 64 lines and some of the line's words, all uniformly.
 * Whichever way it came, the page was drawn with the probability q that all ways together have to
 * come to it, whatever has changed since the survey: the weight 64 / q carries that to the estimate
 * (while nothing became resident since the survey, its count serves for the region's and one entry
 * is read instead of the slice). Where pages come and go, those that were resident lately are drawn
 * as well (lately.c). Two ways know nothing of heat; they keep every region possible and
 * its weight bounded.
 *
 * A draw that meets an empty region tries again, so the weight is divided by the tries a draw
 * takes: those the survey predicts, times a running average of what draws took beyond that. (The
 * average of tries, not the share of tries that met: read after a success, such a share is too
 * high.)
 *
 * Left out: what data accesses cannot reach or debug registers cannot watch (no permission,
 * vsyscall, devices) and pure program text, whose lines are fetched, not read.
 */
#include "planner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "heat.h"
#include "lately.h"
#include "proc.h"
#include "regions.h"

#define PAGE 4096ULL
#define LINES_PER_PAGE (PAGE / MTL_LINE_BYTES)
#define TRIES 64
#define TRIES_MEMORY 128 /* draws */
#define QUICK_TRIES 8
#define QUICK_SHARE 4 /* of a region resident, at least a part of so many */
#define REFRESH 8     /* observations between two looks at the heat */
#define BIRTHS_MEMORY 16
/* With a larger part of births than that at known pages, mappings that are gone are taken to come
 * back. */
#define RETURNING 0.25

/* pagemap: bit 63 present (lately.h), 61 file-mapped or shared anonymous, 0-54 page frame */
#define PAGEMAP_FILE (1ULL << 61)
#define PAGEMAP_FRAME ((1ULL << 55) - 1)
#define KPAGEFLAGS_THP (1ULL << 22)

struct planner {
	char *root;
	pid_t pid;
	int pagemap, page_flags;
	struct regions now, next; /* the latest survey, and the one under way */
	unsigned surveyed;        /* regions of `next` already counted */
	double returning; /* the part of the latest births that were of pages known already */
	bool settled;     /* nothing became resident since the latest survey */
	double excess;    /* tries that draws took of late, over what the survey predicts */
	struct heat heat;
	struct lately lately;
	unsigned short random[3];
};

DEFINE_CLEANUP(struct planner, planner_free)

static int open_page_flags(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/kpageflags", root);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int planner_new(const char *root, pid_t pid, uint64_t seed, struct planner **ret_planner)
{
	_cleanup_(planner_freep) struct planner *planner = calloc(1, sizeof(*planner));

	if (!planner)
		return -ENOMEM;
	planner->pid = pid;
	planner->pagemap = planner->page_flags = -1;
	planner->excess = 1;
	heat_begin(&planner->heat);
	planner->root = strdup(root);
	if (!planner->root)
		return -ENOMEM;
	memcpy(planner->random, &seed, sizeof(planner->random));
	planner->pagemap = proc_open_pagemap(root, pid);
	if (planner->pagemap < 0)
		return planner->pagemap;
	planner->page_flags = open_page_flags(root);
	*ret_planner = TAKE_PTR(planner);
	return 0;
}

struct planner *planner_free(struct planner *planner)
{
	if (!planner)
		return NULL;
	if (planner->pagemap >= 0)
		close(planner->pagemap);
	if (planner->page_flags >= 0)
		close(planner->page_flags);
	regions_done(&planner->now);
	regions_done(&planner->next);
	lately_done(&planner->lately);
	free(planner->root);
	free(planner);
	return NULL;
}

/* ---- survey ---- */

static bool begins_with_any(const char *name, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (!strncmp(name, *beginnings, strlen(*beginnings)))
			return true;
	return false;
}

static bool watchable(const struct proc_mapping *mapping)
{
	static const char *const beyond[] = {
	        "[vsyscall]", "[vvar", "[vdso]", "[uprobes]", "/dev/", NULL};
	static const char *const memory[] = {"/dev/shm/", "/dev/hugepages/", "/dev/zero", NULL};

	if (mapping->permissions[0] != 'r' && mapping->permissions[1] != 'w')
		return false;
	if (mapping->permissions[1] != 'w' && mapping->permissions[2] == 'x')
		return false;
	return !begins_with_any(mapping->name, beyond) || begins_with_any(mapping->name, memory);
}

struct mappings {
	struct planner *planner;
	uint64_t end; /* page up to which they are known */
};

/* What could be reached lately, and cannot now, up to the page `to`. */
static int add_gone(struct mappings *mappings, uint64_t to)
{
	struct planner *planner = mappings->planner;
	uint64_t first;
	int r = 0;

	while (r >= 0 && planner->returning > RETURNING &&
	        lately_next(&planner->lately, mappings->end, to, &first, &mappings->end))
		r = regions_add(&planner->next, first, mappings->end);
	return r;
}

static int add_mapping(void *userdata, const struct proc_mapping *mapping)
{
	struct mappings *mappings = userdata;
	int r = add_gone(mappings, mapping->start / PAGE);

	if (strncmp(mapping->permissions, "---", 3) != 0)
		mappings->end = mapping->end / PAGE;
	if (r < 0 || !watchable(mapping))
		return r;
	return regions_add(&mappings->planner->next, mapping->start / PAGE, mapping->end / PAGE);
}

static int list_regions(struct planner *planner)
{
	struct mappings mappings = {.planner = planner};
	int r;

	regions_clear(&planner->next);
	r = proc_mappings(planner->root, planner->pid, add_mapping, &mappings);
	if (r >= 0 && planner->next.n > 0)
		r = add_gone(&mappings, UINT64_MAX);
	return r < 0 || planner->next.n > 0 ? r : -ESRCH;
}

/* pagemap entries of so many pages; 0 entries: the process is gone. */
static unsigned read_entries(
        const struct planner *planner, uint64_t page, unsigned pages, uint64_t *ret_entries)
{
	ssize_t n = pread(planner->pagemap, ret_entries, pages * 8, page * 8);

	return n > 0 ? n / 8 : 0;
}

/* The same, present if they are or were lately. */
static unsigned read_pages(
        struct planner *planner, uint64_t page, unsigned pages, uint64_t *ret_entries)
{
	unsigned n = read_entries(planner, page, pages, ret_entries);

	lately_recall(&planner->lately, page, n, ret_entries);
	return n;
}

static unsigned count_present(const uint64_t *entries, unsigned n)
{
	unsigned present = 0;

	for (unsigned i = 0; i < n; i++)
		present += entries[i] >> 63;
	return present;
}

static void finish_survey(struct planner *planner)
{
	struct regions old = planner->now;

	regions_sum(&planner->next);
	planner->now = planner->next;
	planner->next = (struct regions){.items = old.items, .allocated = old.allocated};
	planner->surveyed = 0;
	heat_refresh(&planner->heat);
}

int planner_survey(struct planner *planner, unsigned n_regions)
{
	uint64_t entries[REGION_PAGES];
	int r = planner->surveyed == 0 ? list_regions(planner) : 0;

	if (r < 0)
		return r;
	for (; n_regions > 0 && planner->surveyed < planner->next.n; n_regions--) {
		struct region *region = &planner->next.items[planner->surveyed++];
		unsigned n = read_entries(planner, region->page, region->pages, entries);

		planner->next.present += count_present(entries, n);
		lately_recall(&planner->lately, region->page, n, entries);
		region->resident = count_present(entries, n);
	}
	if (planner->surveyed < planner->next.n)
		return 0;
	finish_survey(planner);
	return 1;
}

void planner_set_settled(struct planner *planner, bool settled)
{
	planner->settled = settled;
}

double planner_resident_bytes(const struct planner *planner)
{
	return planner->now.present * (double)PAGE;
}

double planner_unseen_bytes(const struct planner *planner)
{
	return planner->now.unseen * (double)PAGE;
}

/* ---- drawing ---- */

static unsigned below(struct planner *planner, unsigned n)
{
	return (unsigned)(erand48(planner->random) * n);
}

static uint64_t nth_present(const uint64_t *entries, unsigned n)
{
	for (unsigned page = 0;; page++)
		if (entries[page] >> 63 && n-- == 0)
			return page;
}

/* One resident page of the region, uniformly, by single entries; false: too few are resident. */
static bool pick_page_quickly(
        struct planner *planner, const struct region *region, uint64_t *ret_page)
{
	for (unsigned i = 0; i < QUICK_TRIES; i++) {
		uint64_t entry, page = region->page + below(planner, region->pages);

		if (read_pages(planner, page, 1, &entry) == 1 && (entry & PAGEMAP_PRESENT)) {
			*ret_page = page;
			return true;
		}
	}
	return false;
}

static unsigned count_block(struct planner *planner, struct heat_block block, uint64_t *entries)
{
	return count_present(
	        entries, read_pages(planner, block.first, block.end - block.first, entries));
}

/* One resident page of the block, uniformly; returns how many it has, 0: none. */
static unsigned pick_page(struct planner *planner, struct heat_block block, uint64_t *ret_page)
{
	uint64_t entries[REGION_PAGES];
	unsigned present = count_block(planner, block, entries);

	if (present > 0)
		*ret_page = block.first + nth_present(entries, below(planner, present));
	return present;
}

static struct heat_block all_of(const struct region *region)
{
	return (struct heat_block){region->page, region->page + region->pages};
}

static bool pick_in_region(struct planner *planner, struct heat_place *place)
{
	const struct region *region = place->region;

	if (planner->settled && region->resident * QUICK_SHARE > region->pages &&
	        pick_page_quickly(planner, region, &place->page)) {
		place->in_region = region->resident;
		return true;
	}
	place->in_region = pick_page(planner, all_of(region), &place->page);
	return place->in_region > 0;
}

static bool pick_in_block(struct planner *planner, unsigned scale, struct heat_place *place)
{
	uint64_t entries[REGION_PAGES];
	if (!pick_page(planner, heat_block(scale, place->page, place->region), &place->page))
		return false;
	place->in_region = planner->settled ? place->region->resident
	                                    : count_block(planner, all_of(place->region), entries);
	return place->in_region > 0;
}

static const struct region *region_near(struct planner *planner, struct heat_block block)
{
	const struct regions *regions = &planner->now;
	unsigned from = regions_from(regions, block.first), to = regions_from(regions, block.end);
	uint64_t resident = regions_resident(regions, from, to);

	if (!resident)
		return NULL;
	return regions_nth(regions,
	        regions->items[from].before + (uint64_t)(erand48(planner->random) * resident));
}

/* A resident page in the block of the way's scale around a point of its heat. */
static bool pick_near(struct planner *planner, unsigned way, struct heat_place *place)
{
	unsigned scale = heat_scale(way);

	place->page = heat_point(&planner->heat, way, erand48(planner->random));
	place->region = regions_at(&planner->now, place->page);
	if (scale < HEAT_FINE)
		return place->region && pick_in_block(planner, scale, place);
	place->region = region_near(planner, heat_block(scale, place->page, place->region));
	return place->region && pick_in_region(planner, place);
}

static bool pick(struct planner *planner, struct heat_place *place)
{
	const struct regions *regions = &planner->now;
	unsigned way = heat_way(&planner->heat, erand48(planner->random));

	if (way >= HEAT_NEAR)
		return pick_near(planner, way, place);
	if (way == HEAT_ANY_REGION)
		place->region = &regions->items[below(planner, regions->n)];
	else if (regions->resident == 0)
		return false;
	else
		place->region = regions_nth(
		        regions, (uint64_t)(erand48(planner->random) * regions->resident));
	return pick_in_region(planner, place);
}

/* Pages resident now in the fine blocks around the page, where heat may have led to it. */
static void count_blocks(struct planner *planner, struct heat_place *place)
{
	uint64_t entries[REGION_PAGES];
	for (unsigned scale = 0; scale < HEAT_FINE; scale++) {
		struct heat_block block = heat_block(scale, place->page, place->region);

		place->in_block[scale] = 1;
		if (scale > 0 && heat_reaches(&planner->heat, block))
			place->in_block[scale] = fmax(1, count_block(planner, block, entries));
	}
}

/* How many tries a draw takes if the survey is right. */
static double tries_expected(const struct planner *planner)
{
	const struct regions *regions = &planner->now;
	double misses = planner->heat.share[HEAT_ANY_REGION] * (regions->n - regions->n_resident) /
	                regions->n;

	return 1 / fmax(1 - misses - (regions->resident ? 0 : planner->heat.share[HEAT_ANY_PAGE]),
	                   1.0 / TRIES);
}

int planner_draw(struct planner *planner, const struct planner_deadlines *deadlines, unsigned slots,
        bool whole_line, struct candidate *ret_candidate)
{
	struct heat_place place;
	unsigned tries = 0;
	uint64_t line;
	double expected;
	bool found = false;

	if (planner->now.n == 0)
		return -ENODATA;
	if (planner->heat.news >= REFRESH)
		heat_refresh(&planner->heat);
	expected = tries_expected(planner);
	for (; tries < TRIES && !found; tries++)
		found = pick(planner, &place);
	planner->excess += (tries / expected - planner->excess) / TRIES_MEMORY;
	if (!found)
		return -ENODATA;
	count_blocks(planner, &place);
	line = place.page * PAGE + below(planner, LINES_PER_PAGE) * MTL_LINE_BYTES;
	*ret_candidate = (struct candidate){
	        .weight = LINES_PER_PAGE / heat_probability(&planner->heat, &planner->now, &place) /
	                  (expected * planner->excess),
	        .deadline_ns = candidate_deadline(deadlines, planner->random) * 1e9,
	};
	candidate_cover(ret_candidate, line, slots, whole_line, planner->random);
	return 0;
}

int planner_heat(struct planner *planner, uint64_t address, double amount)
{
	if (!(amount > 0) || !isfinite(amount))
		return -EINVAL;
	heat_add(&planner->heat, &planner->now, HEAT_TOLD, address / PAGE, amount);
	return 0;
}

void planner_saw(
        struct planner *planner, uint64_t address, const struct mtl_observation *observation)
{
	bool touched = false;

	for (unsigned slot = 0; slot < observation->slots; slot++)
		touched |= isfinite(observation->touched[slot]);
	heat_pass(&planner->heat, observation->moment);
	lately_pass(&planner->lately, observation->moment, observation->wall);
	if (touched)
		heat_add(&planner->heat, &planner->now, HEAT_TOUCHED, address / PAGE,
		        observation->weight);
}

static bool is_huge(const struct planner *planner, uint64_t entry)
{
	uint64_t flags = 0;

	if (planner->page_flags < 0 || !(entry & PAGEMAP_FRAME))
		return false;
	return pread(planner->page_flags, &flags, 8, (entry & PAGEMAP_FRAME) * 8) == 8 &&
	       (flags & KPAGEFLAGS_THP);
}

bool planner_birth(struct planner *planner, uint64_t address)
{
	bool known = lately_knows(&planner->lately, address / PAGE);

	lately_expect(&planner->lately, address / PAGE);
	planner->returning += (known - planner->returning) / BIRTHS_MEMORY;
	return known;
}

int planner_fresh_lines(struct planner *planner, uint64_t address, unsigned *ret_lines)
{
	uint64_t entry;

	if (pread(planner->pagemap, &entry, 8, address / PAGE * 8) != 8 ||
	        !(entry & PAGEMAP_PRESENT))
		return -ESRCH;
	if (entry & PAGEMAP_FILE)
		*ret_lines = 0;
	else
		*ret_lines = LINES_PER_PAGE * (is_huge(planner, entry) ? REGION_PAGES : 1);
	return 0;
}

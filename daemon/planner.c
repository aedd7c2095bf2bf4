// SPDX-License-Identifier: MIT
/*
 * Drawing lines with known probability.
 *
 * Mapped memory is cut into regions of at most 2 MiB. A survey counts the resident pages of each
 * from /proc/PID/pagemap. A draw then picks region j with probability
 *
 *     p_j = (r_j + f_j) / sum (r_i + f_i)      r: resident pages by the latest survey
 *                                              f: FLOOR_SHARE of all r, spread over mapped pages
 *
 * reads that region's slice of pagemap anew, and picks one of the n_j pages resident *now*, one of
 * its 64 lines and some of the line's words, all uniformly. The line was drawn with probability
 * q = p_j / (64 n_j), whatever has changed since the survey: the weight 1/q carries that to the
 * estimate (while nothing became resident since the survey, r_j serves for n_j and one entry is
 * read instead of the slice), and the floor f keeps every region possible and its weight bounded.
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
#include "proc.h"

#define PAGE 4096ULL
#define REGION_PAGES 512
#define REGIONS_MAX 131072 /* 256 GiB */
#define LINES_PER_PAGE (PAGE / MTL_LINE_BYTES)
#define FLOOR_SHARE 0.1
#define TRIES 64
#define TRIES_MEMORY 128 /* draws */
#define QUICK_TRIES 8
#define SIGHTINGS 128

/* pagemap: bit 63 present, 61 file-mapped or shared anonymous, 0-54 page frame */
#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_FILE (1ULL << 61)
#define PAGEMAP_FRAME ((1ULL << 55) - 1)
#define KPAGEFLAGS_THP (1ULL << 22)

struct region {
	uint64_t page; /* first page number */
	uint16_t pages;
	uint16_t resident;
	uint32_t reserved;
	double sum; /* of (resident + floor) up to and including this region */
};

struct regions {
	struct region *items;
	unsigned n, allocated;
	double unseen_bytes;
};

struct sighting {
	uint64_t address;
	double amount;
};

struct planner {
	char *root;
	pid_t pid;
	int pagemap, page_flags;
	struct regions now, next; /* the latest survey, and the one under way */
	unsigned surveyed;        /* regions of `next` already counted */
	bool settled;             /* nothing became resident since the latest survey */
	double tries;             /* a draw takes, by the latest survey */
	double excess;            /* what draws took of late, over `tries` */
	double resident_pages;
	struct sighting sightings[SIGHTINGS]; /* ring */
	unsigned n_sightings, next_sighting;
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
	free(planner->now.items);
	free(planner->next.items);
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

static int append_region(struct regions *regions, uint64_t page, uint64_t pages)
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

static int add_mapping(void *userdata, const struct proc_mapping *mapping)
{
	struct regions *regions = userdata;
	uint64_t page = mapping->start / PAGE, end = mapping->end / PAGE;
	int r = 0;

	if (!watchable(mapping))
		return 0;
	while (page < end && r == 0) {
		uint64_t cut = (page / REGION_PAGES + 1) * REGION_PAGES;

		if (regions->n >= REGIONS_MAX) {
			regions->unseen_bytes += (end - page) * PAGE;
			return 0;
		}
		cut = cut < end ? cut : end;
		r = append_region(regions, page, cut - page);
		page = cut;
	}
	return r;
}

/* pagemap entries of the region; 0 entries: the process or the mapping is gone. */
static unsigned read_region(
        const struct planner *planner, const struct region *region, uint64_t *ret_entries)
{
	ssize_t n = pread(planner->pagemap, ret_entries, region->pages * 8, region->page * 8);

	return n > 0 ? n / 8 : 0;
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
	double sum = 0, resident = 0, mapped = 0, met = 0, floor;

	for (unsigned i = 0; i < planner->next.n; i++) {
		resident += planner->next.items[i].resident;
		mapped += planner->next.items[i].pages;
	}
	floor = fmax(FLOOR_SHARE * resident, 1) / mapped;
	for (unsigned i = 0; i < planner->next.n; i++) {
		struct region *region = &planner->next.items[i];

		region->sum = sum += region->resident + floor * region->pages;
		met += region->resident ? region->resident + floor * region->pages : 0;
	}
	planner->tries = met > 0 ? sum / met : TRIES;
	planner->now = planner->next;
	planner->next = (struct regions){.items = old.items, .allocated = old.allocated};
	planner->surveyed = 0;
	planner->resident_pages = resident;
}

int planner_survey(struct planner *planner, unsigned n_regions)
{
	uint64_t entries[REGION_PAGES];

	if (planner->surveyed == 0) {
		int r;

		planner->next.n = 0;
		planner->next.unseen_bytes = 0;
		r = proc_mappings(planner->root, planner->pid, add_mapping, &planner->next);
		if (r < 0)
			return r;
		if (planner->next.n == 0)
			return -ESRCH;
	}
	for (; n_regions > 0 && planner->surveyed < planner->next.n; n_regions--) {
		struct region *region = &planner->next.items[planner->surveyed++];

		region->resident = count_present(entries, read_region(planner, region, entries));
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
	return planner->resident_pages * PAGE;
}

double planner_unseen_bytes(const struct planner *planner)
{
	return planner->now.unseen_bytes;
}

/* ---- drawing ---- */

static unsigned below(struct planner *planner, unsigned n)
{
	return (unsigned)(erand48(planner->random) * n);
}

static struct region *pick_region(struct planner *planner)
{
	struct regions *regions = &planner->now;
	double at = erand48(planner->random) * regions->items[regions->n - 1].sum;
	unsigned low = 0, high = regions->n - 1;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (regions->items[middle].sum > at)
			high = middle;
		else
			low = middle + 1;
	}
	return &regions->items[low];
}

static double probability_of(const struct regions *regions, const struct region *region)
{
	double before = region > regions->items ? region[-1].sum : 0;

	return (region->sum - before) / regions->items[regions->n - 1].sum;
}

static double log_uniform(struct planner *planner, double low, double high)
{
	return low * pow(high / low, erand48(planner->random));
}

static double draw_deadline(struct planner *planner, const struct planner_deadlines *deadlines)
{
	if (deadlines->limit > deadlines->longest && erand48(planner->random) < PLANNER_TAIL)
		return log_uniform(planner, deadlines->longest, deadlines->limit);
	return log_uniform(planner, deadlines->shortest, deadlines->longest);
}

/* `slots` different words of the line, in random order. */
static void pick_words(
        struct planner *planner, uint64_t line, unsigned slots, uint64_t *ret_address)
{
	unsigned words[MTL_WORDS_PER_LINE];

	for (unsigned i = 0; i < MTL_WORDS_PER_LINE; i++)
		words[i] = i;
	for (unsigned i = 0; i < slots; i++) {
		unsigned other = i + below(planner, MTL_WORDS_PER_LINE - i), word = words[other];

		words[other] = words[i];
		words[i] = word;
		ret_address[i] = line + word * 8;
	}
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

		if (pread(planner->pagemap, &entry, 8, page * 8) == 8 &&
		        (entry & PAGEMAP_PRESENT)) {
			*ret_page = page;
			return true;
		}
	}
	return false;
}

/* One resident page of the region, uniformly; returns how many it has, 0: none. */
static unsigned pick_page(struct planner *planner, const struct region *region, uint64_t *ret_page)
{
	uint64_t entries[REGION_PAGES];
	unsigned present;

	if (planner->settled && region->resident * 4U > region->pages &&
	        pick_page_quickly(planner, region, ret_page))
		return region->resident;
	present = count_present(entries, read_region(planner, region, entries));
	if (present > 0)
		*ret_page = region->page + nth_present(entries, below(planner, present));
	return present;
}

int planner_draw(struct planner *planner, const struct planner_deadlines *deadlines, unsigned slots,
        bool whole_line, struct candidate *ret_candidate)
{
	struct region *region = NULL;
	unsigned present = 0, tries = 0;
	uint64_t page = 0, line;

	if (planner->now.n == 0)
		return -ENODATA;
	for (; tries < TRIES && present == 0; tries++) {
		region = pick_region(planner);
		present = pick_page(planner, region, &page);
	}
	planner->excess += (tries / planner->tries - planner->excess) / TRIES_MEMORY;
	if (present == 0)
		return -ENODATA;
	line = page * PAGE + below(planner, LINES_PER_PAGE) * MTL_LINE_BYTES;
	*ret_candidate = (struct candidate){
	        .slots = whole_line ? 1 : slots,
	        .whole_line = whole_line,
	        .weight = present * (double)LINES_PER_PAGE / probability_of(&planner->now, region) /
	                  (planner->tries * planner->excess),
	        .deadline_ns = draw_deadline(planner, deadlines) * 1e9,
	};
	if (whole_line)
		ret_candidate->address[0] = line;
	else
		pick_words(planner, line, slots, ret_candidate->address);
	return 0;
}

int planner_heat(struct planner *planner, uint64_t address, double amount)
{
	if (!(amount > 0) || !isfinite(amount))
		return -EINVAL;
	planner->sightings[planner->next_sighting] = (struct sighting){address, amount};
	planner->next_sighting = (planner->next_sighting + 1) % SIGHTINGS;
	if (planner->n_sightings < SIGHTINGS)
		planner->n_sightings++;
	return 0;
}

static bool is_huge(const struct planner *planner, uint64_t entry)
{
	uint64_t flags = 0;

	if (planner->page_flags < 0 || !(entry & PAGEMAP_FRAME))
		return false;
	return pread(planner->page_flags, &flags, 8, (entry & PAGEMAP_FRAME) * 8) == 8 &&
	       (flags & KPAGEFLAGS_THP);
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

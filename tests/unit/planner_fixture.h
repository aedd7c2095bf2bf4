/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_PLANNER_FIXTURE_H
#define MTL_TEST_PLANNER_FIXTURE_H

/*
 * A process made of files, maps and a sparse pagemap, whose resident pages are known: a heap of
 * whole regions and a library's data across the borders of regions. To be included after cmocka.h.
 */

#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "fake_root.h"
#include "planner.h"

#define PID 5
#define PAGE 4096ULL
#define REGION 512 /* pages */
#define LINES 64   /* per page */
#define PRESENT (1ULL << 63)
#define SWAPPED (1ULL << 62)
#define FILE_PAGE (1ULL << 61)
#define HUGE_FLAG (1ULL << 22)

DEFINE_CLEANUP(struct planner, planner_free)

static const struct planner_deadlines deadlines = {0.001, 0.064, 1, 0};

#define HEAP_PAGE 0x10000ULL
#define HEAP_REGIONS 40
#define HEAP_PAGES (HEAP_REGIONS * REGION)
#define LIBRARY_PAGE 0x7f0000100ULL
#define LIBRARY_PAGES 700

static int pagemap = -1;
static bool heap[HEAP_PAGES], library[LIBRARY_PAGES];

static inline void set_entry(uint64_t page, uint64_t entry)
{
	assert_int_equal(pwrite(pagemap, &entry, 8, page * 8), 8);
}

static inline void set_heap(unsigned region, unsigned first, unsigned step, bool present)
{
	for (unsigned i = first; i < REGION; i += step) {
		heap[region * REGION + i] = present;
		set_entry(HEAP_PAGE + region * REGION + i, present ? PRESENT | i : SWAPPED | i);
	}
}

static inline void new_process(const char *maps)
{
	if (pagemap >= 0)
		close(pagemap);
	pagemap = fake_open("proc/5/pagemap");
	assert_true(pagemap >= 0);
	assert_int_equal(fake_file("proc/5/maps", maps), 0);
}

/* Of four regions of the heap one is full, one has every 8th page, one a single page, one none. */
static inline void fake_process(void)
{
	new_process("10000000-15000000 rw-p 00000000 00:00 0 [heap]\n"
	            "7f0000100000-7f00003bc000 rw-p 00000000 00:00 0\n");
	memset(heap, 0, sizeof(heap));
	for (unsigned i = 0; i < HEAP_REGIONS; i++) {
		const unsigned first[] = {0, i % 8, 17 * i % REGION, REGION};
		const unsigned step[] = {1, 8, REGION, 1};

		set_heap(i, first[i % 4], step[i % 4], true);
	}
	for (unsigned i = 0; i < LIBRARY_PAGES; i++) {
		library[i] = i % 3 == 0;
		set_entry(LIBRARY_PAGE + i, library[i] ? PRESENT | FILE_PAGE | i : 0);
	}
}

static inline bool is_resident(uint64_t page)
{
	if (page >= HEAP_PAGE && page < HEAP_PAGE + HEAP_PAGES)
		return heap[page - HEAP_PAGE];
	return page >= LIBRARY_PAGE && page < LIBRARY_PAGE + LIBRARY_PAGES &&
	       library[page - LIBRARY_PAGE];
}

static inline double resident_pages(void)
{
	double n = 0;

	for (unsigned i = 0; i < HEAP_PAGES; i++)
		n += heap[i];
	for (unsigned i = 0; i < LIBRARY_PAGES; i++)
		n += library[i];
	return n;
}

static inline struct planner *surveyed(uint64_t seed)
{
	struct planner *planner;

	assert_int_equal(planner_new(fake_root, PID, seed, &planner), 0);
	assert_int_equal(planner_survey(planner, 1000000), 1);
	return planner;
}

static inline struct candidate draw(struct planner *planner, unsigned slots, bool whole_line)
{
	struct candidate candidate;

	assert_int_equal(planner_draw(planner, &deadlines, slots, whole_line, &candidate), 0);
	return candidate;
}

static inline int process_setup(void **state)
{
	if (fake_root_new(state) < 0)
		return -1;
	fake_process();
	return 0;
}

static inline int process_teardown(void **state)
{
	close(pagemap);
	pagemap = -1;
	return fake_root_free(state);
}

#define on_process(test) cmocka_unit_test_setup_teardown(test, process_setup, process_teardown)

#endif

/* SPDX-License-Identifier: MIT */
/* Pages that come and go: remembered for a while, and drawn with the right weights whenever they
 * are watched. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "lately.h"
#include "planner_fixture.h"
#include "simulate.h"

#define AT (5 * REGION_PAGES + 17ULL)
#define N 40

/* How many of N pages at AT are taken for present, of which those from `first` on are, every
 * `step`. */
static unsigned recalled(struct lately *lately, unsigned first, unsigned step)
{
	uint64_t entries[N] = {0};
	unsigned n = 0;

	for (unsigned i = first; i < N; i += step)
		entries[i] = PRESENT | i;
	lately_recall(lately, AT, N, entries);
	for (unsigned i = 0; i < N; i++)
		n += entries[i] >> 63;
	return n;
}

static void without_births_nothing_is_remembered(void **state)
{
	struct lately lately = {0};

	(void)state;
	assert_int_equal(recalled(&lately, 0, 1), N);
	assert_int_equal(recalled(&lately, N, 1), 0);
	lately_expect(&lately, AT + REGION_PAGES); /* elsewhere */
	assert_int_equal(recalled(&lately, 0, 1), N);
	assert_int_equal(recalled(&lately, N, 1), 0);
	lately_done(&lately);
	assert_int_equal(lately.n, 0);
}

static void what_was_there_lately_is_remembered(void **state)
{
	struct lately lately = {0};

	(void)state;
	lately_expect(&lately, AT + 300);
	assert_int_equal(recalled(&lately, 0, 4), N / 4);
	assert_int_equal(recalled(&lately, 1, 4), N / 2);
	lately_pass(&lately, 5, 1000 + 5);
	assert_int_equal(recalled(&lately, 0, 4), N / 2); /* notes every fourth once more */
	lately_pass(&lately, 6, 1000 + 6);                /* too soon for another generation */
	assert_int_equal(recalled(&lately, N, 1), N / 2);
	lately_pass(&lately, 10, 1000 + 10);
	assert_int_equal(recalled(&lately, N, 1), N / 4);
	lately_pass(&lately, 15, 1000 + 15);
	assert_int_equal(recalled(&lately, N, 1), 0);
	lately_done(&lately);
}

/* A generation takes its time by both clocks. */
static void many_threads_do_not_hurry_it(void **state)
{
	struct lately lately = {0};

	(void)state;
	lately_expect(&lately, AT);
	lately_pass(&lately, 5, 1000);
	assert_int_equal(recalled(&lately, 0, 1), N);
	for (unsigned i = 1; i < 39; i++)
		lately_pass(&lately, 5 + i, 1000 + 0.1 * i);
	assert_int_equal(recalled(&lately, N, 1), N);
	lately_done(&lately);
}

static void a_page_is_known_from_the_generation_before(void **state)
{
	struct lately lately = {0};

	(void)state;
	lately_expect(&lately, AT);
	recalled(&lately, 0, 2);
	assert_false(lately_knows(&lately, AT));
	lately_pass(&lately, 5, 1000 + 5);
	assert_true(lately_knows(&lately, AT));
	assert_false(lately_knows(&lately, AT + 1));
	assert_false(lately_knows(&lately, AT + REGION_PAGES));
	lately_done(&lately);
}

/* What is there for too short a time to be seen, but is born there again and again. */
static void so_is_one_where_pages_have_long_been_born(void **state)
{
	struct lately lately = {0};

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		assert_true(lately_knows(&lately, AT + i) == (5 * i > 5));
		lately_expect(&lately, AT + i);
		lately_pass(&lately, 5 + 5 * i, 1000 + 5 * i);
	}
	lately_done(&lately);
}

static void where_births_end_nothing_is_kept(void **state)
{
	struct lately lately = {0};

	(void)state;
	lately_expect(&lately, AT);
	lately_expect(&lately, AT + REGION_PAGES);
	for (unsigned i = 1; i <= LATELY_GENERATIONS + 1; i++) {
		lately_expect(&lately, AT);
		lately_pass(&lately, 5 * i, 1000 + 5 * i);
	}
	assert_int_equal(lately.n, 1);
	assert_int_equal(lately.items[0].number, AT / REGION_PAGES);
	lately_done(&lately);
}

static void it_has_bounds(void **state)
{
	struct lately lately = {0};
	uint64_t first, end;

	(void)state;
	for (uint64_t i = 3 * LATELY_REGIONS; i-- > 0;)
		lately_expect(&lately, i * 7 % (3 * LATELY_REGIONS) * REGION_PAGES);
	assert_int_equal(lately.n, LATELY_REGIONS);
	for (unsigned i = 1; i < lately.n; i++)
		assert_true(lately.items[i - 1].number < lately.items[i].number);
	assert_false(lately_next(&lately, 0, UINT64_MAX, &first, &end));
	lately_done(&lately);
}

static void the_next_that_was_seen(void **state)
{
	struct lately lately = {0};
	uint64_t first, end;

	(void)state;
	lately_expect(&lately, AT);
	recalled(&lately, 3, 5); /* 3, 8, ... 38 */
	assert_true(lately_next(&lately, 0, UINT64_MAX, &first, &end));
	assert_true(first == AT + 3 && end == AT + 39);
	assert_true(lately_next(&lately, AT + 4, AT + 30, &first, &end));
	assert_true(first == AT + 8 && end == AT + 29);
	assert_false(lately_next(&lately, AT + 9, AT + 13, &first, &end));
	assert_false(lately_next(&lately, AT + 39, UINT64_MAX, &first, &end));
	assert_false(lately_next(&lately, 0, AT, &first, &end));
	lately_done(&lately);
}

/* ---- drawn, and watched later ---- */

#define PHASES 4

enum mapped { NOT_ALWAYS, ALWAYS, OUT_OF_REACH, MAPPED };

static const char *const how[MAPPED] = {
        "not always mapped", "always mapped", "out of reach at times"};
static const char *const at_times[MAPPED] = {
        [NOT_ALWAYS] = "10000000-10200000 rw-p 00000000 00:00 0\n",
        [ALWAYS] = "10000000-10400000 rw-p 00000000 00:00 0\n",
        [OUT_OF_REACH] = "10000000-10200000 rw-p 00000000 00:00 0\n10200000-10400000 ---p 00000000 "
                         "00:00 0\n",
};
static enum mapped mapped;

/* The second region's pages come in four parts, one after the other, and go together: a unit of
 * work. */
static void go_to_phase(unsigned phase)
{
	uint64_t entries[REGION];

	for (unsigned i = 0; i < REGION; i++) {
		heap[REGION + i] = i % PHASES < phase;
		entries[i] = heap[REGION + i] ? PRESENT | i : 0;
	}
	assert_int_equal(pwrite(pagemap, entries, sizeof(entries), (HEAP_PAGE + REGION) * 8),
	        sizeof(entries));
}

static void survey(struct planner *planner, unsigned phase)
{
	const char *maps = phase > 0 ? at_times[ALWAYS] : at_times[mapped];

	assert_int_equal(fake_file("proc/5/maps", maps), 0);
	assert_int_equal(planner_survey(planner, 100), 1);
}

static double in_second(uint64_t page)
{
	return page / REGION == HEAP_PAGE / REGION + 1 && is_resident(page);
}

/* Lines of the second region that are there when watched, by draws at moments that know nothing of
 * these, in parts of those that are. */
static double seen_later(struct planner *planner)
{
	unsigned short random[3] = {1, 2, 3};
	double sum = 0, truth = 0;
	unsigned draws = RUNNING_ON_VALGRIND ? 500 : 6000;

	for (unsigned i = 0; i < draws; i++) {
		struct candidate candidate;
		unsigned phase = (unsigned)(erand48(random) * (PHASES + 1));

		go_to_phase(phase);
		if (i % 20 == 0)
			survey(planner, phase);
		candidate = draw(planner, 1, true);
		phase = (unsigned)(erand48(random) * (PHASES + 1));
		go_to_phase(phase);
		sum += candidate.weight * in_second(candidate.address[0] / PAGE);
		truth += LINES * REGION * phase / PHASES;
	}
	return sum / truth;
}

static void births_are_told(struct planner *planner)
{
	for (unsigned round = 0; round < 40; round++) {
		const struct mtl_observation seen = {.moment = round / 5.,
		        .wall = round / 5.,
		        .weight = 1,
		        .slots = 1,
		        .touched = {INFINITY}};

		go_to_phase(round % (PHASES + 1));
		planner_saw(planner, HEAP_PAGE * PAGE, &seen);
		planner_birth(planner, (HEAP_PAGE + REGION) * PAGE);
		survey(planner, round % (PHASES + 1));
		draw(planner, 1, true);
	}
}

static struct planner *of_small_process(enum mapped wanted, uint64_t seed)
{
	mapped = wanted;
	for (unsigned i = 2; i < HEAP_REGIONS; i++)
		set_heap(i, 0, 1, false);
	go_to_phase(1);
	return surveyed(seed);
}

/* Drawn among what is there at the time, lines that are there for a part of the time are missed for
 * the rest. */
static void what_comes_and_goes_is_missed_without(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = of_small_process(ALWAYS, 31);

	(void)state;
	assert_true(seen_later(planner) < 0.85);
}

static void what_comes_and_goes_is_drawn(void **state)
{
	const double bound = RUNNING_ON_VALGRIND ? 0.3 : 0.06;

	(void)state;
	for (unsigned i = 0; i < MAPPED; i++) {
		_cleanup_(planner_freep) struct planner *planner = of_small_process(i, 32 + i);
		double seen;

		births_are_told(planner);
		seen = seen_later(planner);
		if (fabs(seen - 1) > bound)
			fail_msg("%s: %.3f of what was there", how[i], seen);
	}
}

/* What was there lately is drawn, not counted as resident. */
static void resident_is_what_is_there(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = of_small_process(ALWAYS, 36);
	double without;

	(void)state;
	births_are_told(planner);
	go_to_phase(0);
	survey(planner, 0);
	without = planner_resident_bytes(planner);
	assert_true(without == REGION * PAGE);
	go_to_phase(PHASES);
	survey(planner, PHASES);
	assert_true(planner_resident_bytes(planner) == without + REGION * PAGE);
}

static void a_birth_where_there_was_one_before(void **state)
{
	_cleanup_(planner_freep) struct planner *planner = surveyed(34);
	const struct mtl_observation later = {
	        .moment = 5, .wall = 5, .weight = 1, .slots = 1, .touched = {INFINITY}};

	(void)state;
	assert_false(planner_birth(planner, HEAP_PAGE * PAGE));
	draw(planner, 1, true);
	for (unsigned i = 0; i < 200; i++)
		draw(planner, 1, true); /* looks at it */
	assert_false(planner_birth(planner, HEAP_PAGE * PAGE));
	planner_saw(planner, HEAP_PAGE * PAGE, &later);
	assert_true(planner_birth(planner, HEAP_PAGE * PAGE));
	assert_false(planner_birth(planner, 0x123456789000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(without_births_nothing_is_remembered),
	        cmocka_unit_test(what_was_there_lately_is_remembered),
	        cmocka_unit_test(many_threads_do_not_hurry_it),
	        cmocka_unit_test(a_page_is_known_from_the_generation_before),
	        cmocka_unit_test(so_is_one_where_pages_have_long_been_born),
	        cmocka_unit_test(where_births_end_nothing_is_kept),
	        cmocka_unit_test(it_has_bounds),
	        cmocka_unit_test(the_next_that_was_seen),
	        on_process(what_comes_and_goes_is_missed_without),
	        on_process(what_comes_and_goes_is_drawn),
	        on_process(resident_is_what_is_there),
	        on_process(a_birth_where_there_was_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* Which misses begin a visit, when its watch is due, and what it watches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mtl.h"
#include "simulate.h"
#include "visit.h"

#define QUIET 1e-4
#define QUIET_NS 100000
#define LINE 0x7f0000001040ULL

static const struct visit_terms terms = {
        .quiet = QUIET,
        .part = 0.5,
        .turns = {0.03, 0.01},
        .deadlines = {1e-5, 1e-2, 1e-2},
};

static struct visits visits;

static void begin_at(uint64_t clock)
{
	visits = (struct visits){.random = {1, 2, 3}};
	visits_ask(&visits, &terms, clock);
}

static int begin(void **state)
{
	(void)state;
	begin_at(0);
	return 0;
}

static struct mtl_hit miss_at(uint64_t clock)
{
	return (struct mtl_hit){.clock = clock & (~0ULL >> MTL_CLOCK_SHIFT),
	        .slot = MTL_SLOT_MISS,
	        .address = LINE + 24,
	        .period = 1000};
}

/* The next moment of reuse (or residual) times that has so much of its slice left, ns. */
static uint64_t turn(uint64_t clock, bool reuse, double left)
{
	while (visits_have_turn(&visits, clock) != reuse || visits.slices.end - clock / 1e9 < left)
		clock += QUIET_NS;
	return clock;
}

static void test_misses_wait_for_their_turn(void **state)
{
	uint64_t residual = turn(0, false, 0), reuse;
	struct mtl_hit miss = miss_at(residual);

	(void)state;
	assert_false(visits_begin(&visits, &miss, residual, 0));
	assert_int_equal(visits_part(&visits, residual), 0);
	reuse = turn(residual, true, 1e-3);
	miss = miss_at(reuse);
	assert_true(visits_begin(&visits, &miss, reuse, 0));
	assert_false(visits_begin(&visits, &miss, reuse, 0)); /* one at a time */
	assert_int_equal(visits_part(&visits, reuse), UINT32_MAX / 2);
}

/* Told 30 us late; the clock of BPF has 52 bits, that of mtld all. */
static void test_the_watch_is_due_when_the_visit_is_over(void **state)
{
	struct mtl_hit miss;
	uint64_t clock;

	(void)state;
	begin_at(7ULL << 52);
	clock = turn(7ULL << 52, true, 1e-3);
	miss = miss_at(clock - 30000);
	assert_true(visits_begin(&visits, &miss, clock, 5));
	assert_int_equal(visits.sampled, clock - 30000);
	assert_int_equal(visits_left(&visits, clock), QUIET_NS - 30000);
	assert_true(visits_left(&visits, clock + QUIET_NS) < 0);
	assert_false(visits_late(&visits, visits.sampled + QUIET_NS));
	assert_false(visits_late(&visits, visits.sampled + QUIET_NS * 14 / 10));
	assert_true(visits_late(&visits, visits.sampled + QUIET_NS * 16 / 10));
}

static void test_words_of_its_line_are_watched(void **state)
{
	uint64_t clock = turn(0, true, 1e-3);
	struct mtl_hit miss = miss_at(clock);
	struct candidate words, whole;

	(void)state;
	assert_true(visits_begin(&visits, &miss, clock, 0));
	words = visits_candidate(&visits, 4, false);
	whole = visits_candidate(&visits, 4, true);
	assert_int_equal(words.slots, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(words.address[i] - LINE < MTL_LINE_BYTES && words.address[i] % 8 == 0);
		for (unsigned j = 0; j < i; j++)
			assert_true(words.address[i] != words.address[j]);
	}
	assert_true(whole.whole_line && whole.slots == 1 && whole.address[0] == LINE);
	/* one in two of those told, which are one in 1000 */
	assert_true(words.weight == 2000);
}

/* No deadline is over before the watch is due, none lasts beyond its slice. */
static void test_deadlines_end_with_their_slice(void **state)
{
	uint64_t clock = 0;
	unsigned cut = 0;

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		struct mtl_hit miss;
		struct candidate candidate;

		clock = turn(clock + 50000, true, 0);
		miss = miss_at(clock);
		if (!visits_begin(&visits, &miss, clock, 0))
			continue;
		candidate = visits_candidate(&visits, 4, false);
		visits.waiting = false;
		assert_true(candidate.deadline_ns > QUIET_NS);
		assert_true(clock + candidate.deadline_ns <= visits.slices.end * 1e9 + 1);
		cut += clock + candidate.deadline_ns >= visits.slices.end * 1e9 - 1;
	}
	assert_true(cut > 10);
}

static void test_residual_watches_end_with_theirs(void **state)
{
	uint64_t clock = turn(0, false, 5e-3), end = visits.slices.end * 1e9;

	(void)state;
	assert_int_equal(visits_deadline(&visits, clock, 1000), 1000); /* however short */
	assert_in_range(
	        visits_deadline(&visits, clock, 1000000000), end - clock - 1, end - clock + 1);
	assert_int_equal(visits_deadline(&visits, end - 1000, 1000000000), 0);
}

static void test_without_terms_nothing_is_cut(void **state)
{
	const struct visit_terms none = {.quiet = 0};
	struct mtl_hit miss = miss_at(1000);

	(void)state;
	visits_ask(&visits, &none, 0);
	assert_int_equal(visits_deadline(&visits, 0, 12345678901), 12345678901);
	for (uint64_t clock = 0; clock < 1000000000; clock += 1000000)
		assert_false(visits_have_turn(&visits, clock));
	assert_false(visits_begin(&visits, &miss, 1000, 0));
}

/* New terms are no reason to begin the slices anew: whoever gives them looked at the program. */
static void test_slices_go_on_under_new_terms(void **state)
{
	struct visit_terms other = terms;
	double end;

	(void)state;
	turn(50000000, true, 0);
	end = visits.slices.end;
	other.quiet = 2 * QUIET;
	visits_ask(&visits, &other, 51000000);
	assert_true(visits.slices.end == end && visits.slices.reuse);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(test_misses_wait_for_their_turn, begin),
	        cmocka_unit_test_setup(test_the_watch_is_due_when_the_visit_is_over, begin),
	        cmocka_unit_test_setup(test_words_of_its_line_are_watched, begin),
	        cmocka_unit_test_setup(test_deadlines_end_with_their_slice, begin),
	        cmocka_unit_test_setup(test_residual_watches_end_with_theirs, begin),
	        cmocka_unit_test_setup(test_without_terms_nothing_is_cut, begin),
	        cmocka_unit_test_setup(test_slices_go_on_under_new_terms, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Phases of a process: when it is looked at, what is kept of changes, and what becomes of
 * deadlines. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "deadlines.h"
#include "phases.h"

static const struct mtl_phase nothing = {.moment = NAN, .probability = 1, .dispersion = 1.5};

static void once_a_second_of_its_time(void **state)
{
	struct phases phases;
	unsigned looks = 0;

	(void)state;
	phases_begin(&phases, 5);
	for (int i = 0; i < 1000; i++)
		looks += phases_due(&phases, 5 + i * 0.01);
	assert_int_equal(looks, 9);
}

static void nothing_is_no_change(void **state)
{
	struct mtl_phase_options question;
	struct phases phases;

	(void)state;
	phases_begin(&phases, 5);
	assert_false(phases_judge(&phases, &nothing));
	assert_true(isnan(phases_seconds(&phases, 9)));
	assert_int_equal(phases_since(&phases, 0), 0);
	assert_string_equal(phases.reason, "");
	question = phases_question(&phases, 9, 60);
	assert_true(question.begin == 5 && question.now == 9 && question.span == 60);
	/* 3600 looks an hour */
	assert_true(question.false_alarms * 3600 < 8);
}

static void a_change_is_remembered_with_its_reason(void **state)
{
	struct mtl_phase change = {.changed = true,
	        .moment = 20,
	        .window = 0.01,
	        .before = 16384,
	        .after = 65536,
	        .dispersion = 1};
	struct phases phases;

	(void)state;
	phases_begin(&phases, 5);
	assert_true(phases_judge(&phases, &change));
	assert_string_equal(phases.reason, "words touched within 10 ms: 1M, now 4M");
	assert_true(phases_seconds(&phases, 23) == 3);
	assert_true(phases_question(&phases, 23, 60).begin == 20);
	change.window = NAN;
	change.moment = 25;
	assert_true(phases_judge(&phases, &change));
	assert_string_equal(phases.reason, "it touches other memory");
	assert_int_equal(phases_since(&phases, 0), 2);
	assert_int_equal(phases_since(&phases, 21), 1);
	phases_restart(&phases, 30);
	assert_true(phases_seconds(&phases, 30) == 5);
	assert_true(phases.begin == 30);
	phases_begin(&phases, 31);
	assert_true(isnan(phases_seconds(&phases, 31)));
}

static void the_latest_changes_are_counted(void **state)
{
	struct phases phases;

	(void)state;
	phases_begin(&phases, 0);
	for (unsigned i = 1; i <= 1000; i++)
		phases_change(&phases, i, "again");
	assert_int_equal(phases_since(&phases, 0), PHASES_REMEMBERED);
	assert_int_equal(phases_since(&phases, 991), 10);
	assert_true(phases_seconds(&phases, 1001) == 1);
}

static void what_scatters_is_mixed(void **state)
{
	struct mtl_phase mixed = nothing;
	struct phases phases;

	(void)state;
	phases_begin(&phases, 0);
	assert_false(phases_mixed(&phases));
	phases_judge(&phases, &nothing);
	assert_false(phases_mixed(&phases));
	mixed.dispersion = 7;
	phases_judge(&phases, &mixed);
	assert_true(phases_mixed(&phases));
}

/* Those of a small program may be too short to tell of a large one. */
static void deadlines_begin_again_where_they_are_short(void **state)
{
	struct deadlines deadlines;
	double first;

	(void)state;
	deadlines_begin(&deadlines, 2, 50e-6);
	first = deadlines.now.longest;
	deadlines.now.longest = first / 20;
	deadlines.wait = deadlines.rest = 7;
	deadlines_reconsider(&deadlines);
	assert_true(deadlines.now.longest == first);
	assert_true(deadlines_due(&deadlines));
	deadlines.now.longest = 4 * first;
	deadlines_reconsider(&deadlines);
	assert_true(deadlines.now.longest == 4 * first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(once_a_second_of_its_time),
	        cmocka_unit_test(nothing_is_no_change),
	        cmocka_unit_test(a_change_is_remembered_with_its_reason),
	        cmocka_unit_test(the_latest_changes_are_counted),
	        cmocka_unit_test(what_scatters_is_mixed),
	        cmocka_unit_test(deadlines_begin_again_where_they_are_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* When the clocks rest: share of the time, length of the phases, and independence of what happens.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "duty.h"

#define TICK_NS 100000000ULL

/* The share of so many seconds in which they ran; how often they changed in *ret_changes. */
static double awake_for(
        struct duty *duty, double switching, double watch, unsigned seconds, unsigned *ret_changes)
{
	double awake = 0;

	*ret_changes = 0;
	for (unsigned i = 0; i < seconds * 10; i++) {
		if (i % 10 == 0)
			duty_decide(duty, switching);
		*ret_changes += duty_step(duty, (i + 1) * TICK_NS, watch);
		awake += duty->resting ? 0 : 0.1;
	}
	return awake / seconds;
}

/* So that what switches take in all is PART of max_overhead. */
static void dear_switches_are_paid_part_of_the_time(void **state)
{
	static const double switching[] = {1, 2, 5, 10};

	(void)state;
	for (size_t i = 0; i < sizeof(switching) / sizeof(*switching); i++) {
		struct duty duty;
		unsigned changes;
		double awake;

		duty_begin(&duty, 1);
		awake = awake_for(&duty, switching[i], 0.2, 2000, &changes);
		assert_true(awake * switching[i] > 0.18 && awake * switching[i] < 0.4);
		assert_true(changes > 200);
	}
}

static void cheap_switches_never_rest(void **state)
{
	struct duty duty;
	unsigned changes;

	(void)state;
	duty_begin(&duty, 1);
	assert_true(awake_for(&duty, 0.2, 1, 100, &changes) > 0.9999);
	assert_int_equal(changes, 0);
	awake_for(&duty, 10, 1, 100, &changes);
	assert_true(changes > 0);
	awake_for(&duty, 0.01, 1, 20, &changes);
	assert_false(duty.resting);
	assert_true(duty.share == 1);
}

/* Long watches need long phases. */
static void watches_have_room(void **state)
{
	struct duty duty;
	unsigned brief, lengthy;

	(void)state;
	duty_begin(&duty, 1);
	awake_for(&duty, 4, 0.01, 1000, &brief);
	duty_begin(&duty, 1);
	awake_for(&duty, 4, 1, 1000, &lengthy);
	assert_true(brief > 4 * lengthy);
}

static void waking_begins_a_phase_anew(void **state)
{
	struct duty duty;
	unsigned changes;

	(void)state;
	duty_begin(&duty, 1);
	assert_false(duty_wake(&duty));
	for (unsigned i = 0; !duty.resting; i++) {
		duty_decide(&duty, 10);
		duty_step(&duty, (i + 1) * TICK_NS, 0.1);
	}
	assert_true(duty_wake(&duty));
	assert_false(duty.resting);
	assert_false(duty_wake(&duty));
	awake_for(&duty, 10, 0.1, 100, &changes);
	assert_true(changes > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(dear_switches_are_paid_part_of_the_time),
	        cmocka_unit_test(cheap_switches_never_rest),
	        cmocka_unit_test(watches_have_room),
	        cmocka_unit_test(waking_begins_a_phase_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

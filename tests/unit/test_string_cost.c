/* SPDX-License-Identifier: MIT */
/* What strings lose while watched: the share of samples, that it follows, that few do not decide.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "string_cost.h"

static void nothing_is_known_at_first(void **state)
{
	struct string_cost cost = {0};

	(void)state;
	assert_true(string_cost_share(&cost) == 0);
	string_cost_note(&cost, 0, 0);
	assert_true(string_cost_share(&cost) == 0);
	string_cost_note(&cost, 1, 1);
	assert_true(string_cost_share(&cost) <= 0.25); /* one sample says little */
}

static void the_share_is_that_of_the_samples(void **state)
{
	struct string_cost cost = {0};

	(void)state;
	for (unsigned second = 0; second < 60; second++)
		string_cost_note(&cost, 10, 3);
	assert_true(fabs(string_cost_share(&cost) - 0.3) < 0.01);
}

static void at_first_some_are_expected(void **state)
{
	struct string_cost cost = {0};

	(void)state;
	assert_true(string_cost_expected(&cost) > 0.1 && string_cost_expected(&cost) < 0.5);
	string_cost_note(&cost, 5, 0);
	assert_true(string_cost_expected(&cost) < 0.2 && string_cost_expected(&cost) > 0);
	string_cost_note(&cost, 15, 0);
	assert_true(string_cost_expected(&cost) == 0);
	string_cost_note(&cost, 20, 20);
	assert_true(string_cost_expected(&cost) == 0.5);
}

/* A process half of whose watched time is strings, these being 20 times as long: of 21 samples
 * while it is not watched one is at them. */
static void unwatched_samples_tell_the_same(void **state)
{
	struct string_cost cost = {0};

	(void)state;
	string_cost_note_unwatched(&cost, 1000, 0, 0.95);
	assert_true(fabs(cost.watched - 50) < 1e-9 && cost.strings == 0);
	cost = (struct string_cost){0};
	string_cost_note_unwatched(&cost, 210, 10, 0.95);
	string_cost_note(&cost, 20, 10);
	assert_true(fabs(cost.strings / cost.watched - 0.5) < 1e-9);
}

static void a_change_is_followed(void **state)
{
	struct string_cost cost = {0};

	(void)state;
	for (unsigned second = 0; second < 1000; second++)
		string_cost_note(&cost, 50, 50);
	assert_true(string_cost_share(&cost) > 0.98 && string_cost_share(&cost) <= 1);
	for (unsigned second = 0; second < 60; second++)
		string_cost_note(&cost, 50, 0);
	assert_true(string_cost_share(&cost) < 0.01);
}

/* Whatever the machine is: a part. */
static void the_loss_is_a_part(void **state)
{
	double loss = string_cost_loss();

	(void)state;
	assert_true(loss >= 0 && loss < 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nothing_is_known_at_first),
	        cmocka_unit_test(the_share_is_that_of_the_samples),
	        cmocka_unit_test(at_first_some_are_expected),
	        cmocka_unit_test(unwatched_samples_tell_the_same),
	        cmocka_unit_test(a_change_is_followed),
	        cmocka_unit_test(the_loss_is_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Decisions of `mtl partition --watch`: hysteresis, certainty, rounds running, and the pause. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../cli/controller.h"

/* 100 misses in force, of which a change saves 10, or 5 at least. */
static const struct controller_finding worth = {
        .in_force = 100, .gain = 10, .least = 5, .rounding = 1e-7};

static enum controller_decision once(const struct controller_finding *finding)
{
	struct controller controller = {.terms = {0.05, 1, 0}};

	return controller_decide(&controller, finding);
}

static void a_change_gains_its_fraction(void **state)
{
	struct controller_finding finding = worth;

	(void)state;
	assert_int_equal(once(&finding), CONTROLLER_CHANGE);
	finding.gain = 5;
	assert_int_equal(once(&finding), CONTROLLER_CHANGE);
	finding.gain = 4.99;
	assert_int_equal(once(&finding), CONTROLLER_SMALL);
	finding.gain = -10;
	assert_int_equal(once(&finding), CONTROLLER_SMALL);
	finding.same = true;
	assert_int_equal(once(&finding), CONTROLLER_SAME);
}

static void rounding_is_no_gain(void **state)
{
	struct controller controller = {.terms = {0, 1, 0}};
	struct controller_finding finding = worth;

	(void)state;
	finding.gain = finding.least = 1e-7;
	assert_int_equal(controller_decide(&controller, &finding), CONTROLLER_SMALL);
	finding.gain = finding.least = 2e-7;
	assert_int_equal(controller_decide(&controller, &finding), CONTROLLER_CHANGE);
}

static void what_may_be_a_loss_is_not_done(void **state)
{
	struct controller_finding finding = worth;

	(void)state;
	finding.least = -1;
	assert_int_equal(once(&finding), CONTROLLER_UNCERTAIN);
	finding.least = 0;
	assert_int_equal(once(&finding), CONTROLLER_UNCERTAIN);
	finding.least = 1;
	assert_int_equal(once(&finding), CONTROLLER_CHANGE);
}

static void it_holds_in_rounds_running(void **state)
{
	struct controller controller = {.terms = {0.05, 3, 0}};
	struct controller_finding small = worth;

	(void)state;
	small.gain = 1;
	assert_int_equal(controller_decide(&controller, &worth), CONTROLLER_UNCONFIRMED);
	assert_int_equal(controller_decide(&controller, &worth), CONTROLLER_UNCONFIRMED);
	assert_int_equal(controller_decide(&controller, &small), CONTROLLER_SMALL);
	assert_int_equal(controller_decide(&controller, &worth), CONTROLLER_UNCONFIRMED);
	assert_int_equal(controller_decide(&controller, &worth), CONTROLLER_UNCONFIRMED);
	controller_skip(&controller);
	assert_int_equal(controller_decide(&controller, &worth), CONTROLLER_UNCONFIRMED);
	assert_int_equal(controller_decide(&controller, &worth), CONTROLLER_UNCONFIRMED);
	assert_int_equal(controller_decide(&controller, &worth), CONTROLLER_CHANGE);
	controller_changed(&controller, 0);
	assert_int_equal(controller_decide(&controller, &worth), CONTROLLER_UNCONFIRMED);
}

static void changes_are_apart(void **state)
{
	struct controller controller = {.terms = {0.05, 2, 60}};
	struct controller_finding finding = worth;

	(void)state;
	finding.time = 1000; /* the first one need not wait */
	assert_int_equal(controller_decide(&controller, &finding), CONTROLLER_UNCONFIRMED);
	assert_int_equal(controller_decide(&controller, &finding), CONTROLLER_CHANGE);
	controller_changed(&controller, 1000);
	finding.time = 1030;
	assert_int_equal(controller_decide(&controller, &finding), CONTROLLER_UNCONFIRMED);
	finding.time = 1059;
	assert_int_equal(controller_decide(&controller, &finding), CONTROLLER_SOON);
	finding.time = 1060; /* rounds went on while it waited */
	assert_int_equal(controller_decide(&controller, &finding), CONTROLLER_CHANGE);
}

static void a_guarantee_is_owed(void **state)
{
	struct controller controller = {.terms = {0.05, 2, 60}};
	struct controller_finding finding = worth;

	(void)state;
	finding.owed = true;
	finding.gain = finding.least = -50;
	assert_int_equal(controller_decide(&controller, &finding), CONTROLLER_UNCONFIRMED);
	assert_int_equal(controller_decide(&controller, &finding), CONTROLLER_CHANGE);
	controller_changed(&controller, 0);
	controller_decide(&controller, &finding);
	assert_int_equal(controller_decide(&controller, &finding), CONTROLLER_SOON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_change_gains_its_fraction),
	        cmocka_unit_test(rounding_is_no_gain),
	        cmocka_unit_test(what_may_be_a_loss_is_not_done),
	        cmocka_unit_test(it_holds_in_rounds_running),
	        cmocka_unit_test(changes_are_apart),
	        cmocka_unit_test(a_guarantee_is_owed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

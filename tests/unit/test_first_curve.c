/* SPDX-License-Identifier: MIT */
/* The predicted time to a first curve, from what came of late. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "first_curve.h"

static void is_told(const struct first_curve_facts *facts, double wanted, const char *words)
{
	char basis[96];
	double seconds = first_curve_seconds(facts, basis, sizeof(basis));

	assert_string_equal(basis, words);
	assert_int_equal(isnan(seconds), isnan(wanted));
	if (!isnan(wanted) && !(fabs(seconds - wanted) < 1e-6 * wanted + 1e-9))
		fail_msg("%.12g is not %.12g", seconds, wanted);
}

/* So many seconds in which so many observations come each second, on so many CPUs. */
static void go_on(struct first_curve_facts *facts, int seconds, unsigned each, double cpus)
{
	for (int i = 0; i < seconds; i++) {
		facts->now++;
		facts->observations += each;
		facts->cpu_seconds += cpus;
		arrivals_note(
		        &facts->arrivals, facts->observations, facts->cpu_seconds, facts->now);
	}
}

static struct first_curve_facts at_first(uint64_t needed)
{
	struct first_curve_facts facts = {.needed = needed, .now = 1000, .watch_seconds = 0.1};

	arrivals_note(&facts.arrivals, 0, 0, facts.now);
	return facts;
}

static void it_is_known_or_not(void **state)
{
	struct first_curve_facts facts = at_first(60);

	(void)state;
	is_told(&facts, NAN, "it has not run yet");
	go_on(&facts, 4, 0, 0.02);
	is_told(&facts, NAN, "it has run too little to plan a pace");
	facts.observations = 60;
	is_told(&facts, 0, "");
	facts.observations = 4000;
	is_told(&facts, 0, "");
}

static void a_plan_counts_before_observations_do(void **state)
{
	struct first_curve_facts facts = at_first(60);
	char basis[96];

	(void)state;
	facts.pace = 10;
	go_on(&facts, 2, 0, 0.5);
	is_told(&facts, 24.2, "at a pace of 10 a CPU second planned, on 0.5 CPUs");
	go_on(&facts, 10, 0, 0.5);
	is_told(&facts, NAN, "no observation has come for 12 s");
	facts = at_first(6000);
	facts.pace = 2330;
	go_on(&facts, 2, 0, 0.5);
	is_told(&facts, first_curve_seconds(&facts, basis, sizeof(basis)),
	        "at a pace of 2330 a CPU second planned, on 0.5 CPUs");
}

static void what_came_of_late_goes_on(void **state)
{
	struct first_curve_facts facts = at_first(3000);

	(void)state;
	go_on(&facts, 10, 2, 0.5);
	is_told(&facts, 1490, "at 2 observations a second of late");
	go_on(&facts, 200, 10, 1);
	is_told(&facts, 98, "at 10 observations a second of late");
}

/* 60 of them were due, at the mean pace since the start after 15 s more; but a tenth of that comes.
 */
static void a_pace_that_falls_is_followed(void **state)
{
	struct first_curve_facts facts = at_first(200);
	char basis[96];
	double seconds;

	(void)state;
	go_on(&facts, 30, 5, 1);
	is_told(&facts, 10, "at 5 observations a second of late");
	go_on(&facts, 30, 1, 1);
	seconds = first_curve_seconds(&facts, basis, sizeof(basis));
	assert_true(seconds > 20 * 0.8 && seconds < 20);
}

static void what_has_stopped_coming_is_not_foretold(void **state)
{
	struct first_curve_facts facts = at_first(60), slow = at_first(60);
	int seconds = 0;
	char basis[96];

	(void)state;
	go_on(&facts, 10, 4, 1);
	while (!isnan(first_curve_seconds(&facts, basis, sizeof(basis))) && seconds++ < 100)
		go_on(&facts, 1, 0, 1);
	assert_int_equal(seconds, 5);
	is_told(&facts, NAN, "no observation has come for 5 s");
	facts.pace = 10;
	go_on(&facts, 60, 0, 1);
	is_told(&facts, NAN, "no observation has come for 65 s");
	for (int i = 0; i < 10; i++) {
		go_on(&slow, 9, 0, 1);
		go_on(&slow, 1, 1, 1);
	}
	slow.pace = 0.1;
	go_on(&slow, 40, 0, 1);
	assert_false(isnan(first_curve_seconds(&slow, basis, sizeof(basis))));
	go_on(&slow, 30, 0, 1);
	is_told(&slow, NAN, "no observation has come for 70 s");
}

static void who_does_not_run_gets_none(void **state)
{
	struct first_curve_facts facts = at_first(60);

	(void)state;
	go_on(&facts, 10, 4, 1);
	facts.still = true;
	is_told(&facts, NAN, "it does not run at the moment");
}

/* A new program in the same process. */
static void it_begins_anew(void **state)
{
	struct first_curve_facts facts = at_first(600);

	(void)state;
	go_on(&facts, 10, 40, 1);
	facts.observations = facts.cpu_seconds = 0;
	go_on(&facts, 1, 0, 0.5);
	assert_true(facts.arrivals.observations == 0);
	go_on(&facts, 5, 2, 0.5);
	is_told(&facts, 295, "at 2 observations a second of late");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(it_is_known_or_not),
	        cmocka_unit_test(a_plan_counts_before_observations_do),
	        cmocka_unit_test(what_came_of_late_goes_on),
	        cmocka_unit_test(a_pace_that_falls_is_followed),
	        cmocka_unit_test(what_has_stopped_coming_is_not_foretold),
	        cmocka_unit_test(who_does_not_run_gets_none),
	        cmocka_unit_test(it_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

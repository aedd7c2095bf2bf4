/* SPDX-License-Identifier: MIT */
/*
 * The self-check against simulated targets whose progress is known to suffer so much: it must find
 * that, pause little, and admit where it cannot know. And what the governor makes of it.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <string.h>

#include "backoff.h"
#include "self_check.h"
#include "simulate.h"

#define TICK_NS 100000000ULL

struct target {
	double loss;   /* of its progress while sampled */
	double jitter; /* of its rate in a tick, relative, uniform */
	double drift;  /* of its rate, a second */
	double rate;   /* reads and writes a second */
	bool idle;
};

struct run {
	struct self_check check;
	struct check_reading reading;
	uint64_t now, random;
	double paused_seconds, seconds;
	bool paused;
};

static void tick(struct run *run, const struct target *target)
{
	double noise = 1 + target->jitter * (2 * sim_uniform(&run->random) - 1);
	double rate = target->rate * (1 + target->drift * run->seconds) * noise;

	run->now += TICK_NS;
	run->seconds += 0.1;
	run->paused_seconds += run->paused ? 0.1 : 0;
	if (!target->idle) {
		run->reading.cpu_seconds += 0.1;
		run->reading.value[CHECK_CALLS] +=
		        0.1 * rate * (run->paused ? 1 : 1 - target->loss);
	}
	if (self_check_due(&run->check, run->now))
		run->paused = self_check_step(&run->check, run->now, &run->reading);
}

static struct run observed(const struct target *target, double seconds, uint64_t seed)
{
	struct run run = {.now = 1, .random = seed};

	for (int unit = 0; unit < N_CHECK_UNITS; unit++)
		run.reading.value[unit] = unit == CHECK_CALLS ? 0 : NAN;
	self_check_begin(&run.check, run.now, seed);
	while (run.seconds < seconds)
		tick(&run, target);
	return run;
}

static void a_loss_is_found(void **state)
{
	static const double losses[] = {0, 0.005, 0.01, 0.03, 0.2};

	(void)state;
	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
		const struct target target = {
		        .loss = losses[i], .jitter = 0.02, .drift = 0.001, .rate = 1e5};
		unsigned covered = 0;

		for (unsigned seed = 1; seed <= 200; seed++) {
			struct run run = observed(&target, 400, seed);
			struct check_result result;

			self_check_tell(&run.check, &result);
			assert_string_equal(result.reason, "");
			assert_string_equal(result.unit, "reads and writes");
			assert_true(result.low <= result.loss && result.loss <= result.high);
			assert_true(fabs(result.loss - losses[i]) < 0.012);
			covered += result.low <= losses[i] && losses[i] <= result.high;
		}
		assert_in_range(
		        covered, 178, 200); /* 90 %: 180, and 1e-3 of chance below and above */
	}
}

static void little_time_is_paused(void **state)
{
	const struct target target = {.rate = 1e5};

	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct run run = observed(&target, 600, seed);

		assert_true(run.check.pairs >= CHECK_PAIRS_LEAST);
		assert_true(run.paused_seconds / run.seconds < 0.05);
	}
}

static void what_is_not_steady_says_nothing(void **state)
{
	const struct target wild = {.jitter = 0.9, .rate = 1e5}, rare = {.rate = 20},
	                    idle = {.rate = 1e5, .idle = true};
	const struct {
		const struct target *target;
		double seconds;
		const char *reason;
	} cases[] = {
	        {&wild, 300, "no unit of its progress is steady enough"},
	        {&rare, 300, "nothing that it does all the time"},
	        {&idle, 300, "nothing that it does all the time"},
	        {&wild, 20, "of 12 pairs so far"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run run = observed(cases[i].target, cases[i].seconds, 7);
		struct check_result result;

		self_check_tell(&run.check, &result);
		assert_true(isnan(result.loss) && isnan(result.low) && isnan(result.high));
		assert_non_null(strstr(result.reason, cases[i].reason));
	}
}

static void the_governor_heeds_it(void **state)
{
	const struct check_result worse = {.low = 0.015, .high = 0.03},
	                          fine = {.low = -0.01, .high = 0.008},
	                          open = {.low = 0.004, .high = 0.02},
	                          unknown = {.low = NAN, .high = NAN, .loss = NAN};

	(void)state;
	assert_true(backoff_of_check(1, &worse, 0.01) < 0.8);
	assert_true(backoff_of_check(0.1, &worse, 0.01) >= 0.1);
	assert_true(backoff_of_check(0.5, &open, 0.01) == 0.5);
	assert_true(backoff_of_check(0.5, &unknown, 0.01) == 0.5);
	assert_true(backoff_of_check(0.5, &fine, 0.01) > 0.5);
	assert_true(backoff_of_check(0.9, &fine, 0.01) == 1);
}

/* ---- waiting for a CPU */

static double after(struct backoff *backoff, double waiting, unsigned seconds)
{
	double factor = 1;

	while (seconds--) {
		factor = backoff_of_waiting(backoff, 1 - waiting, waiting);
		backoff_set(backoff, BACKOFF_CPU_PRESSURE, factor, 1);
	}
	return factor;
}

static void who_waits_is_sampled_less(void **state)
{
	struct backoff backoff;
	char text[128];

	(void)state;
	backoff_begin(&backoff);
	assert_true(after(&backoff, 0, 10) == 1);
	assert_true(after(&backoff, 0.25, 60) == 1);
	assert_true(after(&backoff, 0.5, 60) < 0.8);
	backoff_explain(&backoff, BACKOFF_CPU_PRESSURE, text, sizeof(text));
	assert_string_equal(text, "it waits for a CPU 50 % of the time it wants one");
	assert_true(after(&backoff, 0.25, 60) < 1); /* no to and fro around one limit */
	assert_true(after(&backoff, 0.98, 60) == 0.5);
	assert_true(backoff_factor(&backoff) == 0.5);
	assert_true(after(&backoff, 0.1, 60) == 1);
	assert_true(after(&backoff, NAN, 5) == 1);
}

static void every_begin_is_told_once(void **state)
{
	const uint64_t second = 1000000000;
	struct backoff backoff;

	(void)state;
	backoff_begin(&backoff);
	assert_false(backoff_set(&backoff, BACKOFF_SELF_CHECK, 1, second));
	assert_true(backoff_set(&backoff, BACKOFF_SELF_CHECK, 0.7, 2 * second));
	assert_false(backoff_set(&backoff, BACKOFF_SELF_CHECK, 0.5, 3 * second));
	assert_true(backoff.since[BACKOFF_SELF_CHECK] == 2 * second);
	assert_false(backoff_set(&backoff, BACKOFF_SELF_CHECK, 1, 4 * second));
	assert_true(backoff.since[BACKOFF_SELF_CHECK] == 0);
	assert_false(
	        backoff_set(&backoff, BACKOFF_SELF_CHECK, 0.7, 10 * second)); /* so soon again */
	assert_true(backoff.since[BACKOFF_SELF_CHECK] == 10 * second);
	assert_false(backoff_set(&backoff, BACKOFF_SELF_CHECK, 1, 11 * second));
	assert_true(backoff_set(&backoff, BACKOFF_SELF_CHECK, 0.7, 90 * second));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_loss_is_found),
	        cmocka_unit_test(little_time_is_paused),
	        cmocka_unit_test(what_is_not_steady_says_nothing),
	        cmocka_unit_test(the_governor_heeds_it),
	        cmocka_unit_test(who_waits_is_sampled_less),
	        cmocka_unit_test(every_begin_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/*
 * Periods: prime or a prime multiple, within what the event accepts, and led to what is affordable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "sample_period.h"

static const struct pmu_event pebs = {.kind = PMU_LOADS, .period_step = 1, .least_period = 1};
static const struct pmu_event slow = {.kind = PMU_LOADS, .period_step = 1, .least_period = 128};
static const struct pmu_event ibs = {.kind = PMU_IBS_OP, .period_step = 16, .least_period = 144};
static const struct pmu_event faults = {
        .kind = PMU_PAGE_FAULTS, .period_step = 1, .least_period = 1};

static bool is_prime(uint64_t n)
{
	for (uint64_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

static void test_known_periods(void **state)
{
	(void)state;
	assert_int_equal(sample_period_near(&pebs, 100000), 100003);
	assert_int_equal(sample_period_near(&pebs, 2), 2);
	assert_int_equal(sample_period_near(&pebs, 4), 5);
	assert_int_equal(sample_period_near(&pebs, 9), 11);
	assert_int_equal(sample_period_near(&faults, 1), 1);
	assert_int_equal(sample_period_near(&faults, 0), 1);
	assert_int_equal(sample_period_near(&slow, 5), 131);
	assert_int_equal(sample_period_near(&ibs, 1), 16 * 11);
	assert_int_equal(sample_period_near(&ibs, 16 * 12), 16 * 13);
	assert_int_equal(sample_period_near(&ibs, 16 * 13), 16 * 13);
}

static void test_every_period_is_accepted(void **state)
{
	static const struct pmu_event *const events[] = {&pebs, &slow, &ibs};

	(void)state;
	for (double wanted = 3; wanted < 1e13; wanted *= 1.7)
		for (unsigned i = 0; i < 3; i++) {
			uint64_t period = sample_period_near(events[i], wanted),
			         step = events[i]->period_step;

			assert_true(is_prime(period / step));
			assert_int_equal(period % step, 0);
			assert_true(
			        period >= events[i]->least_period && period <= SAMPLE_PERIOD_MAX);
			if (wanted < 1e9)
				assert_true(period >= wanted && period < wanted * 1.5 + 200);
		}
}

/* Seconds until the rate that a program makes is affordable and no longer changes. */
static unsigned settle(
        const struct pmu_event *event, double events_a_second, double most, uint64_t *period)
{
	for (unsigned second = 0; second < 100; second++) {
		uint64_t next = sample_period_next(event, *period, events_a_second / *period, most);

		if (next == *period)
			return second;
		*period = next;
	}
	return 100;
}

static void test_settles_below_what_is_affordable(void **state)
{
	static const double rates[] = {1e5, 1e7, 1e9, 4e9};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t fast = 1, late = sample_period_near(&pebs, 1e9), ibs_period = 4096;

		assert_true(settle(&pebs, rates[i], 500, &fast) <= 1); /* too many: at once */
		assert_true(rates[i] / fast <= 500 && rates[i] / fast >= 150);
		assert_true(settle(&pebs, rates[i], 500, &late) < 15);
		assert_true(rates[i] / late <= 500 && rates[i] / late >= 150);
		settle(&ibs, rates[i], 500, &ibs_period);
		assert_true(rates[i] / ibs_period <= 500);
	}
}

static void test_does_not_follow_every_breath(void **state)
{
	(void)state;
	assert_int_equal(sample_period_next(&pebs, 10007, 499, 500), 10007);
	assert_int_equal(sample_period_next(&pebs, 10007, 180, 500), 10007);
	assert_true(sample_period_next(&pebs, 10007, 501, 500) > 10007);
	assert_true(sample_period_next(&pebs, 10007, 170, 500) < 10007);
	/* a program that does nothing at all is not sampled at every event when it wakes */
	assert_true(sample_period_next(&pebs, 10007, 0, 500) >= 10007 / 4);
}

static void test_what_is_affordable(void **state)
{
	(void)state;
	assert_true(fabs(sample_rate_affordable(0.0005, 2e-6) - 250) < 1e-9);
	assert_true(sample_rate_affordable(0.1, 1e-6) <= 1000); /* more would say nothing new */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_known_periods),
	        cmocka_unit_test(test_every_period_is_accepted),
	        cmocka_unit_test(test_settles_below_what_is_affordable),
	        cmocka_unit_test(test_does_not_follow_every_breath),
	        cmocka_unit_test(test_what_is_affordable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* Rates from counters that take turns, and from samples of which some never came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "rates.h"
#include "simulate.h"

static const struct rates_sampling none = {.accesses = false};

#define SECOND 1000000000ULL

static void test_nothing_is_unknown(void **state)
{
	struct mtl_counts zero = {0}, ran = {.cpu_ns = SECOND};
	struct rates rates = {0};

	(void)state;
	rates_add(&rates, &zero, &ran, 1, 30, &none);
	for (int kind = 0; kind < N_COUNTERS; kind++)
		assert_true(isnan(rates_of(&rates, kind)));
	assert_true(isnan(rates_of_accesses(&rates)));
}

/* A counter that had its turn in a quarter of the time counted a quarter. */
static void test_counters_take_turns(void **state)
{
	struct mtl_counts from = {0}, to = {.cpu_ns = 2 * SECOND};
	struct rates rates = {0};

	(void)state;
	to.value[COUNTER_LLC_MISSES] = 250;
	to.running_ns[COUNTER_LLC_MISSES] = SECOND / 2;
	rates_add(&rates, &from, &to, 2, 30, &none);
	assert_true(fabs(rates_of(&rates, COUNTER_LLC_MISSES) - 500) < 1e-9);
	assert_true(isnan(rates_of(&rates, COUNTER_L2_MISSES)));
	to.running_ns[COUNTER_L2_MISSES] = SECOND / 100; /* hardly ever */
	rates_add(&rates, &from, &to, 2, 30, &none);
	assert_true(isnan(rates_of(&rates, COUNTER_L2_MISSES)));
}

/* Never a part of the accesses for the whole. */
static void test_accesses_are_loads_and_stores(void **state)
{
	struct mtl_counts from = {0}, to = {0};
	struct rates loads = {0}, both = {0}, one = {0};

	(void)state;
	to.value[COUNTER_LOADS] = 700;
	to.running_ns[COUNTER_LOADS] = SECOND;
	rates_add(&loads, &from, &to, 1, 0, &none);
	assert_true(isnan(rates_of_accesses(&loads)));
	to.value[COUNTER_STORES] = 150;
	to.running_ns[COUNTER_STORES] = SECOND / 2;
	rates_add(&both, &from, &to, 1, 0, &none);
	assert_true(fabs(rates_of_accesses(&both) - 1000) < 1e-9);
	memset(&to, 0, sizeof(to));
	to.value[COUNTER_ACCESSES] = 900;
	to.running_ns[COUNTER_ACCESSES] = SECOND;
	rates_add(&one, &from, &to, 1, 0, &none);
	assert_true(fabs(rates_of_accesses(&one) - 900) < 1e-9);
}

/* What is old counts less, in value and seconds alike. */
static void test_the_past_decays(void **state)
{
	struct mtl_counts a = {0}, b = {0}, c = {0};
	struct rates rates = {0};
	double decay = exp(-1 / 2.0);

	(void)state;
	b.value[COUNTER_L1_MISSES] = 1000;
	b.running_ns[COUNTER_L1_MISSES] = SECOND;
	c.value[COUNTER_L1_MISSES] = 1000 + 100;
	c.running_ns[COUNTER_L1_MISSES] = 2 * SECOND;
	rates_add(&rates, &a, &b, 1, 2, &none);
	rates_add(&rates, &b, &c, 1, 2, &none);
	assert_true(fabs(rates_of(&rates, COUNTER_L1_MISSES) - (1000 * decay + 100) / (decay + 1)) <
	            1e-9);
}

/* Accesses at random, every PERIOD-th a sample; some are skipped, and others had the counter for
 * part of each second. */
static void sampled(double unseen, double starved)
{
	enum { PERIOD = 1009, ACCESSES = 20000000 };
	struct mtl_counts from = {0}, to = {0};
	struct rates_sampling sampling = {.accesses = true, .starved = starved};
	struct rates rates = {0};
	uint64_t random = 7, came = 0, due = 0;

	for (int at = PERIOD; at < ACCESSES; at += PERIOD) {
		if (sim_uniform(&random) < starved)
			continue;
		due++;
		if (sim_uniform(&random) < unseen)
			continue;
		came++;
		to.sampled += PERIOD;
	}
	sampling.unseen = (double)(due - came) / came;
	rates_add(&rates, &from, &to, 1, 30, &sampling);
	assert_true(fabs(rates_of_accesses(&rates) / ACCESSES - 1) < 4 / sqrt(came));
}

static void test_samples_stand_for_their_period(void **state)
{
	(void)state;
	sampled(0, 0);
	sampled(0.3, 0);
	sampled(0, 0.5);
	sampled(0.2, 0.25);
}

static void test_counted_is_better_than_sampled(void **state)
{
	const struct rates_sampling all = {.accesses = true};
	struct mtl_counts from = {0}, to = {.sampled = 5000};
	struct rates rates = {0};

	(void)state;
	to.value[COUNTER_ACCESSES] = 4000;
	to.running_ns[COUNTER_ACCESSES] = SECOND;
	rates_add(&rates, &from, &to, 1, 30, &all);
	assert_true(fabs(rates_of_accesses(&rates) - 4000) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_nothing_is_unknown),
	        cmocka_unit_test(test_counters_take_turns),
	        cmocka_unit_test(test_accesses_are_loads_and_stores),
	        cmocka_unit_test(test_the_past_decays),
	        cmocka_unit_test(test_samples_stand_for_their_period),
	        cmocka_unit_test(test_counted_is_better_than_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Binomial probabilities against Pascal's triangle, known answers and each other. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "binomial.h"
#include "simulate.h"

#define ROWS 200

static const double probabilities[] = {1e-9, 0.003, 1 / 64.0, 0.125, 0.5, 0.7, 0.999, 1 - 1e-9};
#define PROBABILITIES (sizeof(probabilities) / sizeof(*probabilities))

static void assert_close(double value, double expected, double relative)
{
	if (!(fabs(value - expected) <= relative * expected + 1e-300))
		fail_msg("%.17g is not %.17g", value, expected);
}

/* What n trials can be, one trial at a time. */
static void terms_are_pascals(void **state)
{
	(void)state;

	for (unsigned i = 0; i < PROBABILITIES; i++) {
		double p = probabilities[i], term[ROWS + 2] = {1};
		for (unsigned n = 1; n <= ROWS; n++) {
			double tail = 0;
			for (unsigned k = n + 1; k-- > 0;)
				term[k] = (1 - p) * term[k] + (k ? p * term[k - 1] : 0);
			for (unsigned k = n + 1; k-- > 0;) {
				tail += term[k];
				if (term[k] < 1e-250)
					continue;
				assert_close(mtl_binomial_term(n, p, k), term[k], 1e-12);
				assert_close(mtl_binomial_tail(n, p, k), tail, 1e-12);
			}
		}
	}
}

/* 50 digits by mpmath, from the sum of the terms below k. */
static void known_answers(void **state)
{
	static const struct {
		double n, p;
		uint64_t k;
		double tail;
	} known[] = {
	        {30, 0.125, 4, 0.52661451365908698},
	        {16.5, 0.25, 3, 0.82025534160974907},
	        {15.25, 0.5, 16, 8.4406329298933765e-7},
	        {130000, 1 / 8192.0, 16, 0.52022582250058689},
	        {131071.5, 1 / 8192.0, 16, 0.53325510867773974},
	        {1e15, 1.6e-14, 16, 0.53325510861228017},
	        {1e15, 1.6e-14, 60, 3.2327157843214516e-17},
	        {819200000, 1 / 8192.0, 100000, 0.50042059911567836},
	        {816000000, 1 / 8192.0, 100000, 0.10824828261669746},
	        {824000000, 1 / 8192.0, 100000, 0.96787613630066822},
	        {100.5, 0.999, 100, 0.97749250270889662},
	        {0.75, 1e-9, 1, 7.5000000009375005e-10},
	        {1e9, 1e-9, 1, 0.63212055901249742},
	        {1e18, 1e-18, 2, 0.26424111765711538},
	        {40, 0.875, 20, 0.99999999871802057},
	        {1e6, 0.5, 500000, 0.50039894218066588},
	};
	(void)state;

	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_close(mtl_binomial_tail(known[i].n, known[i].p, known[i].k), known[i].tail,
		        1e-11);
}

/* One trial more: tail(n + 1) = tail(n) + p term(n), for fractions too. */
static void one_trial_more(void **state)
{
	uint64_t random = 5;
	(void)state;

	for (unsigned run = 0; run < sim_runs(20000); run++) {
		double p = run % 2 ? sim_uniform(&random) : sim_log_uniform(&random, 1e-9, 1);
		uint64_t k = (uint64_t)sim_log_uniform(&random, 1, run % 3 ? 50 : 5000);
		double n = (double)k * (1 + (0.5 + sim_uniform(&random)) * (1 - p) / p);
		double tail = mtl_binomial_tail(n, p, k), more = mtl_binomial_tail(n + 1, p, k);
		double step = p * mtl_binomial_term(n, p, (double)k - 1);
		assert_true(fabs(more - tail - step) < 1e-12);
		assert_true(fabs(tail - mtl_binomial_tail(n, p, k + 1) -
		                    mtl_binomial_term(n, p, (double)k)) < 1e-12);
	}
}

static void never_falls_with_trials(void **state)
{
	const uint64_t least[] = {1, 2, 3, 16, 1000, 100000};
	(void)state;

	for (unsigned i = 0; i < PROBABILITIES; i++)
		for (unsigned j = 0; j < 6; j++) {
			double p = probabilities[i], before = 0, k = (double)least[j];
			unsigned steps = sim_runs(j < 5 ? 600 : 60);
			for (unsigned s = 0; s <= steps; s++) {
				double n = k - 1 + pow((double)s / steps, 3) * 3 * k / p;
				double tail = mtl_binomial_tail(n, p, least[j]);
				assert_true(tail >= before - 1e-12 && tail <= 1);
				assert_true(mtl_binomial_tail(n, p, least[j] + 1) <= tail + 1e-12);
				before = tail;
			}
			assert_true(before > 0.9);
		}
}

static void extremes(void **state)
{
	(void)state;

	assert_true(mtl_binomial_tail(3, 0.5, 4) == 0);
	assert_close(mtl_binomial_tail(4, 0.5, 4), 0.0625, 1e-14);
	assert_true(mtl_binomial_tail(-1, 0.5, 1) == 0);
	assert_true(mtl_binomial_tail(0, 0.5, 1) == 0);
	assert_true(mtl_binomial_tail(0, 0.5, 0) == 1);
	assert_true(mtl_binomial_tail(1e6, 0, 1) == 0);
	assert_true(mtl_binomial_tail(7, 1, 7) == 1);
	assert_true(mtl_binomial_tail(6.5, 1, 7) == 1); /* more than six */
	assert_true(mtl_binomial_tail(6, 1, 7) == 0);
	assert_true(mtl_binomial_tail(INFINITY, 1e-9, 100000) == 1);
	assert_true(mtl_binomial_tail(1.8e19, 1e-9, 100000) == 1);
	assert_true(mtl_binomial_tail(1e6, 1e-9, 100000) == 0);
	assert_true(mtl_binomial_tail(99999.5, 1e-9, 100000) == 0);
	assert_true(isnan(mtl_binomial_tail(NAN, 0.5, 1)));
	assert_close(mtl_binomial_tail(2 * 5000 - 1, 0.5, 5000), 0.5, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(terms_are_pascals),
	        cmocka_unit_test(known_answers),
	        cmocka_unit_test(one_trial_more),
	        cmocka_unit_test(never_falls_with_trials),
	        cmocka_unit_test(extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* Slices of time for residual and reuse times: their shares, and the bias that they prevent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "simulate.h"
#include "slices.h"

#define STEP 1e-4
#define STEPS (RUNNING_ON_VALGRIND ? 1000000u : 3000000u)

static void test_shares_are_those_of_the_means(void **state)
{
	struct slices slices;
	unsigned reuse = 0;

	(void)state;
	slices_begin(&slices, 1, 0, 0.03, 0.01);
	for (unsigned i = 0; i < STEPS; i++) {
		slices_advance(&slices, i * STEP);
		reuse += slices.reuse;
		assert_true(slices.end > i * STEP);
		assert_true(slices_deadline(&slices, i * STEP, 1e9) <= slices.end - i * STEP);
		assert_true(slices_deadline(&slices, i * STEP, 0) == 0);
	}
	assert_true(fabs((double)reuse / STEPS - 0.25) < 0.02); /* 7500 slices of each */
}

/* A program is busy for 1 ms after a miss and quiet for 9 ms in the mean; a reuse watch begins at
 * the miss and lasts for 2 ms. Of the residual moments that find nothing under way, how many find
 * it busy? */
static double busy_share(bool with_slices)
{
	uint64_t random = 11;
	double busy_until = 0, watched_until = 0;
	unsigned moments = 0, busy = 0;
	struct slices slices;

	slices_begin(&slices, 3, 0, 0.02, 0.02);
	for (unsigned i = 0; i < STEPS; i++) {
		double now = i * STEP;

		slices_advance(&slices, now);
		if (now >= busy_until && sim_uniform(&random) < STEP / 9e-3) {
			busy_until = now + 1e-3;
			if (now >= watched_until && (!with_slices || slices.reuse))
				watched_until =
				        now +
				        (with_slices ? slices_deadline(&slices, now, 2e-3) : 2e-3);
		}
		if (sim_uniform(&random) > 0.1 || (with_slices && slices.reuse) ||
		        now < watched_until)
			continue;
		moments++;
		busy += now < busy_until;
	}
	return (double)busy / moments;
}

static void test_moments_stay_independent_of_the_program(void **state)
{
	(void)state;
	assert_true(busy_share(false) < 0.02); /* the program is never seen at work */
	assert_true(fabs(busy_share(true) - 0.1) < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_shares_are_those_of_the_means),
	        cmocka_unit_test(test_moments_stay_independent_of_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

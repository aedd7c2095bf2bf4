/* SPDX-License-Identifier: MIT */
/* Fill time is the inverse of the footprint. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fill_time.h"
#include "simulate.h"

static void inverts_random_majorants(void **state)
{
	uint64_t random = 41;
	(void)state;

	for (unsigned run = 0; run < 1000; run++) {
		struct mtl_footprint f = {.n = 3 + run % 20}, majorant;
		double longest, whole;
		for (size_t i = 1; i < f.n; i++) {
			f.window[i] = f.window[i - 1] + sim_log_uniform(&random, 1e-6, 1);
			f.lines[i] = f.lines[i - 1] + sim_log_uniform(&random, 1e-3, 1e6);
		}
		mtl_majorant_from_footprint(&f, &majorant);
		longest = mtl_longest_window(&majorant);
		whole = mtl_footprint_whole(&majorant);
		for (unsigned i = 0; i < 20; i++) {
			double lines = whole * sim_uniform(&random);
			double time = mtl_fill_time_from_footprint(&majorant, lines);
			assert_true(time >= 0 && time <= longest);
			assert_true(fabs(mtl_footprint_at(&majorant, time) / lines - 1) < 1e-9);
		}
	}
}

static void what_is_never_filled(void **state)
{
	const struct mtl_footprint scan = {3, {0, 1, 5}, {0, 100, 100}, 0};
	const struct mtl_footprint nothing = {2, {0, 5}, {0, 0}, 0};
	(void)state;

	assert_true(mtl_fill_time_from_footprint(&scan, 50) == 0.5);
	assert_true(fabs(mtl_fill_time_from_footprint(&scan, 99.999) - 0.99999) < 1e-12);
	assert_true(isinf(mtl_fill_time_from_footprint(&scan, 100)));
	assert_true(isinf(mtl_fill_time_from_footprint(&scan, 101)));
	assert_true(isinf(mtl_fill_time_from_footprint(&nothing, 1e-9)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(inverts_random_majorants),
	        cmocka_unit_test(what_is_never_filled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

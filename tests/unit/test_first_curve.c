/* SPDX-License-Identifier: MIT */
/* The predicted time to a first curve. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "first_curve.h"

static void predicts(void **state)
{
	static const struct {
		struct first_curve_facts facts;
		double seconds; /* NAN: not known */
		const char *basis;
	} cases[] = {
	        {{60, 60, 5, 5, 10, 0.1}, 0, ""},
	        {{4000, 60, 5, 5, 10, 0.1}, 0, ""},
	        {{20, 60, 5, 10, 10, 0.1}, 20, "at 2 observations a second so far"},
	        {{8, 60, 0.1, 4, 0, 0.1}, 26, "at 2 observations a second so far"},
	        {{0, 60, 0, 4, 0, 0.1}, NAN, "it has not run yet"},
	        {{0, 60, 0.02, 4, 0, 0.1}, NAN, "it has run too little to plan a pace"},
	        {{0, 60, 2, 4, 10, 0.1}, 24.2, "at a pace of 10 a CPU second planned, on 0.5 CPUs"},
	        {{7, 67, 8, 2, 100, 0.01}, 0.3025,
	                "at a pace of 100 a CPU second planned, on 4 CPUs"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char basis[96];
		double seconds = first_curve_seconds(&cases[i].facts, basis, sizeof(basis));

		assert_string_equal(basis, cases[i].basis);
		assert_int_equal(isnan(seconds), isnan(cases[i].seconds));
		if (!isnan(seconds))
			assert_true(fabs(seconds - cases[i].seconds) < 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(predicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* mtld's CPU time shared out: within the budget, nobody starves, need decides. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "budget.h"

#define N(array) (sizeof(array) / sizeof(*(array)))

static double spent(const struct budget_process *processes, size_t n, const double *shares)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += processes[i].demand * shares[i];
	return sum;
}

static void enough_for_all(void **state)
{
	const struct budget_process processes[] = {
	        {10, 0.5, true}, {100, 0.01, false}, {0, NAN, false}};
	double shares[N(processes)];

	(void)state;
	budget_shares(processes, N(processes), 1, shares);
	for (size_t i = 0; i < N(processes); i++)
		assert_true(shares[i] > 0.999);
}

static void alike_get_alike(void **state)
{
	const struct budget_process processes[] = {{10, 0.1, false}, {100, 0.1, false}};
	double shares[N(processes)];

	(void)state;
	budget_shares(processes, N(processes), 0.3, shares);
	assert_true(fabs(shares[0] - 0.3) < 1e-6 && fabs(shares[1] - 0.3) < 1e-6);
}

static void need_decides(void **state)
{
	const struct budget_process processes[] = {
	        {50, 0.02, false}, {50, 0.2, false}, {50, NAN, false}, {50, 0.2, true}};
	double shares[N(processes)];

	(void)state;
	budget_shares(processes, N(processes), 0.2, shares);
	assert_true(shares[0] < shares[1]);
	assert_true(shares[1] < shares[2]);
	assert_true(fabs(shares[3] - 2 * shares[1]) < 1e-6);
	assert_true(shares[0] >= BUDGET_FLOOR * 0.2);
	assert_true(fabs(spent(processes, N(processes), shares) - 0.2 * 200) < 1e-6);
}

/* One that needs much among fifty that do not, and the other way round. */
static void nobody_starves(void **state)
{
	struct budget_process processes[51];
	double shares[51];

	(void)state;
	for (int i = 0; i < 51; i++)
		processes[i] = (struct budget_process){20, i ? 1 : 0.001, i > 0};
	budget_shares(processes, 51, 0.1, shares);
	assert_true(shares[0] >= BUDGET_FLOOR * 0.1 * 0.999);
	for (int i = 0; i < 51; i++)
		processes[i] = (struct budget_process){20, i ? 0.001 : 1, i == 0};
	budget_shares(processes, 51, 0.1, shares);
	assert_true(shares[0] > 0.3);
	assert_true(shares[1] > 0.08); /* one alone takes little from fifty */
}

static void the_idle_take_nothing(void **state)
{
	const struct budget_process one[] = {{50, 0.1, false}, {50, 0.2, false}};
	const struct budget_process with[] = {
	        {50, 0.1, false}, {50, 0.2, false}, {0, NAN, true}, {0, 0.9, false}};
	double alone[2], shares[4];

	(void)state;
	budget_shares(one, 2, 0.2, alone);
	budget_shares(with, 4, 0.2, shares);
	assert_true(fabs(alone[0] - shares[0]) < 1e-9 && fabs(alone[1] - shares[1]) < 1e-9);
	budget_shares(NULL, 0, 0.2, shares);
}

static void always_within(void **state)
{
	unsigned short random[3] = {3, 2, 1};

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct budget_process processes[40];
		double shares[40], share = 0.005 + 0.995 * erand48(random), demand = 0;
		size_t n = 1 + nrand48(random) % 40;

		for (size_t i = 0; i < n; i++) {
			processes[i] = (struct budget_process){
			        .demand = erand48(random) < 0.3 ? 0 : 1000 * erand48(random),
			        .error = erand48(random) < 0.2 ? NAN : exp(-7 * erand48(random)),
			        .asked = erand48(random) < 0.3,
			};
			demand += processes[i].demand;
		}
		budget_shares(processes, n, share, shares);
		assert_true(spent(processes, n, shares) <= share * demand * (1 + 1e-9));
		assert_true(spent(processes, n, shares) >= share * demand * 0.999);
		for (size_t i = 0; i < n; i++)
			assert_true(shares[i] >= BUDGET_FLOOR * share * 0.999 && shares[i] <= 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(enough_for_all),
	        cmocka_unit_test(alike_get_alike),
	        cmocka_unit_test(need_decides),
	        cmocka_unit_test(nobody_starves),
	        cmocka_unit_test(the_idle_take_nothing),
	        cmocka_unit_test(always_within),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

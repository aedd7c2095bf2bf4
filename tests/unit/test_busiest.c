/* SPDX-License-Identifier: MIT */
/* The top N by CPU time: who is chosen, and that nobody flaps. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "busiest.h"

enum { PIDS = 40 };

struct world {
	struct busiest top;
	uint64_t cpu_ns[PIDS], start[PIDS];
	bool gone[PIDS];
};

/* A second in which process i uses shares[i], in two threads that are told in any order. */
static void second(struct world *world, const double *shares, unsigned wanted)
{
	struct busiest_sample samples[2 * PIDS];
	size_t n = 0;

	for (int i = PIDS; i-- > 0;)
		if (!world->gone[i]) {
			world->cpu_ns[i] += shares[i] * 1e9;
			samples[n++] = (struct busiest_sample){
			        i + 1, world->start[i], world->cpu_ns[i] / 2};
		}
	for (int i = 0; i < PIDS; i++)
		if (!world->gone[i])
			samples[n++] = (struct busiest_sample){
			        i + 1, world->start[i], world->cpu_ns[i] - world->cpu_ns[i] / 2};
	assert_int_equal(busiest_update(&world->top, samples, n, 1, wanted), 0);
}

static const struct busiest_process *of(const struct world *world, pid_t pid)
{
	for (size_t i = 0; i < world->top.n; i++)
		if (world->top.processes[i].pid == pid)
			return &world->top.processes[i];
	return NULL;
}

static unsigned n_chosen(const struct world *world)
{
	unsigned n = 0;

	for (size_t i = 0; i < world->top.n; i++)
		n += world->top.processes[i].chosen;
	return n;
}

static void the_busiest_are_chosen(void **state)
{
	struct world world = {0};
	double shares[PIDS] = {[3] = 0.9, [7] = 0.5, [11] = 0.3, [20] = 0.005};

	(void)state;
	second(&world, shares, 3);
	assert_int_equal(n_chosen(&world), 0); /* of one look nothing is known */
	for (int i = 0; i < 20; i++)
		second(&world, shares, 2);
	assert_int_equal(n_chosen(&world), 2);
	assert_true(of(&world, 4)->chosen);
	assert_true(of(&world, 8)->chosen);
	assert_in_range(of(&world, 4)->share * 1000, 890, 901);
	for (int i = 0; i < 20; i++)
		second(&world, shares, 10);
	assert_int_equal(n_chosen(&world), 3); /* who does next to nothing is not */
	second(&world, shares, 1);
	assert_int_equal(n_chosen(&world), 1);
	assert_true(of(&world, 4)->chosen);
	second(&world, shares, 0);
	assert_int_equal(n_chosen(&world), 0);
	busiest_done(&world.top);
}

/* Two that take turns in being the busier one by a fifth: one keeps the place. */
static void nobody_flaps(void **state)
{
	struct world world = {0};
	unsigned changes = 0;
	pid_t before = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		double shares[PIDS] = {[0] = i / 10 % 2 ? 0.5 : 0.4, [1] = i / 10 % 2 ? 0.4 : 0.5};
		pid_t now;

		second(&world, shares, 1);
		now = !n_chosen(&world) ? 0 : of(&world, 1)->chosen ? 1 : 2;
		changes += now != before;
		before = now;
		assert_true(n_chosen(&world) <= 1);
	}
	assert_int_equal(changes, 1);
	busiest_done(&world.top);
}

static void a_busier_one_gets_the_place(void **state)
{
	struct world world = {0};
	double first[PIDS] = {[0] = 0.3}, then[PIDS] = {[0] = 0.3, [1] = 0.9};
	int seconds = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		second(&world, first, 1);
	assert_true(of(&world, 1)->chosen);
	for (; !of(&world, 2)->chosen; seconds++) {
		second(&world, then, 1);
		assert_int_equal(n_chosen(&world), 1);
		assert_true(seconds < 20);
	}
	assert_true(seconds > 5);
	busiest_done(&world.top);
}

/* Without anybody who waits, a pause is not the end; a minute of nothing is. */
static void pauses(void **state)
{
	struct world world = {0};
	double busy[PIDS] = {[0] = 0.3}, idle[PIDS] = {0};

	(void)state;
	for (int i = 0; i < 10; i++)
		second(&world, busy, 1);
	for (int i = 0; i < 25; i++)
		second(&world, idle, 1);
	assert_true(of(&world, 1)->chosen);
	for (int i = 0; i < 30; i++)
		second(&world, idle, 1);
	assert_false(of(&world, 1)->chosen);
	busiest_done(&world.top);
}

/* The number comes round again: another process, of which nothing is known. */
static void reused_pids(void **state)
{
	struct world world = {0};
	double shares[PIDS] = {[0] = 0.9};

	(void)state;
	for (int i = 0; i < 10; i++)
		second(&world, shares, 1);
	assert_true(of(&world, 1)->chosen);
	world.start[0] = 99;
	world.cpu_ns[0] = 0;
	second(&world, shares, 1);
	assert_false(of(&world, 1)->chosen);
	assert_true(of(&world, 1)->share == 0);
	world.gone[0] = true;
	second(&world, shares, 1);
	assert_null(of(&world, 1));
	busiest_done(&world.top);
}

static void refused_ones_hold_no_place(void **state)
{
	struct world world = {0};
	double shares[PIDS] = {[0] = 0.9, [1] = 0.2};

	(void)state;
	for (int i = 0; i < 10; i++)
		second(&world, shares, 1);
	world.top.processes[0].refused = true;
	second(&world, shares, 1);
	assert_false(of(&world, 1)->chosen);
	assert_true(of(&world, 2)->chosen);
	busiest_done(&world.top);
}

/* Whatever happens: never more than wanted. */
static void bounded(void **state)
{
	unsigned short random[3] = {1, 2, 3};
	struct world world = {0};

	(void)state;
	for (int i = 0; i < 2000; i++) {
		unsigned wanted = nrand48(random) % 8;
		double shares[PIDS];

		for (int j = 0; j < PIDS; j++) {
			shares[j] = erand48(random) < 0.3 ? erand48(random) : 0;
			if (erand48(random) < 0.01)
				world.gone[j] = !world.gone[j];
			if (erand48(random) < 0.01)
				world.start[j]++;
		}
		second(&world, shares, wanted);
		assert_true(n_chosen(&world) <= wanted);
	}
	busiest_done(&world.top);
	assert_int_equal(busiest_update(&world.top, NULL, 0, 1, 3), 0);
	busiest_done(&world.top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_busiest_are_chosen),
	        cmocka_unit_test(nobody_flaps),
	        cmocka_unit_test(a_busier_one_gets_the_place),
	        cmocka_unit_test(pauses),
	        cmocka_unit_test(reused_pids),
	        cmocka_unit_test(refused_ones_hold_no_place),
	        cmocka_unit_test(bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

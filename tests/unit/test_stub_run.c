/* SPDX-License-Identifier: MIT */
/*
 * The allocate algorithm: stack and heap exact to the byte whatever the steps, off by what is
 * measured where it is not made up for, delays that are not shorter than asked for.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../../cli/stub_file.h"
#include "../../cli/stub_run.h"
#include "simulate.h"

#define ROWS 60

static const struct stub_costs no_costs;
static struct stub_overhead overhead;

static int setup(void **state)
{
	(void)state;
	stub_heap_setup();
	overhead.heap = stub_heap_measure_overhead();
	overhead.stack = stub_stack_measure_overhead();
	return stub_stack_reserve(1 << 20, ROWS);
}

static void run(const struct stub_row *rows, size_t n, uint64_t repeat,
        const struct stub_costs *costs, struct stub_measure *ret_measures)
{
	const struct stub_program program = {rows, n, repeat, overhead, costs};
	struct stub_times times;

	assert_int_equal(stub_run(&program, ret_measures, &times), 0);
	assert_true(times.cpu_seconds >= ret_measures[n - 1].seconds);
	assert_true(times.wall_seconds > 0);
}

static void is_exact(const struct stub_row *rows, size_t n, const struct stub_measure *measures)
{
	int64_t stack = 0, heap = 0;

	for (size_t i = 0; i < n; i++) {
		stack += rows[i].stack_bytes;
		heap += rows[i].heap_bytes;
		if (measures[i].stack_bytes != stack || measures[i].heap_bytes != heap)
			fail_msg("row %zu: stack %lld for %lld, heap %lld for %lld", i,
			        (long long)measures[i].stack_bytes, (long long)stack,
			        (long long)measures[i].heap_bytes, (long long)heap);
	}
}

static void the_papers_example(void **state)
{
	static const struct stub_row rows[] = {{.seconds = 129e-6, .stack_bytes = 300},
	        {.seconds = 223e-6, .stack_bytes = 100, .heap_bytes = 200},
	        {.seconds = 384e-6, .stack_bytes = -100, .heap_bytes = -40},
	        {.seconds = 112e-6, .stack_bytes = -300, .heap_bytes = -160}};
	struct stub_measure measures[4];
	double due = 0;

	(void)state;
	run(rows, 4, 1, &no_costs, measures);
	is_exact(rows, 4, measures);
	for (int i = 0; i < 4; i++)
		assert_true(measures[i].seconds >= (due += rows[i].seconds) - 2e-9);
	run(rows, 4, 3, &no_costs, measures);
	is_exact(rows, 4, measures);
	assert_true(measures[3].seconds >= 3 * 848e-6 - 2e-9);
}

/* Each call of the recursion takes more, and so does malloc. */
static void not_calibrated(void **state)
{
	static const struct stub_row rows[] = {{.stack_bytes = 304}, {.stack_bytes = 96},
	        {.heap_bytes = 65536}, {.stack_bytes = -400, .heap_bytes = -65536}};
	struct stub_measure measures[4];
	int64_t call = overhead.stack.call_bytes;

	(void)state;
	assert_true(call > 0 && call % 16 == 0);
	run(rows, 4, 1, NULL, measures);
	assert_int_equal(measures[0].stack_bytes, 304 + call);
	assert_int_equal(measures[1].stack_bytes, 400 + 2 * call);
	assert_int_equal(measures[2].heap_bytes,
	        65536 + overhead.heap.header_bytes + overhead.heap.padding_bytes[0]);
	assert_int_equal(measures[3].stack_bytes, 0);
	assert_int_equal(measures[3].heap_bytes, 0);
}

/* Levels of all distances, smaller than a call takes too; falls to in between. */
static void any_steps(void **state)
{
	static const int64_t spans[] = {3, 40, 200, 3000, 100000};
	struct stub_measure measures[ROWS];
	struct stub_row rows[ROWS];
	uint64_t random = 8;

	(void)state;
	for (int file = 0; file < (RUNNING_ON_VALGRIND ? 10 : 200); file++) {
		int64_t stack = 0, heap = 0;

		for (int i = 0; i < ROWS; i++) {
			int64_t span = spans[(uint64_t)(sim_uniform(&random) * 0x1p53) % 5],
			        from = stack;
			int64_t to = from +
			             (int64_t)((uint64_t)(sim_uniform(&random) * 0x1p53) %
			                       (2 * span + 1)) -
			             span;
			int64_t now = (int64_t)((uint64_t)(sim_uniform(&random) * 0x1p53) %
			                        (uint64_t)spans[file % 5]);

			to = i == ROWS - 1 || to < 0 ? 0 : to;
			rows[i] = (struct stub_row){
			        .stack_bytes = to - stack, .heap_bytes = now - heap};
			stack = to;
			heap = now;
		}
		run(rows, ROWS, 1, &no_costs, measures);
		is_exact(rows, ROWS, measures);
	}
}

/* 10000 rising points: no more depth than they ask for. */
static void deep(void **state)
{
	enum { DEPTH = 2000 };
	static struct stub_measure measures[2 * DEPTH];
	static struct stub_row rows[2 * DEPTH];

	(void)state;
	for (int i = 0; i < 2 * DEPTH; i++)
		rows[i].stack_bytes = i < DEPTH ? 400 : -400;
	run(rows, 2 * DEPTH, 1, &no_costs, measures);
	is_exact(rows, 2 * DEPTH, measures);
}

static void phases(void **state)
{
	static const struct stub_row rows[] = {
	        {.pattern = STUB_SCAN, .working_set_bytes = 4096, .stride_bytes = 8, .repeats = 9},
	        {.seconds = 1e-3, .pattern = STUB_CHASE, .working_set_bytes = 4096, .repeats = 1}};
	struct stub_measure measures[2];

	(void)state;
	run(rows, 2, 2, &no_costs, measures);
	is_exact(rows, 2, measures);
	assert_true(measures[0].phase_seconds > 0 && measures[1].phase_seconds > 0);
	assert_true(measures[1].seconds >= 2e-3 - 2e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_papers_example),
	        cmocka_unit_test(not_calibrated),
	        cmocka_unit_test(any_steps),
	        cmocka_unit_test(deep),
	        cmocka_unit_test(phases),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

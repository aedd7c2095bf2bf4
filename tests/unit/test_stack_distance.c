/* SPDX-License-Identifier: MIT */
/* The exact stack against keeping a list, through closed ranks, forgetting and lack of memory. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "stack_distance.h"
#include "traces.h"

static void check(const struct trace *t)
{
	uint64_t data[TRACE_MOST], distances[TRACE_MOST];
	double lines[TRACE_MOST + 2], ratios[TRACE_MOST + 2];
	struct mtl_stack *stack;
	size_t first = t->n / 2;

	trace_names(t, data);
	assert_int_equal(mtl_stack_new(0, &stack), 0);
	assert_int_equal(mtl_stack_access(stack, data, first, distances), 0);
	assert_int_equal(mtl_stack_access(stack, data + first, t->n - first, distances + first), 0);
	assert_memory_equal(distances, t->rd, t->n * sizeof(*distances));
	assert_int_equal(mtl_stack_accesses(stack), t->n);
	assert_int_equal(mtl_stack_distinct(stack), t->m);
	for (size_t c = 0; c < t->m + 2; c++)
		lines[c] = (double)c + (c % 2 ? 0.5 : 0);
	assert_int_equal(mtl_stack_miss_ratios(stack, lines, t->m + 2, ratios), 0);
	for (size_t c = 0; c < t->m + 2; c++)
		assert_true(ratios[c] == (double)trace_lru_misses(t, c) / (double)t->n);
	mtl_stack_free(stack);
}

static void distances_are_those_of_a_list(void **state)
{
	static struct trace t = {0};
	uint64_t random = 41;
	(void)state;

	while (trace_next(&t, trace_longest(9)))
		check(&t);
	for (unsigned run = 0; run < sim_runs(1500); run++) {
		trace_random(&t, &random, run % 10 ? 40 : 600);
		check(&t);
	}
}

/* Move to front in a list; returns the distance. */
static uint64_t list_access(uint64_t *list, size_t *n, uint64_t datum)
{
	size_t at = 0;

	while (at < *n && list[at] != datum)
		at++;
	bool new = at == *n;
	*n += new;
	memmove(&list[1], &list[0], at * sizeof(*list));
	list[0] = datum;
	return new ? MTL_NEVER : at + 1;
}

static void ranks_close(void **state)
{
	size_t accesses = RUNNING_ON_VALGRIND ? 20000 : 120000, n = 0;
	static uint64_t list[3000];
	uint64_t random = 43, data[700], distances[700];
	struct mtl_stack *stack;
	(void)state;

	assert_int_equal(mtl_stack_new(0, &stack), 0);
	for (size_t i = 0; i < accesses; i += 700) {
		for (size_t k = 0; k < 700; k++) {
			double u = sim_uniform(&random);
			data[k] = (uint64_t)(u * u * 2900) * (i < accesses / 2 ? 1 : 64);
			data[k] %= 2999;
		}
		assert_int_equal(mtl_stack_access(stack, data, 700, distances), 0);
		for (size_t k = 0; k < 700; k++)
			assert_int_equal(distances[k], list_access(list, &n, data[k]));
	}
	assert_int_equal(mtl_stack_distinct(stack), n);
	mtl_stack_free(stack);
}

static void what_is_forgotten_is_new(void **state)
{
	uint64_t data[] = {1, 2, 3, 2, 1, 3, 4}, distances[7];
	struct mtl_stack *stack;
	(void)state;

	assert_int_equal(mtl_stack_new(0, &stack), 0);
	assert_int_equal(mtl_stack_access(stack, data, 4, distances), 0);
	mtl_stack_forget(stack, 2);
	assert_int_equal(mtl_stack_access(stack, data + 4, 3, distances), 0);
	assert_true(distances[0] == 2 && distances[1] == 2 && distances[2] == MTL_NEVER);
	assert_int_equal(mtl_stack_access(stack, data + 1, 1, distances), 0);
	assert_true(distances[0] == MTL_NEVER);
	assert_int_equal(mtl_stack_distinct(stack), 4);
	mtl_stack_free(stack);
}

static void counts_add_up(void **state)
{
	uint64_t data[] = {7, 7, 8, 7, 9, 8, 7};
	double lines[] = {0, 1, 2, 3, 1e18}, ratios[5];
	struct mtl_stack *stack;
	(void)state;

	assert_int_equal(mtl_stack_new(0, &stack), 0);
	assert_int_equal(mtl_stack_miss_ratios(stack, lines, 5, ratios), -EINVAL);
	assert_int_equal(mtl_stack_access(stack, data, 7, NULL), 0);
	assert_int_equal(mtl_stack_count(stack, 0), 0);
	assert_int_equal(mtl_stack_count(stack, 1), 1);
	assert_int_equal(mtl_stack_count(stack, 2), 1);
	assert_int_equal(mtl_stack_count(stack, 3), 2);
	assert_int_equal(mtl_stack_count(stack, UINT64_MAX), 0);
	assert_int_equal(mtl_stack_miss_ratios(stack, lines, 5, ratios), 0);
	assert_true(ratios[0] == 1 && ratios[1] == 6.0 / 7 && ratios[2] == 5.0 / 7);
	assert_true(ratios[3] == 3.0 / 7 && ratios[4] == 3.0 / 7);
	ratios[0] = -1;
	assert_int_equal(mtl_stack_miss_ratios(stack, (double[]){2, 1}, 2, ratios), -EINVAL);
	assert_int_equal(mtl_stack_miss_ratios(stack, (double[]){NAN}, 1, ratios), -EINVAL);
	assert_true(ratios[0] == -1);
	mtl_stack_free(stack);
}

/* 40 bytes a datum, and a constant below a quarter of a megabyte, at any number of data. */
static void memory_is_bounded(void **state)
{
	uint64_t data[500], n = 0, limit = 3 << 20;
	struct mtl_stack *stack;
	int r = 0;
	(void)state;

	assert_int_equal(mtl_stack_new(1000, &stack), -ENOMEM);
	assert_int_equal(mtl_stack_new(limit, &stack), 0);
	while (r == 0) {
		uint64_t distinct = mtl_stack_distinct(stack);

		for (size_t i = 0; i < 500; i++)
			data[i] = i < 250 ? n / 2 : n++;
		r = mtl_stack_access(stack, data, 500, NULL);
		assert_true(mtl_stack_bytes(stack) <= limit);
		assert_true((double)mtl_stack_bytes(stack) < 40 * (double)distinct + (1 << 18));
	}
	assert_int_equal(r, -ENOMEM);
	assert_true((double)mtl_stack_bytes(stack) > 0.7 * (double)limit);
	/* what was counted is a whole */
	double lines = 1e18, ratio;
	assert_int_equal(mtl_stack_miss_ratios(stack, &lines, 1, &ratio), 0);
	assert_true(fabs(ratio * (double)mtl_stack_accesses(stack) -
	                    (double)mtl_stack_distinct(stack)) < 1e-6);
	mtl_stack_free(stack);
}

/* Both ways of counting marks, where this processor has both. */
static void marks_are_counted(void **state)
{
	uint64_t random = 47, capacity = RUNNING_ON_VALGRIND ? 30000 : 700000;
	struct mtl_recency order;
	(void)state;

	assert_int_equal(mtl_recency_init(&order, capacity, capacity / 3), 0);
	while (order.end < capacity)
		mtl_recency_add(&order);
	for (uint64_t i = 0; i < capacity; i++)
		if (sim_uniform(&random) < 0.5)
			mtl_recency_remove(&order, i);
	uint64_t after = 0;
	for (uint64_t i = capacity; i-- > 0;) {
		if (i % 97 == 0) {
			assert_int_equal(mtl_recency_after(&order, i), after);
			assert_int_equal(mtl_recency_after_anywhere(&order, i), after);
		}
		after += order.bits[i / 64] >> (i % 64) & 1;
	}
	assert_int_equal(after, order.marks);
	mtl_recency_done(&order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(distances_are_those_of_a_list),
	        cmocka_unit_test(ranks_close),
	        cmocka_unit_test(what_is_forgotten_is_new),
	        cmocka_unit_test(counts_add_up),
	        cmocka_unit_test(memory_is_bounded),
	        cmocka_unit_test(marks_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The table of last accesses against an array, through growth, removal and lack of memory. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "last_access.h"
#include "traces.h"

#define DATA 3000

static uint64_t below(uint64_t *random, uint64_t n)
{
	return (uint64_t)(sim_uniform(random) * (double)n);
}

static void remembers_the_last_time(void **state)
{
	struct mtl_last_access table;
	uint64_t random = 3, last[DATA + 1] = {0}, data[50], times[50], now = 1;
	(void)state;

	assert_int_equal(mtl_last_access_init(&table, 0), 0);
	for (unsigned run = 0; run < sim_runs(2000); run++) {
		size_t n = 1 + below(&random, 50);
		uint64_t some = 1 + below(&random, DATA), before[50];

		for (size_t i = 0; i < n; i++) {
			uint64_t e = 1 + below(&random, some);
			data[i] = trace_name(e);
			before[i] = last[e];
			last[e] = now + i;
		}
		assert_int_equal(mtl_last_access_renew(&table, data, n, now, times), n);
		assert_memory_equal(times, before, n * sizeof(*times));
		now += n;
	}
	mtl_last_access_done(&table);
}

static void removal_leaves_the_others(void **state)
{
	uint64_t random = 5, there[DATA + 1] = {0}, count = 0;
	struct mtl_last_access table;
	struct mtl_last_cursor cursor = {0};
	uint64_t datum, *time;
	(void)state;

	assert_int_equal(mtl_last_access_init(&table, 0), 0);
	for (unsigned run = 0; run < 60000; run++) {
		uint64_t e = 1 + below(&random, DATA);

		/* up and down, so that runs of slots become long and fall apart again */
		if (sim_uniform(&random) < (run / 10000 % 2 ? 0.3 : 0.7)) {
			time = mtl_last_access_time(&table, trace_name(e));
			assert_int_equal(*time, there[e]);
			*time = there[e] = run + 1;
		} else {
			mtl_last_access_remove(&table, trace_name(e));
			there[e] = 0;
		}
	}
	for (uint64_t e = 1; e <= DATA; e++) {
		count += there[e] != 0;
		if (there[e])
			assert_int_equal(*mtl_last_access_time(&table, trace_name(e)), there[e]);
	}
	assert_int_equal(table.used, count);
	while (mtl_last_access_next(&table, &cursor, &datum, &time))
		count--;
	assert_int_equal(count, 0);
	mtl_last_access_done(&table);
}

/* Strides that a weak hash would put in one place: the longest way to a datum stays short. */
static void any_stride_is_spread(void **state)
{
	(void)state;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		struct mtl_last_access table;

		assert_int_equal(mtl_last_access_init(&table, 0), 0);
		for (uint64_t i = 1; i <= 4000; i++)
			*mtl_last_access_time(&table, i << shift) = i;
		assert_true(mtl_last_access_displacement(&table) < 5);
		mtl_last_access_done(&table);
	}
}

/* A call that ends at a datum there is no memory for leaves no trace of what came after it. */
static void refused_accesses_leave_no_trace(void **state)
{
	uint64_t data[64], times[64], n = 0, random = 9;
	struct mtl_last_access table;
	size_t done;
	(void)state;

	assert_int_equal(mtl_last_access_init(&table, 1 << 17), 0);
	do {
		for (size_t i = 0; i < 64; i++)
			data[i] = n < 64 || i % 3 == 0 ? n + i : below(&random, n);
		done = mtl_last_access_renew(&table, data, 64, n + 1, times);
		n += done;
	} while (done == 64);
	assert_true(done < 62);
	for (size_t i = done; i < 64; i++) {
		uint64_t *time = mtl_last_access_time(&table, data[i]);

		assert_true(time == NULL || *time <= n);
		if (time && *time == 0)
			*time = n;
	}
	mtl_last_access_done(&table);
}

static void memory_is_bounded(void **state)
{
	uint64_t data[100], times[100], most = 1 << 20, n = 0;
	struct mtl_last_access table;
	size_t done;
	(void)state;

	assert_int_equal(mtl_last_access_init(&table, 100), -ENOMEM);
	assert_int_equal(mtl_last_access_init(&table, most), 0);
	do {
		for (size_t i = 0; i < 100; i++)
			data[i] = n + i;
		done = mtl_last_access_renew(&table, data, 100, n + 1, times);
		n += done;
		assert_true(table.bytes <= most && table.peak <= most);
	} while (done == 100);
	/* what is there is known; 29.3 bytes a datum, and one segment's copy */
	assert_int_equal(table.used, n);
	assert_true((double)table.peak / (double)n < 30);
	assert_true((double)most / (double)n < 40);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(*mtl_last_access_time(&table, i), i + 1);
	assert_null(mtl_last_access_time(&table, data[done]));
	mtl_last_access_done(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(remembers_the_last_time),
	        cmocka_unit_test(removal_leaves_the_others),
	        cmocka_unit_test(any_stride_is_spread),
	        cmocka_unit_test(refused_accesses_leave_no_trace),
	        cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

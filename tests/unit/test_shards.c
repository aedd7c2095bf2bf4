/* SPDX-License-Identifier: MIT */
/* SHARDS: exact when everything is sampled, close when a part is, bounded when so asked. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "traces.h"

#define SIZES 40

/* About 1 / rank over 20,000 data: few with many accesses, and many with few. */
static uint64_t *skewed(size_t n)
{
	uint64_t *data = calloc(n, sizeof(*data)), random = 53;

	assert_non_null(data);
	for (size_t i = 0; i < n; i++)
		data[i] = (uint64_t)exp(sim_uniform(&random) * log(20000));
	return data;
}

static void exact(const uint64_t *data, size_t n, double *ret_lines, double *ret_ratios)
{
	struct mtl_stack *stack;

	for (unsigned i = 0; i < SIZES; i++)
		ret_lines[i] = floor(exp2(1 + 0.33 * i));
	assert_int_equal(mtl_stack_new(0, &stack), 0);
	assert_int_equal(mtl_stack_access(stack, data, n, NULL), 0);
	assert_int_equal(mtl_stack_miss_ratios(stack, ret_lines, SIZES, ret_ratios), 0);
	mtl_stack_free(stack);
}

static double error_of(
        double rate, size_t most, const uint64_t *data, size_t n, struct mtl_shards **ret_shards)
{
	double lines[SIZES], truth[SIZES], ratios[SIZES], error = 0;

	exact(data, n, lines, truth);
	assert_int_equal(mtl_shards_new(rate, most, 0, ret_shards), 0);
	assert_int_equal(mtl_shards_access(*ret_shards, data, n), 0);
	assert_int_equal(mtl_shards_accesses(*ret_shards), n);
	assert_int_equal(mtl_shards_miss_ratios(*ret_shards, lines, SIZES, ratios), 0);
	for (unsigned i = 0; i < SIZES; i++) {
		assert_true(ratios[i] >= 0 && ratios[i] <= 1);
		assert_true(i == 0 || ratios[i] <= ratios[i - 1] + 1e-12);
		error += fabs(ratios[i] - truth[i]) / SIZES;
	}
	return error;
}

static void all_sampled_is_exact(void **state)
{
	size_t n = RUNNING_ON_VALGRIND ? 10000 : 100000;
	uint64_t *data = skewed(n);
	struct mtl_shards *shards;
	(void)state;

	/* but for bins above 512 lines, of 1/256 */
	assert_true(error_of(1, 0, data, n, &shards) < 2e-4);
	assert_int_equal(mtl_shards_sampled(shards), n);
	mtl_shards_free(shards);
	assert_true(error_of(1, n, data, n, &shards) < 2e-4);
	assert_true(mtl_shards_rate(shards) == 1);
	mtl_shards_free(shards);
	free(data);
}

static void a_part_is_close(void **state)
{
	size_t n = RUNNING_ON_VALGRIND ? 30000 : 300000;
	uint64_t *data = skewed(n);
	struct mtl_shards *shards;
	double distinct;
	(void)state;

	/* most of it below 1 / rate lines, where the correction puts what the hottest data lack */
	assert_true(error_of(0.2, 0, data, n, &shards) < 0.045 * sim_slack());
	distinct = mtl_shards_distinct(shards);
	if (!RUNNING_ON_VALGRIND) /* nearly all 20,000: five standard deviations of a fifth */
		assert_true(fabs(distinct - 19700) < 1600);
	assert_true(mtl_shards_rate(shards) == 0.2);
	mtl_shards_free(shards);
	free(data);
}

static void size_is_bounded(void **state)
{
	size_t n = RUNNING_ON_VALGRIND ? 30000 : 300000, most = 2000;
	uint64_t *data = skewed(n);
	struct mtl_shards *shards;
	(void)state;

	assert_true(error_of(1, most, data, n, &shards) < 0.03 * sim_slack());
	if (!RUNNING_ON_VALGRIND)
		assert_true(fabs(mtl_shards_distinct(shards) - 19700) < 2200);
	assert_true(mtl_shards_rate(shards) < 1);
	assert_true(mtl_shards_bytes(shards) < 800000);
	mtl_shards_free(shards);

	/* one datum kept */
	assert_int_equal(mtl_shards_new(1, 1, 0, &shards), 0);
	assert_int_equal(mtl_shards_access(shards, data, n), 0);
	assert_true(mtl_shards_bytes(shards) < 400000 && mtl_shards_rate(shards) < 0.01);
	mtl_shards_free(shards);
	free(data);
}

/* What is as large as all data together takes first accesses only, also inside a wide bin. */
static void all_data_fit_where_there_is_room(void **state)
{
	double lines[] = {8999, 9000, 9100}, ratios[3];
	struct mtl_shards *shards;
	(void)state;

	assert_int_equal(mtl_shards_new(1, 0, 0, &shards), 0);
	for (uint64_t i = 0; i < 16000; i++) {
		uint64_t datum = i % 9000;
		assert_int_equal(mtl_shards_access(shards, &datum, 1), 0);
	}
	assert_int_equal(mtl_shards_miss_ratios(shards, lines, 3, ratios), 0);
	assert_true(ratios[0] < 1 && ratios[0] > 0.57);
	assert_true(fabs(ratios[1] - 0.5625) < 1e-9 && fabs(ratios[2] - 0.5625) < 1e-9);
	assert_true(mtl_shards_distinct(shards) == 9000);
	mtl_shards_free(shards);
}

static void nothing_is_not_a_curve(void **state)
{
	uint64_t datum = 4;
	double lines[] = {1, 2}, ratios[] = {-1, -1};
	struct mtl_shards *shards;
	(void)state;

	assert_int_equal(mtl_shards_new(0, 0, 0, &shards), -EINVAL);
	assert_int_equal(mtl_shards_new(1.5, 0, 0, &shards), -EINVAL);
	assert_int_equal(mtl_shards_new(NAN, 0, 0, &shards), -EINVAL);
	assert_int_equal(mtl_shards_new(1, SIZE_MAX, 0, &shards), -EINVAL);
	assert_int_equal(mtl_shards_new(1, 0, 1000, &shards), -ENOMEM);
	assert_int_equal(mtl_shards_new(1e-15, 0, 0, &shards), 0);
	assert_int_equal(mtl_shards_access(shards, &datum, 1), 0);
	assert_int_equal(mtl_shards_miss_ratios(shards, lines, 2, ratios), -ENODATA);
	assert_int_equal(mtl_shards_miss_ratios(shards, (double[]){2, 1}, 2, ratios), -EINVAL);
	assert_true(ratios[0] == -1);
	mtl_shards_free(shards);
	assert_int_equal(mtl_shards_new(1e-300, 0, 0, &shards), 0); /* not all of it */
	assert_int_equal(mtl_shards_access(shards, &datum, 1), 0);
	assert_int_equal(mtl_shards_miss_ratios(shards, lines, 2, ratios), -ENODATA);
	mtl_shards_free(shards);
	assert_int_equal(mtl_shards_new(1, 0, 0, &shards), 0);
	assert_int_equal(mtl_shards_access(shards, &datum, 1), 0);
	assert_int_equal(mtl_shards_miss_ratios(shards, lines, 2, ratios), 0);
	assert_true(ratios[0] == 1 && ratios[1] == 1);
	mtl_shards_free(shards);
}

static void memory_is_bounded(void **state)
{
	struct mtl_shards *shards;
	uint64_t data[1000], n = 0;
	int r = 0;
	(void)state;

	assert_int_equal(mtl_shards_new(0.5, 0, 2 << 20, &shards), 0);
	while (r == 0) {
		for (size_t i = 0; i < 1000; i++)
			data[i] = n++;
		r = mtl_shards_access(shards, data, 1000);
	}
	assert_int_equal(r, -ENOMEM);
	assert_true(mtl_shards_bytes(shards) <= 2 << 20);
	mtl_shards_free(shards);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_sampled_is_exact),
	        cmocka_unit_test(a_part_is_close),
	        cmocka_unit_test(size_is_bounded),
	        cmocka_unit_test(all_data_fit_where_there_is_room),
	        cmocka_unit_test(nothing_is_not_a_curve),
	        cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

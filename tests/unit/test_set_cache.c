/* SPDX-License-Identifier: MIT */
/* Set-associative caches: simulation against looking back, predictions against all mappings of
 * lines to sets, and against simulation. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "binomial.h"
#include "cleanup.h"
#include "traces.h"

DEFINE_CLEANUP(struct mtl_set_cache, mtl_set_cache_free)
DEFINE_CLEANUP(struct mtl_profile, mtl_profile_free)
DEFINE_CLEANUP(struct mtl_stack, mtl_stack_free)

static uint64_t simulate(const uint64_t *lines, size_t n, uint64_t sets, uint64_t ways)
{
	_cleanup_(mtl_set_cache_freep) struct mtl_set_cache *cache = NULL;
	size_t some = n / 3;

	assert_int_equal(mtl_set_cache_new(sets, ways, 0, &cache), 0);
	mtl_set_cache_access(cache, lines, some);
	mtl_set_cache_access(cache, lines + some, n - some);
	assert_int_equal(mtl_set_cache_accesses(cache), n);
	return mtl_set_cache_misses(cache);
}

/* The lines of one set that were accessed since the line was: a hit if there are less than ways. */
static bool hits(const uint64_t *lines, size_t at, uint64_t sets, uint64_t ways)
{
	uint64_t between = 0;

	for (size_t i = at; i-- > 0;) {
		bool counted = lines[i] % sets != lines[at] % sets;
		if (lines[i] == lines[at])
			return between < ways;
		for (size_t j = i + 1; j < at && !counted; j++)
			counted = lines[j] == lines[i];
		between += !counted;
	}
	return false;
}

static void simulation_looks_back_right(void **state)
{
	uint64_t random = 1, lines[TRACE_MOST];
	struct trace t;
	(void)state;

	for (unsigned run = 0; run < sim_runs(6000); run++) {
		uint64_t sets = 1 + (uint64_t)(sim_uniform(&random) * 9);
		uint64_t ways = 1 + (uint64_t)(sim_uniform(&random) * 6), misses = 0;
		trace_random(&t, &random, 80);
		for (size_t i = 0; i < t.n; i++)
			lines[i] = run % 2 ? t.ai[i] : trace_name(t.ai[i]);
		for (size_t i = 0; i < t.n; i++)
			misses += !hits(lines, i, sets, ways);
		assert_int_equal(simulate(lines, t.n, sets, ways), misses);
		assert_int_equal(simulate(lines, t.n, 1, ways), trace_lru_misses(&t, ways));
	}
}

static void many_ways_in_one_set(void **state)
{
	enum { WAYS = 3000 };
	_cleanup_free_ uint64_t *lines = calloc(3 * WAYS, sizeof(*lines));
	(void)state;

	for (uint64_t i = 0; i < 3 * WAYS; i++)
		lines[i] = i % WAYS;
	assert_int_equal(simulate(lines, 3 * WAYS, 1, WAYS), WAYS);
	assert_int_equal(simulate(lines, 3 * WAYS, 1, WAYS - 1), 3 * WAYS);
	assert_int_equal(simulate(lines, 3 * WAYS, WAYS, 1), WAYS); /* not a power of two */
	assert_int_equal(simulate(lines, 3 * WAYS, WAYS - 1, 1), WAYS + 2 * 2);
	for (uint64_t i = 0; i < 3 * WAYS; i++)
		lines[i] = i % 5 * 64; /* the aliasing stride of 64 sets */
	assert_int_equal(simulate(lines, 3 * WAYS, 64, 5), 5);
	assert_int_equal(simulate(lines, 3 * WAYS, 64, 4), 3 * WAYS);
}

static void bad_geometry(void **state)
{
	struct mtl_set_cache *cache = NULL;
	(void)state;

	assert_int_equal(mtl_set_cache_new(0, 8, 0, &cache), -EINVAL);
	assert_int_equal(mtl_set_cache_new(64, 0, 0, &cache), -EINVAL);
	assert_int_equal(mtl_set_cache_new(64, 8, 64 * 8 * 8, &cache), -ENOMEM);
	assert_int_equal(mtl_set_cache_new(1, UINT64_MAX, 0, &cache), -ENOMEM);
	assert_int_equal(mtl_set_cache_new(UINT64_C(1) << 63, 1, 0, &cache), -ENOMEM);
	assert_int_equal(mtl_set_cache_new(UINT64_C(1) << 60, 1, 0, &cache), -ENOMEM);
	assert_null(cache);
	assert_int_equal(mtl_set_cache_new(64, 8, 64 * 9 * 8 + 64, &cache), 0);
	assert_null(mtl_set_cache_free(cache));
	assert_null(mtl_set_cache_free(NULL));
}

static struct mtl_stack *stack_of(const uint64_t *lines, size_t n)
{
	struct mtl_stack *stack = NULL;

	assert_int_equal(mtl_stack_new(0, &stack), 0);
	assert_int_equal(mtl_stack_access(stack, lines, n, NULL), 0);
	return stack;
}

static struct mtl_profile *profile_of(const uint64_t *lines, size_t n)
{
	struct mtl_profile *profile = NULL;

	assert_int_equal(mtl_profile_new(0, &profile), 0);
	assert_int_equal(mtl_profile_access(profile, lines, n, NULL), 0);
	return profile;
}

/* Miss ratio in the mean over all sets^m ways to give each of the m lines a set. */
static double mean_over_mappings(const struct trace *t, uint64_t sets, uint64_t ways)
{
	uint64_t lines[TRACE_MOST], misses = 0, mappings = 1;

	for (size_t e = 0; e < t->m; e++)
		mappings *= sets;
	for (uint64_t mapping = 0; mapping < mappings; mapping++) {
		uint64_t line_of[TRACE_MOST], rest = mapping;
		for (size_t e = 0; e < t->m; e++, rest /= sets)
			line_of[e] = e * sets + rest % sets;
		for (size_t i = 0; i < t->n; i++)
			lines[i] = line_of[t->ai[i] - 1];
		misses += simulate(lines, t->n, sets, ways);
	}
	return (double)misses / (double)mappings / (double)t->n;
}

static void assert_thinning_is_the_mean(const struct trace *t)
{
	_cleanup_(mtl_stack_freep) struct mtl_stack *stack = stack_of(t->ai, t->n);

	for (uint64_t sets = 2; sets <= 3; sets++)
		for (uint64_t ways = 1; ways <= 3; ways++) {
			double mean = mean_over_mappings(t, sets, ways), sum = 0;
			double p = 1 / (double)sets;
			for (size_t i = 0; i < t->n; i++)
				sum += t->rt[i] == MTL_NEVER ? 1
				                             : mtl_set_miss_probability(
				                                       (double)t->rd[i], p, ways);
			assert_true(fabs(sum / (double)t->n - mean) < 1e-12);
			assert_true(fabs(mtl_stack_set_miss_ratio(stack, p, ways) - mean) < 1e-12);
		}
}

static void thinning_is_the_mean_over_mappings(void **state)
{
	struct trace t = {0};
	uint64_t random = 3;
	(void)state;

	while (trace_next(&t, RUNNING_ON_VALGRIND ? 4 : 7))
		assert_thinning_is_the_mean(&t);
	for (unsigned run = 0; run < sim_runs(90); run++) {
		do
			trace_random(&t, &random, 40);
		while (t.m > (RUNNING_ON_VALGRIND ? 4 : 7));
		assert_thinning_is_the_mean(&t);
	}
}

/* The recurrence over distances against each distance by itself. */
static void all_distances_of_a_long_stack(void **state)
{
	const uint64_t ways[] = {1, 4, 16, 300, 5000};
	size_t n = RUNNING_ON_VALGRIND ? 4000 : 40000;
	_cleanup_free_ uint64_t *lines = calloc(n, sizeof(*lines));
	_cleanup_(mtl_stack_freep) struct mtl_stack *stack = NULL;
	uint64_t random = 4;
	(void)state;

	for (size_t i = 0; i < n; i++)
		lines[i] = (uint64_t)((double)n * pow(sim_uniform(&random), 2));
	stack = stack_of(lines, n);
	for (unsigned i = 0; i < 5; i++)
		for (double p = 1; p > 1e-5; p /= 9) {
			double misses = (double)mtl_stack_distinct(stack);
			for (uint64_t d = 1; d <= mtl_stack_distinct(stack); d++)
				if (mtl_stack_count(stack, d))
					misses += (double)mtl_stack_count(stack, d) *
					          mtl_set_miss_probability((double)d, p, ways[i]);
			assert_true(fabs(misses / (double)n -
			                    mtl_stack_set_miss_ratio(stack, p, ways[i])) < 1e-12);
		}
}

static void one_set_is_fully_associative(void **state)
{
	uint64_t random = 6;
	struct trace t;
	(void)state;

	for (unsigned run = 0; run < sim_runs(300); run++) {
		trace_random(&t, &random, 400);
		_cleanup_(mtl_stack_freep) struct mtl_stack *stack = stack_of(t.ai, t.n);
		_cleanup_(mtl_profile_freep) struct mtl_profile *profile = profile_of(t.ai, t.n);
		for (uint64_t ways = 1; ways < t.m + 2; ways += 1 + ways / 3) {
			double misses = (double)trace_lru_misses(&t, ways);
			double expected =
			        mtl_miss_ratio_by_expected_distance(profile, (double)ways);
			assert_true(fabs(mtl_stack_set_miss_ratio(stack, 1, ways) -
			                    misses / (double)t.n) < 1e-12);
			assert_true(fabs(mtl_profile_set_miss_ratio(profile, 1, ways) - expected) <
			            1e-12);
		}
	}
}

static void probability_by_hand(void **state)
{
	const uint64_t even[] = {2, 2, 2, 2}, one[] = {4, 0}, apart[] = {1, 1, 1}, none[] = {0, 1};
	const uint64_t uneven[] = {3, 1, 0}; /* 3 x 2 of 4 x 3 ordered pairs */
	(void)state;

	assert_true(fabs(mtl_set_probability(even, 4) - 1 / 7.0) < 1e-15);
	assert_true(mtl_set_probability(one, 2) == 1);
	assert_true(mtl_set_probability(apart, 3) == 0);
	assert_true(mtl_set_probability(none, 2) == 0.5);
	assert_true(mtl_set_probability(uneven, 3) == 0.5);
	assert_true(mtl_set_miss_probability(4, 0.5, 2) == 0.5); /* 3 others, 2 of them */
	assert_true(mtl_set_miss_probability(1, 0.5, 1) == 0);
	assert_true(mtl_set_miss_probability(INFINITY, 0.5, 8) == 1);
}

/* p is the share of pairs of lines that meet in a set. */
static void probability_is_that_of_pairs(void **state)
{
	uint64_t random = 7, lines[TRACE_MOST], in_set[8];
	struct trace t;
	(void)state;

	for (unsigned run = 0; run < sim_runs(500); run++) {
		uint64_t sets = 1 + run % 8, together = 0, pairs = 0;
		trace_random(&t, &random, 60);
		trace_names(&t, lines);
		_cleanup_(mtl_profile_freep) struct mtl_profile *profile = profile_of(lines, t.n);
		mtl_profile_lines_in_sets(profile, sets, in_set);
		for (uint64_t a = 1; a <= t.m; a++)
			for (uint64_t b = 1; b <= t.m; b++) {
				pairs += a != b;
				together += a != b && trace_name(a) % sets == trace_name(b) % sets;
			}
		double p = pairs ? (double)together / (double)pairs : 1 / (double)sets;
		assert_true(fabs(mtl_set_probability(in_set, sets) - p) < 1e-12);
	}
}

/* The patent's order from its definition, O(n^2) for each. */
static double patent(const struct trace *t, double p, uint64_t ways)
{
	double expected = 0;

	for (uint64_t time = 0;; time++) {
		double above = 0;
		for (size_t i = 0; i < t->n; i++)
			above += t->rt[i] == MTL_NEVER
			                 ? 1
			                 : mtl_binomial_tail((double)t->rt[i] - 1, p, time);
		expected += above; /* over all accesses, for a set-level reuse time of time + 1 */
		if (expected > (double)(ways * t->n) + 1e-7 || above < (double)t->m + 1e-7)
			return above / (double)t->n;
	}
}

static void patent_by_definition(void **state)
{
	uint64_t random = 8;
	struct trace t;
	(void)state;

	for (unsigned run = 0; run < sim_runs(400); run++) {
		trace_random(&t, &random, 300);
		_cleanup_(mtl_profile_freep) struct mtl_profile *profile = profile_of(t.ai, t.n);
		for (uint64_t ways = 1; ways <= 16; ways *= 2) {
			double p = 1 / (1 + floor(sim_uniform(&random) * 9));
			assert_true(fabs(mtl_profile_set_miss_ratio_patent(profile, p, ways) -
			                    patent(&t, p, ways)) < 1e-7);
		}
	}
}

/* -- predictions beside simulations -- */

#define LINES 3000
#define SETS 64

enum kind { ZIPF, STEEP, UNIFORM, BLOCKED };

static size_t pick(const double *cumulative, double part)
{
	size_t low = 0, high = LINES;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;
		if (cumulative[middle] < part * cumulative[LINES])
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Lines 0 ... LINES - 1: skewed, evenly, or block after block, each eight times. */
static void generate(enum kind kind, uint64_t *lines, size_t n)
{
	const double exponent[] = {[ZIPF] = 0.8, [STEEP] = 1.1, [UNIFORM] = 0};
	const size_t block = LINES / 20;
	double cumulative[LINES + 1] = {0};
	uint64_t random = 20 + kind;

	for (size_t e = 0; e < LINES && kind != BLOCKED; e++)
		cumulative[e + 1] = cumulative[e] + pow((double)e + 1, -exponent[kind]);
	for (size_t i = 0; i < n; i++)
		lines[i] = kind == BLOCKED ? i / block / 8 % 20 * block + i % block
		                           : pick(cumulative, sim_uniform(&random));
}

/* Mean of some mappings: each gives the lines random addresses. */
static double simulated(const uint64_t *lines, size_t n, uint64_t ways)
{
	_cleanup_free_ uint64_t *addresses = calloc(n, sizeof(*addresses));
	uint64_t misses = 0, mappings = RUNNING_ON_VALGRIND ? 2 : 8;

	for (uint64_t mapping = 0; mapping < mappings; mapping++) {
		for (size_t i = 0; i < n; i++) {
			uint64_t seed = (mapping + 1) * LINES + lines[i];
			addresses[i] = (uint64_t)(sim_uniform(&seed) * 0x1p40);
		}
		misses += simulate(addresses, n, SETS, ways);
	}
	return (double)misses / (double)n / (double)mappings;
}

/* Of converting, then thinning: the greatest error; of the patent's order: the greatest and least.
 */
struct errors {
	double converted, highest, lowest;
};

static struct errors errors_of(enum kind kind)
{
	size_t n = RUNNING_ON_VALGRIND ? 30000 : 300000;
	_cleanup_free_ uint64_t *lines = calloc(n, sizeof(*lines));
	struct errors errors = {0};

	generate(kind, lines, n);
	_cleanup_(mtl_profile_freep) struct mtl_profile *profile = profile_of(lines, n);
	_cleanup_(mtl_stack_freep) struct mtl_stack *stack = stack_of(lines, n);
	for (uint64_t ways = 1; ways <= 32; ways *= 2) {
		double misses = simulated(lines, n, ways);
		double thinned = mtl_stack_set_miss_ratio(stack, 1.0 / SETS, ways) - misses;
		double converted = mtl_profile_set_miss_ratio(profile, 1.0 / SETS, ways) - misses;
		double own = mtl_profile_set_miss_ratio_patent(profile, 1.0 / SETS, ways) - misses;
		assert_true(fabs(thinned) < 0.005 * sim_slack());
		errors.converted = fmax(errors.converted, fabs(converted));
		errors.highest = fmax(errors.highest, own);
		errors.lowest = fmin(errors.lowest, own);
	}
	return errors;
}

/* The patent's order is too high where lines repeat between reuses, too low in loops, where none
 * does. */
static void predictions_beside_simulation(void **state)
{
	struct errors of[BLOCKED + 1];
	(void)state;

	for (enum kind kind = ZIPF; kind <= BLOCKED; kind++) {
		of[kind] = errors_of(kind);
		assert_true(of[kind].converted < 0.01 * sim_slack());
	}
	assert_true(of[ZIPF].highest > 0.02 && of[ZIPF].highest < 0.1);
	assert_true(of[STEEP].highest > 0.04 && of[STEEP].highest < 0.1);
	assert_true(of[BLOCKED].lowest < -0.05 && of[BLOCKED].lowest > -0.25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(simulation_looks_back_right),
	        cmocka_unit_test(many_ways_in_one_set),
	        cmocka_unit_test(bad_geometry),
	        cmocka_unit_test(thinning_is_the_mean_over_mappings),
	        cmocka_unit_test(all_distances_of_a_long_stack),
	        cmocka_unit_test(one_set_is_fully_associative),
	        cmocka_unit_test(probability_by_hand),
	        cmocka_unit_test(probability_is_that_of_pairs),
	        cmocka_unit_test(patent_by_definition),
	        cmocka_unit_test(predictions_beside_simulation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

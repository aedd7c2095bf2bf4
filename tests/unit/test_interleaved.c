/* SPDX-License-Identifier: MIT */
/*
 * What demands say of traces that share a cache, from nothing but their curves as `mtl trace` gives
 * them (exact, default sizes), against exact LRU simulation of the interleaved accesses: all pairs
 * and triples of six kinds of traces of different lengths, at sizes from 1/32 of all they touch.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "demand_fixture.h"
#include "trace_curve.h"

#define KINDS 6
#define MOST 3
#define SIZES 11
#define LINE 64

DEFINE_CLEANUP(struct mtl_stack, mtl_stack_free)

struct made {
	uint64_t *lines;
	size_t n;
	struct mtl_demand *demand;
};

/* -- traces -- */

/* P(rank) about 1 / rank. */
static uint64_t zipf(uint64_t *random, size_t t, double lines)
{
	(void)t;
	return (uint64_t)pow(lines, sim_uniform(random));
}

static uint64_t uniform(uint64_t *random, size_t t, double lines)
{
	(void)t;
	return (uint64_t)(lines * sim_uniform(random));
}

static uint64_t loop(uint64_t *random, size_t t, double lines)
{
	(void)random;
	return t % (uint64_t)lines;
}

/* Each block of 32 lines four times over, then the next. */
static uint64_t blocks(uint64_t *random, size_t t, double lines)
{
	(void)random;
	return (t / 128 * 32 + t % 32) % (uint64_t)lines;
}

/* A hot part, and now and then the next line of a loop. */
static uint64_t hot_and_scan(uint64_t *random, size_t t, double lines)
{
	bool hot = sim_uniform(random) < 0.7;

	return hot ? (uint64_t)(lines / 16 * sim_uniform(random))
	           : (uint64_t)(lines / 16) + t % (uint64_t)(lines * 15 / 16);
}

/* Every line once, but for a few. */
static uint64_t stream(uint64_t *random, size_t t, double lines)
{
	return sim_uniform(random) < 0.5 ? (uint64_t)(lines / 20 * sim_uniform(random))
	                                 : (uint64_t)lines + t;
}

static const struct {
	uint64_t (*line)(uint64_t *random, size_t t, double lines);
	double lines;
	size_t n;
} kinds[KINDS] = {
        {zipf, 3000, 40000},
        {uniform, 1000, 30000},
        {loop, 800, 20000},
        {blocks, 1500, 45000},
        {hot_and_scan, 2000, 25000},
        {stream, 1000, 6000},
};

/* -- their curves, as the command line makes them -- */

static struct mtl_demand *demand_of_trace(const uint64_t *lines, size_t n)
{
	const struct trace_method none = {0}, method = trace_method_chosen(&none);
	const struct engine_wish wish = trace_method_wish(&method, LINE);
	_cleanup_(trace_engine_freep) struct trace_engine *engine = NULL;
	struct trace_facts facts = {.bytes = true, .line_bytes = LINE};
	struct number_list sizes = {0};
	struct trace_curve curve;
	struct json_object *object = NULL;
	struct mtl_demand *demand = NULL;
	char error[128];

	assert_int_equal(trace_engine_new(&wish, 0, &engine), 0);
	assert_int_equal(engine->access(engine->object, lines, n), 0);
	facts.accesses = trace_engine_accesses(engine);
	facts.distinct = trace_engine_distinct(engine);
	assert_int_equal(trace_sizes(&facts, &sizes, &sizes), 0);
	assert_int_equal(trace_curve_new(&facts, &method, engine, &sizes, &curve), 0);
	assert_int_equal(trace_curve_to_json(&curve, &object), 0);
	assert_int_equal(mtl_demand_from_json(object, "it", 1, &demand, error, sizeof(error)), 0);
	json_object_put(object);
	trace_curve_done(&curve);
	free(sizes.values);
	return demand;
}

static void make(size_t kind, struct made *ret)
{
	uint64_t random = 100 + kind;

	ret->n = kinds[kind].n / (RUNNING_ON_VALGRIND ? 10 : 1);
	ret->lines = malloc(ret->n * sizeof(*ret->lines));
	assert_non_null(ret->lines);
	for (size_t t = 0; t < ret->n; t++) /* of each its own */
		ret->lines[t] = kind << 32 | kinds[kind].line(&random, t, kinds[kind].lines);
	ret->demand = demand_of_trace(ret->lines, ret->n);
}

/* -- simulation -- */

struct mix {
	const struct made *made[MOST];
	const struct mtl_demand *demands[MOST];
	size_t programs, n;
	uint64_t *lines, *distances;
	unsigned char *program;
};

/* Evenly: whoever has made the smallest part of its accesses is next. */
static void interleave(struct mix *mix)
{
	size_t made[MOST] = {0};

	for (size_t t = 0; t < mix->n; t++) {
		size_t next = 0;
		double least = INFINITY;
		for (size_t p = 0; p < mix->programs; p++) {
			double part = ((double)made[p] + 0.5) / (double)mix->made[p]->n;
			if (made[p] < mix->made[p]->n && part < least) {
				least = part;
				next = p;
			}
		}
		mix->program[t] = next;
		mix->lines[t] = mix->made[next]->lines[made[next]++];
	}
}

static void mix_new(const struct made *made, unsigned set, struct mix *ret)
{
	_cleanup_(mtl_stack_freep) struct mtl_stack *stack = NULL;

	*ret = (struct mix){0};
	for (size_t i = 0; i < KINDS; i++)
		if (set & 1U << i) {
			ret->demands[ret->programs] = made[i].demand;
			ret->made[ret->programs++] = &made[i];
			ret->n += made[i].n;
		}
	ret->lines = calloc(ret->n, sizeof(*ret->lines));
	ret->distances = calloc(ret->n, sizeof(*ret->distances));
	ret->program = calloc(ret->n, 1);
	assert_true(ret->lines && ret->distances && ret->program);
	interleave(ret);
	assert_int_equal(mtl_stack_new(0, &stack), 0);
	assert_int_equal(mtl_stack_access(stack, ret->lines, ret->n, ret->distances), 0);
}

static void mix_done(struct mix *mix)
{
	free(mix->lines);
	free(mix->distances);
	free(mix->program);
}

struct errors {
	double sum, most; /* of the miss ratio of all, */
	double own_sum;   /* and of each program's own */
	size_t n, own_n;
};

static void compare(const struct mix *mix, double lines, struct errors *errors)
{
	double time, occupancy[MOST], misses[MOST], simulated[MOST] = {0}, off = 0;

	assert_int_equal(mtl_demands_share(mix->demands, mix->programs, lines * LINE, &time,
	                         occupancy, misses),
	        0);
	for (size_t t = 0; t < mix->n; t++)
		simulated[mix->program[t]] += (double)mix->distances[t] > lines;
	for (size_t p = 0; p < mix->programs; p++) {
		off += misses[p] - simulated[p];
		errors->own_sum += fabs(misses[p] - simulated[p]) / (double)mix->made[p]->n;
		errors->own_n++;
	}
	off = fabs(off) / (double)mix->n;
	errors->sum += off;
	errors->most = fmax(errors->most, off);
	errors->n++;
}

static void compare_sets(const struct made *made, int programs, struct errors *errors)
{
	for (unsigned set = 0; set < 1U << KINDS; set++) {
		struct mix mix;
		double all = 0;

		if (__builtin_popcount(set) != programs)
			continue;
		mix_new(made, set, &mix);
		for (size_t p = 0; p < mix.programs; p++)
			all += mix.demands[p]->footprint_bytes / LINE;
		for (int i = 0; i < SIZES; i++)
			compare(&mix, floor(all / exp2(i / 2.0)), errors);
		mix_done(&mix);
	}
	print_message(
	        "%d programs: error of the miss ratio %.4f (most %.3f), of each its own %.4f\n",
	        programs, errors->sum / (double)errors->n, errors->most,
	        errors->own_sum / (double)errors->own_n);
}

static void predictions_of_pairs_and_triples(void **state)
{
	struct made made[KINDS];

	(void)state;
	for (size_t i = 0; i < KINDS; i++)
		make(i, &made[i]);
	for (int programs = 1; programs <= MOST; programs++) {
		struct errors errors = {0};

		compare_sets(made, programs, &errors);
		if (!RUNNING_ON_VALGRIND) {
			assert_true(errors.sum / (double)errors.n <= 0.02);
			assert_true(errors.own_sum / (double)errors.own_n <= 0.02);
		}
	}
	for (size_t i = 0; i < KINDS; i++) {
		mtl_demand_free(made[i].demand);
		free(made[i].lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(predictions_of_pairs_and_triples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

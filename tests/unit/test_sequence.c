/* SPDX-License-Identifier: MIT */
/*
 * Sequences: every way between them is an identity on every small trace, what is no sequence of any
 * trace is refused, and nothing else is: among all arrays, exactly as many are taken as there are
 * traces.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "cleanup.h"
#include "order_statistics.h"
#include "traces.h"

#define RANDOM_TRACES 3000
#define LONGEST_RANDOM 200
#define UNTOUCHED 0x7777777777777777

DEFINE_CLEANUP(struct mtl_per_datum, mtl_per_datum_free)

static bool same(const uint64_t *a, const uint64_t *b, size_t n)
{
	return memcmp(a, b, n * sizeof(*a)) == 0;
}

static void fill(uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = UNTOUCHED;
}

static bool untouched(const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (values[i] != UNTOUCHED)
			return false;
	return true;
}

static void sequences_hold(const struct trace *t)
{
	uint64_t data[TRACE_MOST], out[TRACE_MOST];

	trace_names(t, data);
	assert_int_equal(mtl_ai_from_data(data, t->n, out), 0);
	assert_true(same(out, t->ai, t->n));
	assert_int_equal(mtl_rt_from_ai(t->ai, t->n, out), 0);
	assert_true(same(out, t->rt, t->n));
	assert_int_equal(mtl_rd_from_ai(t->ai, t->n, out), 0);
	assert_true(same(out, t->rd, t->n));
	assert_int_equal(mtl_ai_from_rt(t->rt, t->n, out), 0);
	assert_true(same(out, t->ai, t->n));
	assert_int_equal(mtl_ai_from_rd(t->rd, t->n, out), 0);
	assert_true(same(out, t->ai, t->n));
}

/* Each datum's first access time, then its reuses as they come. */
static void grouping_holds(
        const struct trace *t, const struct mtl_per_datum *p, const uint64_t *reuses)
{
	assert_int_equal(p->accesses, t->n);
	assert_int_equal(p->data, t->m);
	assert_int_equal(p->start[0], 0);
	assert_int_equal(p->start[p->data], t->n);
	for (size_t e = 0; e < t->m; e++) {
		const uint64_t *value = &p->values[p->start[e]];
		assert_true(*value++ == t->first[e]);
		for (size_t i = t->first[e]; i < t->n; i++)
			if (t->ai[i] == e + 1)
				assert_true(*value++ == reuses[i]);
		assert_ptr_equal(value, &p->values[p->start[e + 1]]);
	}
}

static void per_datum_holds(const struct trace *t)
{
	_cleanup_(mtl_per_datum_freep) struct mtl_per_datum *rt = NULL, *rd = NULL;
	uint64_t out[TRACE_MOST];

	assert_int_equal(mtl_per_datum_from_rt(t->rt, t->n, &rt), 0);
	grouping_holds(t, rt, t->rt);
	assert_int_equal(mtl_rt_from_per_datum(rt, out), 0);
	assert_true(same(out, t->rt, t->n));
	assert_int_equal(mtl_per_datum_from_rd(t->rd, t->n, &rd), 0);
	grouping_holds(t, rd, t->rd);
	assert_int_equal(mtl_ai_from_per_datum_rd(rd, out), 0);
	assert_true(same(out, t->ai, t->n));
}

static void all_ways_are_identities(void **state)
{
	struct trace t = {0};
	unsigned traces = 0;
	(void)state;

	for (; trace_next(&t, trace_longest(9)); traces++) {
		sequences_hold(&t);
		per_datum_holds(&t);
	}
	assert_int_equal(traces, trace_longest(9) == 9 ? 26442 : 1155);
}

static void also_on_longer_traces(void **state)
{
	uint64_t random = 41;
	struct trace t;
	(void)state;

	for (unsigned run = 0; run < sim_runs(RANDOM_TRACES); run++) {
		trace_random(&t, &random, LONGEST_RANDOM);
		sequences_hold(&t);
		per_datum_holds(&t);
	}
}

/* Long enough for every level of the tables, and a length that is no power of two. */
static void also_on_a_long_one(void **state)
{
	const size_t n = sim_runs(100001);
	_cleanup_free_ uint64_t *arrays = calloc(5 * n, sizeof(*arrays));
	uint64_t *data = arrays, *ai = &arrays[n], *rt = &arrays[2 * n], *rd = &arrays[3 * n];
	uint64_t *back = &arrays[4 * n], random = 42, m = 0;
	(void)state;

	for (size_t i = 0; i < n; i++)
		data[i] = trace_name(
		        1 + (uint64_t)((double)n * sim_uniform(&random) * sim_uniform(&random)));
	assert_int_equal(mtl_ai_from_data(data, n, ai), 0);
	assert_int_equal(mtl_rt_from_ai(ai, n, rt), 0);
	assert_int_equal(mtl_rd_from_ai(ai, n, rd), 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(rt[i] == MTL_NEVER ? rd[i] == MTL_NEVER : rd[i] <= rt[i]);
		assert_true(rt[i] == MTL_NEVER || data[i - rt[i]] == data[i]);
		m += rt[i] == MTL_NEVER;
		assert_true(ai[i] <= m);
	}
	assert_int_equal(mtl_ai_from_rt(rt, n, back), 0);
	assert_true(same(back, ai, n));
	assert_int_equal(mtl_ai_from_rd(rd, n, back), 0);
	assert_true(same(back, ai, n));
}

/* The letters 0 ... n + 1 and "never": every value that is just right or just wrong. */
static uint64_t letter(size_t number, size_t n)
{
	return number > n + 1 ? MTL_NEVER : number;
}

/* Array number `number` of n such letters; false: there are no more. */
static bool word(size_t number, size_t n, uint64_t *ret_values)
{
	for (size_t i = 0; i < n; i++) {
		ret_values[i] = letter(number % (n + 3), n);
		number /= n + 3;
	}
	return number == 0;
}

static const size_t TRACES_OF[] = {1, 1, 2, 5, 15, 52, 203, 877};

typedef int conversion(const uint64_t *values, size_t n, uint64_t *ret_values);

static void takes_nothing_else(conversion *there, conversion *back, size_t longest)
{
	uint64_t values[8], out[8], again[8];

	for (size_t n = 1; n <= longest; n++) {
		size_t taken = 0;
		for (size_t number = 0; word(number, n, values); number++) {
			fill(out, 8);
			int r = there(values, n, out);
			if (r == 0) {
				taken++;
				assert_int_equal(back(out, n, again), 0);
				assert_true(same(again, values, n));
				assert_true(untouched(&out[n], 8 - n));
			} else {
				assert_int_equal(r, -EINVAL);
				assert_true(untouched(out, 8));
			}
		}
		assert_int_equal(taken, TRACES_OF[n]);
	}
}

static void takes_only_sequences_of_traces(void **state)
{
	const size_t longest = RUNNING_ON_VALGRIND ? 4 : 6;
	(void)state;

	takes_nothing_else(mtl_rt_from_ai, mtl_ai_from_rt, longest);
	takes_nothing_else(mtl_rd_from_ai, mtl_ai_from_rd, longest);
	takes_nothing_else(mtl_ai_from_rt, mtl_rt_from_ai, longest);
	takes_nothing_else(mtl_ai_from_rd, mtl_rd_from_ai, longest);
}

static int per_datum_through_rt(const struct mtl_per_datum *p, uint64_t *ret_ai)
{
	uint64_t rt[8];
	int r = mtl_rt_from_per_datum(p, rt);

	if (r == 0)
		assert_int_equal(mtl_ai_from_rt(rt, p->accesses, ret_ai), 0);
	return r;
}

static int regroup_rt(const uint64_t *ai, size_t n, struct mtl_per_datum **ret_per_datum)
{
	uint64_t rt[8];
	int r = mtl_rt_from_ai(ai, n, rt);

	return r < 0 ? r : mtl_per_datum_from_rt(rt, n, ret_per_datum);
}

static int regroup_rd(const uint64_t *ai, size_t n, struct mtl_per_datum **ret_per_datum)
{
	uint64_t rd[8];
	int r = mtl_rd_from_ai(ai, n, rd);

	return r < 0 ? r : mtl_per_datum_from_rd(rd, n, ret_per_datum);
}

typedef int ungrouping(const struct mtl_per_datum *per_datum, uint64_t *ret_values);
typedef int grouping(const uint64_t *ai, size_t n, struct mtl_per_datum **ret_per_datum);

static void comes_back(grouping *group, const struct mtl_per_datum *p, const uint64_t *ai)
{
	_cleanup_(mtl_per_datum_freep) struct mtl_per_datum *again = NULL;

	assert_int_equal(group(ai, p->accesses, &again), 0);
	assert_int_equal(again->data, p->data);
	assert_memory_equal(again->start, p->start, (p->data + 1) * sizeof(*p->start));
	assert_true(same(again->values, p->values, p->accesses));
}

/* Every way to cut every array of n letters into data: bit i of cuts ends one after letter i. */
static void takes_no_other_grouping(ungrouping *there, grouping *group, size_t n)
{
	size_t start[8], taken = 0;
	uint64_t values[8], out[8];

	for (size_t cuts = 0; cuts < (size_t)1 << (n - 1); cuts++) {
		struct mtl_per_datum p = {n, 0, start, values};
		start[0] = 0;
		for (size_t i = 0; i < n; i++)
			if (i + 1 == n || cuts & (size_t)1 << i)
				start[++p.data] = i + 1;
		for (size_t number = 0; word(number, n, values); number++) {
			fill(out, 8);
			int r = there(&p, out);
			if (r == 0) {
				taken++;
				comes_back(group, &p, out);
			} else {
				assert_int_equal(r, -EINVAL);
				assert_true(untouched(out, 8));
			}
		}
	}
	assert_int_equal(taken, TRACES_OF[n]);
}

static void takes_only_groupings_of_traces(void **state)
{
	(void)state;

	for (size_t n = 1; n <= (RUNNING_ON_VALGRIND ? 3 : 5); n++) {
		takes_no_other_grouping(per_datum_through_rt, regroup_rt, n);
		takes_no_other_grouping(mtl_ai_from_per_datum_rd, regroup_rd, n);
	}
}

/* Distances of a longer trace with one of them changed: no trace, or the trace that has them. */
static void changed_distances_are_seen(void **state)
{
	uint64_t random = 43, out[TRACE_MOST], rd[TRACE_MOST];
	unsigned refused = 0, taken = 0;
	struct trace t;
	(void)state;

	for (unsigned run = 0; run < sim_runs(RANDOM_TRACES); run++) {
		_cleanup_(mtl_per_datum_freep) struct mtl_per_datum *p = NULL, *again = NULL;
		trace_random(&t, &random, 30);
		assert_int_equal(mtl_per_datum_from_rd(t.rd, t.n, &p), 0);
		p->values[(size_t)(sim_uniform(&random) * (double)t.n)] =
		        1 + (uint64_t)(sim_uniform(&random) * (double)t.m);
		fill(out, t.n);
		int r = mtl_ai_from_per_datum_rd(p, out);
		if (r == 0) {
			taken++;
			assert_int_equal(mtl_rd_from_ai(out, t.n, rd), 0);
			assert_int_equal(mtl_per_datum_from_rd(rd, t.n, &again), 0);
			assert_true(same(again->values, p->values, t.n));
		} else {
			refused++;
			assert_int_equal(r, -EINVAL);
			assert_true(untouched(out, t.n));
		}
	}
	assert_true(refused > 0 && taken > 0);
}

static void refuses_what_does_not_fit_together(void **state)
{
	uint64_t values[] = {1, 1, 2, MTL_NEVER, MTL_NEVER - 1}, three[] = {1, 3, 2}, out[8];
	size_t far[] = {0, (size_t)1 << 40, (size_t)1 << 41, 3}, crossed[] = {0, 2, 1, 3};
	size_t end[] = {0, 1, 3, 3}, late[] = {1, 3}, empty[] = {0, 0, 3}, back[] = {0, 4, 3},
	       short_of[] = {0, 1, 2};
	size_t whole[] = {0, 4}, many[] = {0, 1, 2, 3, 3};
	const struct mtl_per_datum bad[] = {
	        {3, 1, NULL, values},
	        {3, 1, short_of, NULL},
	        {3, 1, late, values},
	        {3, 2, empty, values},
	        {3, 2, back, values},
	        {3, 2, short_of, values},
	        {3, 0, short_of, values},
	        {3, 4, many, values},
	        {3, 3, far, three},
	        {3, 3, crossed, three},
	        {3, 3, end, three},
	        {4, 1, whole, values},
	        {4, 1, whole, &values[1]},
	};
	(void)state;

	fill(out, 8);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(mtl_rt_from_per_datum(&bad[i], out), -EINVAL);
		assert_int_equal(mtl_ai_from_per_datum_rd(&bad[i], out), -EINVAL);
	}
	assert_int_equal(mtl_rt_from_per_datum(NULL, out), -EINVAL);
	assert_int_equal(mtl_ai_from_per_datum_rd(NULL, out), -EINVAL);
	assert_true(untouched(out, 8));
}

static void a_refused_grouping_is_not_made(void **state)
{
	const uint64_t twice[] = {MTL_NEVER, MTL_NEVER, 2, 3}, deep[] = {MTL_NEVER, 2};
	struct mtl_per_datum *p = NULL;
	(void)state;

	assert_int_equal(mtl_per_datum_from_rt(twice, 4, &p), -EINVAL);
	assert_int_equal(mtl_per_datum_from_rd(deep, 2, &p), -EINVAL);
	assert_null(p);
	assert_null(mtl_per_datum_free(NULL));
}

/* The set of times that stands for the LRU stack, against a table of who is in it. */
static void positions_hold(size_t n, uint64_t *random)
{
	_cleanup_(mtl_positions_done) struct mtl_positions positions = {0};
	bool in[40] = {false};

	assert_int_equal(mtl_positions_init(&positions, n), 0);
	for (unsigned step = 0; step < 3 * n; step++) {
		size_t changed = (size_t)(sim_uniform(random) * (double)n);
		uint64_t below = 0;
		(in[changed] ? mtl_positions_remove : mtl_positions_insert)(&positions, changed);
		in[changed] = !in[changed];
		for (size_t i = 0; i < n; below += in[i++]) {
			assert_true(mtl_positions_below(&positions, i) == below);
			if (in[i])
				assert_int_equal(mtl_positions_select(&positions, below), i);
		}
		assert_true(mtl_positions_below(&positions, n) == below);
	}
}

static void positions_are_ranked(void **state)
{
	uint64_t random = 44;
	(void)state;

	for (size_t n = 1; n <= 40; n++)
		positions_hold(n, &random);
}

static void no_accesses_are_a_sequence(void **state)
{
	uint64_t out = UNTOUCHED;
	struct mtl_per_datum *p = NULL;
	(void)state;

	assert_int_equal(mtl_ai_from_data(NULL, 0, &out), 0);
	assert_int_equal(mtl_rt_from_ai(NULL, 0, &out), 0);
	assert_int_equal(mtl_rd_from_ai(NULL, 0, &out), 0);
	assert_int_equal(mtl_ai_from_rt(NULL, 0, &out), 0);
	assert_int_equal(mtl_ai_from_rd(NULL, 0, &out), 0);
	assert_int_equal(mtl_per_datum_from_rt(NULL, 0, &p), 0);
	assert_int_equal(p->accesses, 0);
	assert_int_equal(p->data, 0);
	assert_int_equal(mtl_rt_from_per_datum(p, &out), 0);
	assert_int_equal(mtl_ai_from_per_datum_rd(p, &out), 0);
	assert_true(out == UNTOUCHED);
	mtl_per_datum_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_ways_are_identities),
	        cmocka_unit_test(also_on_longer_traces),
	        cmocka_unit_test(also_on_a_long_one),
	        cmocka_unit_test(takes_only_sequences_of_traces),
	        cmocka_unit_test(takes_only_groupings_of_traces),
	        cmocka_unit_test(changed_distances_are_seen),
	        cmocka_unit_test(refuses_what_does_not_fit_together),
	        cmocka_unit_test(a_refused_grouping_is_not_made),
	        cmocka_unit_test(positions_are_ranked),
	        cmocka_unit_test(no_accesses_are_a_sequence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * The theory's examples, counter-examples and theorems about sequences, on all small traces, with
 * the sequences that the library makes of them. Where the text claims more than is true, the test
 * shows both: what holds, and the trace for which the rest does not.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cleanup.h"
#include "traces.h"

#define RANDOM_TRACES 2000
#define LONGEST_RANDOM 60

DEFINE_CLEANUP(struct mtl_per_datum, mtl_per_datum_free)

struct sequences {
	uint64_t rt[TRACE_MOST], rd[TRACE_MOST];
};

static void sequences_of(const struct trace *t, struct sequences *s)
{
	assert_int_equal(mtl_rt_from_ai(t->ai, t->n, s->rt), 0);
	assert_int_equal(mtl_rd_from_ai(t->ai, t->n, s->rd), 0);
}

static void is(const uint64_t *values, const uint64_t *expected, size_t n)
{
	assert_memory_equal(values, expected, n * sizeof(*values));
}

#define NEVER MTL_NEVER

static void abc_abc_abc(void **state)
{
	const uint64_t ai[] = {1, 2, 3, 1, 2, 3, 1, 2, 3};
	const uint64_t reuses[] = {NEVER, NEVER, NEVER, 3, 3, 3, 3, 3, 3};
	const uint64_t per_datum[] = {1, 3, 3, 2, 3, 3, 3, 3, 3}, data[] = {9, 4, 7};
	_cleanup_(mtl_per_datum_freep) struct mtl_per_datum *p = NULL;
	uint64_t names[9], out[9];
	struct trace t;
	(void)state;

	trace_from_letters(&t, "abc abc abc");
	is(t.ai, ai, 9);
	for (size_t i = 0; i < 9; i++)
		names[i] = data[i % 3];
	assert_int_equal(mtl_ai_from_data(names, 9, out), 0);
	is(out, ai, 9);
	assert_int_equal(mtl_rt_from_ai(ai, 9, out), 0);
	is(out, reuses, 9);
	assert_int_equal(mtl_rd_from_ai(ai, 9, out), 0);
	is(out, reuses, 9);
	assert_int_equal(mtl_per_datum_from_rd(reuses, 9, &p), 0);
	is(p->values, per_datum, 9);
	for (size_t x = 1; x <= 9; x++) {
		double footprint;
		assert_int_equal(mtl_footprint_incremental(reuses, 9, x, &footprint), 0);
		assert_true(footprint == (x < 3 ? (double)x : 3));
	}
}

/* "abc abc" and "cba cba" are different traces of one locality. */
static void names_do_not_matter(void **state)
{
	const uint64_t abc[] = {'a', 'b', 'c', 'a', 'b', 'c'};
	const uint64_t cba[] = {'c', 'b', 'a', 'c', 'b', 'a'};
	uint64_t one[6], other[6];
	(void)state;

	assert_int_equal(mtl_ai_from_data(abc, 6, one), 0);
	assert_int_equal(mtl_ai_from_data(cba, 6, other), 0);
	is(one, other, 6);
}

static int ai_from_values(
        size_t n, size_t m, size_t *start, const uint64_t *values, uint64_t *ret_ai)
{
	uint64_t copy[16];

	memcpy(copy, values, n * sizeof(*copy));
	return mtl_ai_from_per_datum_rd(&(struct mtl_per_datum){n, m, start, copy}, ret_ai);
}

/* At time 4 the distances of e1 and e2 both fit; only the more recently used one leads on. */
static void recency_is_necessary(void **state)
{
	const uint64_t ai[] = {1, 2, 3, 2, 1}, per_datum[] = {1, 3, 2, 2, 3};
	_cleanup_(mtl_per_datum_freep) struct mtl_per_datum *p = NULL;
	struct sequences s;
	struct trace t;
	uint64_t out[5];
	(void)state;

	trace_from_letters(&t, "abcba");
	sequences_of(&t, &s);
	assert_int_equal(mtl_per_datum_from_rd(s.rd, 5, &p), 0);
	is(p->values, per_datum, 5);
	assert_int_equal(mtl_ai_from_per_datum_rd(p, out), 0);
	is(out, ai, 5);

	trace_from_letters(&t, "abcb"); /* e2 with its distance 2 */
	sequences_of(&t, &s);
	assert_true(s.rd[3] == 2);
	trace_from_letters(&t, "abcab"); /* e1 fits as well, but then e2 comes with 3 */
	sequences_of(&t, &s);
	assert_true(s.rd[3] == 3 && s.rd[4] == 3);
}

/* e1 e1 e2 e3 e2 and e1 e2 e1 e3 e3: per datum {1}, {2}, {} in another order. */
static void pair_without_first_times(void **state)
{
	size_t one_start[] = {0, 2, 4, 5}, other_start[] = {0, 2, 3, 5};
	const uint64_t one[] = {1, 1, 3, 2, 4}, other[] = {1, 2, 2, 4, 1};
	const uint64_t one_ai[] = {1, 1, 2, 3, 2}, other_ai[] = {1, 2, 1, 3, 3};
	uint64_t out[5];
	(void)state;

	assert_int_equal(ai_from_values(5, 3, one_start, one, out), 0);
	is(out, one_ai, 5);
	assert_int_equal(ai_from_values(5, 3, other_start, other, out), 0);
	is(out, other_ai, 5);
}

#define NAMED 7 /* accesses of the traces whose distances are compared as text */
#define TEXT (2 * NAMED + 1)

static int compare_texts(const void *a, const void *b)
{
	return memcmp(a, b, TEXT);
}

/* The distances without first times: each datum's as digits, data by number or as a mere set. */
static void write_distances(const struct mtl_per_datum *p, bool labelled, char *ret_text)
{
	char data[NAMED][TEXT] = {0};
	size_t at = 0;

	for (size_t e = 0; e < p->data; e++)
		for (size_t i = p->start[e] + 1; i < p->start[e + 1]; i++)
			data[e][i - p->start[e] - 1] = (char)('0' + p->values[i]);
	if (!labelled)
		qsort(data, p->data, TEXT, compare_texts);
	memset(ret_text, 0, TEXT);
	for (size_t e = 0; e < p->data; e++) {
		size_t length = strlen(data[e]);
		memcpy(&ret_text[at], data[e], length);
		ret_text[at + length] = '/';
		at += length + 1;
	}
}

static size_t count_traces(size_t longest)
{
	struct trace t = {0};
	size_t n = 0;

	while (trace_next(&t, longest))
		n++;
	return n;
}

/* How many different ones the traces have. */
static size_t count_distances(size_t traces, bool labelled)
{
	_cleanup_free_ char(*texts)[TEXT] = calloc(traces, TEXT);
	struct trace t = {0};
	size_t different = 1;

	for (size_t i = 0; trace_next(&t, NAMED); i++) {
		_cleanup_(mtl_per_datum_freep) struct mtl_per_datum *p = NULL;
		assert_int_equal(mtl_per_datum_from_rd(t.rd, t.n, &p), 0);
		write_distances(p, labelled, texts[i]);
	}
	qsort(texts, traces, TEXT, compare_texts);
	for (size_t i = 1; i < traces; i++)
		different += memcmp(texts[i - 1], texts[i], TEXT) != 0;
	return different;
}

static void first_times_matter_without_labels_only(void **state)
{
	const size_t traces = count_traces(NAMED);
	(void)state;

	assert_int_equal(count_distances(traces, true), traces);
	assert_true(count_distances(traces, false) < traces);
}

/* Two invariances: n - m reuses, and the time between each datum's first and last access. */
static void reuse_times_add_up(const struct trace *t, const struct sequences *s)
{
	uint64_t reuses = 0, sum = 0, span = 0;

	for (size_t i = 0; i < t->n; i++) {
		reuses += s->rt[i] != NEVER;
		sum += s->rt[i] != NEVER ? s->rt[i] : 0;
	}
	for (size_t k = 0; k < t->m; k++)
		span += t->n + 1 - t->last[k] - t->first[k];
	assert_true(reuses == t->n - t->m);
	assert_true(sum == span);
}

/* The first m and the last m accesses are to all m data. */
static bool sealed(const struct trace *t)
{
	for (size_t k = 0; k < t->m; k++)
		if (t->first[k] > t->m || t->last[k] > t->m)
			return false;
	return true;
}

static void mean_reuse_time_is_m_if_sealed(const struct trace *t, const struct sequences *s)
{
	uint64_t sum = 0, most = t->m * (t->n - t->m);

	for (size_t i = 0; i < t->n; i++)
		sum += s->rt[i] != NEVER ? s->rt[i] : 0;
	assert_true(sum <= most);
	assert_true((sum == most) == sealed(t));
}

/* In how many data's gaps, accessed before and after but not within, the reuse at position i lies.
 */
static size_t gaps_around(const struct trace *t, const struct sequences *s, size_t i)
{
	size_t previous = i - s->rt[i], gaps = 0;

	for (uint64_t e = 1; e <= t->m; e++) {
		bool before = false, within = false, after = false;
		for (size_t j = 0; j < t->n; j++)
			if (t->ai[j] == e) {
				before |= j < previous;
				within |= j >= previous && j <= i;
				after |= j > i;
			}
		gaps += before && !within && after;
	}
	return gaps;
}

static bool gaps_fit(const struct trace *t, const struct sequences *s)
{
	for (size_t i = 0; i < t->n; i++)
		if (s->rt[i] != NEVER && gaps_around(t, s, i) != t->m - s->rd[i])
			return false;
	return true;
}

static void theorems_on_every_trace(void **state)
{
	size_t of_sealed = 0, of_others = 0;
	uint64_t random = 61;
	struct trace t = {0};
	struct sequences s;
	(void)state;

	while (trace_next(&t, trace_longest(9))) {
		sequences_of(&t, &s);
		reuse_times_add_up(&t, &s);
		mean_reuse_time_is_m_if_sealed(&t, &s);
		of_sealed += sealed(&t);
		of_others += !sealed(&t) && !gaps_fit(&t, &s);
		assert_true(!sealed(&t) || gaps_fit(&t, &s));
	}
	assert_true(of_sealed > 0 && of_others > 0); /* and false for others */
	for (unsigned run = 0; run < sim_runs(RANDOM_TRACES); run++) {
		trace_random(&t, &random, LONGEST_RANDOM);
		sequences_of(&t, &s);
		reuse_times_add_up(&t, &s);
		mean_reuse_time_is_m_if_sealed(&t, &s);
	}
}

/* Shuffles values[from] ... values[from + m - 1]. */
static void shuffle(uint64_t *values, size_t from, size_t m, uint64_t *random)
{
	for (size_t i = m; i-- > 1;) {
		size_t j = (size_t)(sim_uniform(random) * (double)(i + 1));
		uint64_t value = values[from + i];
		values[from + i] = values[from + j];
		values[from + j] = value;
	}
}

/* m data, anything, m data: random traces are hardly ever sealed. */
static void seal_random(struct trace *t, uint64_t *random)
{
	uint64_t data[TRACE_MOST];

	trace_random(t, random, LONGEST_RANDOM);
	for (size_t i = 0; i < t->n; i++)
		data[t->m + i] = t->ai[i];
	for (size_t k = 0; k < t->m; k++)
		data[k] = data[t->m + t->n + k] = k + 1;
	shuffle(data, 0, t->m, random);
	shuffle(data, t->m + t->n, t->m, random);
	trace_from_data(t, data, t->n + 2 * t->m);
}

static void theorems_on_longer_sealed_traces(void **state)
{
	uint64_t random = 62;
	struct trace t;
	struct sequences s;
	(void)state;

	for (unsigned run = 0; run < sim_runs(RANDOM_TRACES / 10); run++) {
		seal_random(&t, &random);
		sequences_of(&t, &s);
		assert_true(sealed(&t));
		mean_reuse_time_is_m_if_sealed(&t, &s);
		assert_true(gaps_fit(&t, &s));
	}
}

/* An unsealed trace: the reuse of e1 at 2 lies in no gap, since e2 and e3 come only after it. */
static void gaps_do_not_fit_unsealed(void **state)
{
	struct sequences s;
	struct trace t;
	(void)state;

	trace_from_letters(&t, "aabc");
	sequences_of(&t, &s);
	assert_false(sealed(&t));
	assert_true(s.rd[1] == 1 && t.m - s.rd[1] == 2);
	assert_int_equal(gaps_around(&t, &s, 1), 0);
}

/*
 * How many repeats a gap has, rt - rd, and in how many gaps a reuse lies, m - rd: the same sum on a
 * sealed trace, but not the same histogram, as the theory has it.
 */
static bool repeats_mirror_distances(const struct trace *t, const struct sequences *s)
{
	int64_t difference[TRACE_MOST] = {0}, sum = 0;
	bool same = true;

	for (size_t i = 0; i < t->n; i++) {
		if (s->rt[i] == NEVER)
			continue;
		difference[s->rt[i] - s->rd[i]]++;
		difference[t->m - s->rd[i]]--;
		sum += (int64_t)s->rt[i] - (int64_t)t->m;
	}
	for (size_t i = 0; i < t->n; i++)
		same &= difference[i] == 0;
	assert_true(sum == 0);
	return same;
}

static void repeats_are_not_the_mirrored_distances(void **state)
{
	size_t mirrored = 0, not = 0;
	struct trace t = {0};
	struct sequences s;
	(void)state;

	while (trace_next(&t, trace_longest(9))) {
		if (!sealed(&t))
			continue;
		sequences_of(&t, &s);
		bool same = repeats_mirror_distances(&t, &s);
		mirrored += same;
		not += !same;
	}
	assert_true(mirrored > 0 && not > 0);
	/* one gap with 3 repeats in it, but 3 reuses that lie in one gap each */
	trace_from_letters(&t, "ab aaa ab");
	sequences_of(&t, &s);
	assert_true(sealed(&t) && !repeats_mirror_distances(&t, &s));
}

static bool concave(const double *footprint, size_t n)
{
	for (size_t x = 1; x < n; x++)
		if (footprint[x + 1] - footprint[x] > footprint[x] - footprint[x - 1] + 1e-9)
			return false;
	return true;
}

static void footprint_of(const struct trace *t, double *ret_footprint)
{
	ret_footprint[0] = 0;
	for (size_t x = 1; x <= t->n; x++)
		assert_int_equal(mtl_footprint_additive(t->rt, t->n, x, &ret_footprint[x]), 0);
}

/* Of all 26,442 traces, 23,567 have a footprint that is not concave; none has one that falls. */
static void footprint_rises_and_is_often_not_concave(void **state)
{
	size_t not_concave = 0;
	struct trace t = {0};
	double footprint[TRACE_MOST + 1];
	(void)state;

	while (trace_next(&t, trace_longest(9))) {
		footprint_of(&t, footprint);
		for (size_t x = 1; x <= t.n; x++) /* strictly, until all data are in it */
			assert_true(
			        footprint[x] > footprint[x - 1] ||
			        (footprint[x] == footprint[x - 1] && footprint[x] == (double)t.m));
		not_concave += !concave(footprint, t.n);
	}
	assert_int_equal(not_concave, trace_longest(9) == 9 ? 23567 : 886);
}

static void footprint_of_1112(void **state)
{
	const double expected[] = {0, 1, 4.0 / 3, 3.0 / 2, 2};
	double footprint[5];
	struct trace t;
	(void)state;

	trace_from_letters(&t, "1112");
	footprint_of(&t, footprint);
	assert_memory_equal(footprint, expected, sizeof(expected));
	assert_false(concave(footprint, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(abc_abc_abc),
	        cmocka_unit_test(names_do_not_matter),
	        cmocka_unit_test(recency_is_necessary),
	        cmocka_unit_test(pair_without_first_times),
	        cmocka_unit_test(first_times_matter_without_labels_only),
	        cmocka_unit_test(theorems_on_every_trace),
	        cmocka_unit_test(theorems_on_longer_sealed_traces),
	        cmocka_unit_test(gaps_do_not_fit_unsealed),
	        cmocka_unit_test(repeats_are_not_the_mirrored_distances),
	        cmocka_unit_test(footprint_rises_and_is_often_not_concave),
	        cmocka_unit_test(footprint_of_1112),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * The workload's closed forms against LRU simulated on its own choices, and its passes against
 * what they claim to touch: the ground truth of the live tests must itself be true.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../workload/kinds.c"
#include "../workload/zipf.c"

enum { LINES = 4096 };

volatile sig_atomic_t stopping;

double cpu_now(void)
{
	return 0;
}

double wall_now(void)
{
	return 0;
}

int peer_start(int *ret_to, int *ret_from)
{
	(void)ret_to, (void)ret_from;
	return -ENOTSUP;
}

static struct worker make_worker(const struct options *options)
{
	static uint64_t memory[LINES * LINE_WORDS] __attribute__((aligned(LINE_BYTES)));
	struct worker worker = {
	        .base = memory, .lines = LINES, .random = 88172645463325252ULL, .options = options};

	return worker;
}

/* LRU as a doubly linked list over line numbers; LINES is the end. Misses of the last half. */
struct lru {
	unsigned before[LINES + 1], after[LINES + 1], held, capacity;
	bool in[LINES];
};

static void lru_unlink(struct lru *lru, unsigned line)
{
	lru->after[lru->before[line]] = lru->after[line];
	lru->before[lru->after[line]] = lru->before[line];
}

static void lru_push(struct lru *lru, unsigned line)
{
	lru->after[line] = lru->after[LINES];
	lru->before[line] = LINES;
	lru->before[lru->after[LINES]] = line;
	lru->after[LINES] = line;
}

static bool lru_misses(struct lru *lru, unsigned line)
{
	bool miss = !lru->in[line];

	if (!miss)
		lru_unlink(lru, line);
	else if (lru->held == lru->capacity) {
		unsigned victim = lru->before[LINES];
		lru_unlink(lru, victim);
		lru->in[victim] = false;
	} else
		lru->held++;
	lru_push(lru, line);
	lru->in[line] = true;
	return miss;
}

static double simulate(uint64_t (*draw)(uint64_t *), unsigned capacity)
{
	static struct lru lru;
	uint64_t random = 88172645463325252ULL;
	unsigned n = 400000, misses = 0;

	memset(&lru, 0, sizeof(lru));
	lru.capacity = capacity;
	lru.before[LINES] = lru.after[LINES] = LINES;
	for (unsigned i = 0; i < 2 * n; i++) {
		bool miss = lru_misses(&lru, (unsigned)draw(&random));
		misses += miss && i >= n;
	}
	return (double)misses / n;
}

static uint64_t draw_zipf(uint64_t *random)
{
	return zipf_draw(&zipf_table, random);
}

static uint64_t draw_uniform(uint64_t *random)
{
	return (uint64_t)((unsigned __int128)random_next(random) * LINES >> 64);
}

static void zipf_closed_form(void **state)
{
	static const double skews[] = {0.6, 1.0, 1.4};

	(void)state;
	for (size_t i = 0; i < sizeof(skews) / sizeof(skews[0]); i++) {
		zipf_init(&zipf_table, LINES, skews[i]);
		for (unsigned capacity = LINES / 8; capacity < LINES; capacity *= 2) {
			double want = simulate(draw_zipf, capacity);
			double got = zipf_misses(LINES, capacity, skews[i]);
			assert_true(fabs(got - want) < 0.005 + 0.02 * want);
		}
	}
}

static void uniform_closed_form(void **state)
{
	(void)state;
	for (unsigned capacity = LINES / 4; capacity < LINES; capacity += LINES / 4)
		assert_true(fabs(simulate(draw_uniform, capacity) - uniform(LINES, capacity, 0)) <
		            0.005);
}

static void zipf_is_zipf(void **state)
{
	double sum = 0;
	uint64_t ranks = 0;

	(void)state;
	zipf_init(&zipf_table, LINES, 1);
	for (unsigned i = 0; i < zipf_table.n; i++) {
		const struct zipf_bin *bin = &zipf_table.bins[i];
		assert_int_equal(bin->first, ranks);
		ranks += bin->width;
		sum += bin->chance * (double)bin->width;
	}
	assert_int_equal(ranks, LINES);
	assert_true(fabs(sum - 1) < 1e-9);
	assert_true(fabs(zipf_table.bins[0].chance / zipf_table.bins[4].chance - 5) < 1e-9);
}

/* Neighbours in rank are scattered, but every line has its rank. */
static void zipf_reaches_every_line(void **state)
{
	static bool seen[LINES];

	(void)state;
	zipf_init(&zipf_table, LINES, 1);
	for (uint64_t rank = 0; rank < LINES; rank++)
		seen[rank * zipf_table.scatter % LINES] = true;
	for (unsigned i = 0; i < LINES; i++)
		assert_true(seen[i]);
}

static void one_pass(const char *name, uint64_t words)
{
	struct options options = {.kind = kind_find(name), .threads = 1};
	struct worker worker = make_worker(&options);
	uint64_t accesses = 0;

	assert_non_null(options.kind);
	if (options.kind->prepare)
		assert_int_equal(options.kind->prepare(&worker), 0);
	do
		accesses += options.kind->step(&worker);
	while (worker.position != 0);
	assert_int_equal(accesses, words);
	assert_true(accesses / options.kind->words_per_visit == LINES);
}

static void passes_touch_what_they_say(void **state)
{
	(void)state;
	one_pass("scan", LINES * 8);
	one_pass("stride", LINES);
	one_pass("mixed", LINES / 2 * 8 + LINES / 2);
	one_pass("memcpy", LINES * 8);
	one_pass("chase", LINES);
}

static void memcpy_copies_one_half(void **state)
{
	struct options options = {.kind = kind_find("memcpy"), .threads = 1};
	struct worker worker = make_worker(&options);

	(void)state;
	for (unsigned i = 0; i < LINES * LINE_WORDS; i++)
		worker.base[i] = i;
	options.kind->prepare(&worker);
	do
		options.kind->step(&worker);
	while (worker.position != 0);
	for (unsigned i = 0; i < LINES * LINE_WORDS; i++)
		assert_int_equal(worker.base[i], i % (LINES * LINE_WORDS / 2));
}

static void chase_is_one_cycle(void **state)
{
	struct options options = {.kind = kind_find("chase"), .threads = 1};
	struct worker worker = make_worker(&options);
	uint64_t line = 0;
	unsigned length = 0;

	(void)state;
	options.kind->prepare(&worker);
	do {
		line = worker.base[line * LINE_WORDS];
		length++;
	} while (line != 0 && length <= LINES);
	assert_int_equal(length, LINES);
}

static void expected_misses_per_access(void **state)
{
	struct options options = {.working_set = LINES * LINE_BYTES, .skew = 1};

	(void)state;
	options.kind = kind_find("scan");
	assert_true(expect_misses(&options, LINES * LINE_BYTES / 2) == 1. / 8);
	assert_true(expect_misses(&options, LINES * LINE_BYTES) == 0);
	options.kind = kind_find("mixed");
	assert_true(fabs(expect_misses(&options, 1) - 2. / 9) < 1e-12);
	options.kind = kind_find("random");
	assert_true(expect_misses(&options, LINES * LINE_BYTES / 4) == 0.75);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(zipf_closed_form),
	        cmocka_unit_test(uniform_closed_form),
	        cmocka_unit_test(zipf_is_zipf),
	        cmocka_unit_test(zipf_reaches_every_line),
	        cmocka_unit_test(passes_touch_what_they_say),
	        cmocka_unit_test(memcpy_copies_one_half),
	        cmocka_unit_test(chase_is_one_cycle),
	        cmocka_unit_test(expected_misses_per_access),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

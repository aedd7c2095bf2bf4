/* SPDX-License-Identifier: MIT */
/*
 * --cache: which caches there can be, that a single set of any width costs no more than a curve and
 * misses what LRU by the book misses, and that memory is counted in full.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../cli/trace_caches.h"
#include "simulate.h"
#include "trace_command_fixture.h"

#define ACCESSES (RUNNING_ON_VALGRIND ? 2000 : 20000)
#define DATA 300

static void sets_are_not_too_wide(void **state)
{
	struct trace_cache cache;
	char error[256];

	(void)state;
	assert_int_equal(trace_cache_parse("2M:1024:1", &cache, error, sizeof(error)), 0);
	assert_int_equal(trace_cache_parse("1G:16777216:64", &cache, error, sizeof(error)), 0);
	assert_int_equal(cache.sets, 1);
	assert_true(trace_cache_parse("131200:1025:64", &cache, error, sizeof(error)) < 0);
	assert_string_equal(error, "2 sets of 1025 ways would take too long to simulate: give at "
	                           "most 1024 ways, or all 2050 lines in one set");
}

static void make_tokens(const char *name, struct lru *lrus, size_t n, uint64_t *ret_misses)
{
	FILE *file = fdopen(fake_open(name), "w");
	uint64_t random = 3;

	for (int i = 0; i < ACCESSES; i++) {
		double place = sim_uniform(&random);
		uint64_t datum = (uint64_t)(place * place * DATA);

		fprintf(file, "%llu\n", (unsigned long long)datum);
		for (size_t j = 0; j < n; j++)
			ret_misses[j] += lru_access(&lrus[j], datum) == 0;
	}
	fclose(file);
}

static void a_single_set_is_an_lru_cache(void **state)
{
	static const size_t ways[] = {1, 7, 100, DATA};
	static const char *const words[] = {
	        "--cache 1:1:1 --cache 7:7:1 --cache 100:100:1 --cache 300:300:1 --json t",
	        "--cache 1:1:1 --cache 7:7:1 --cache 100:100:1 --cache 300:300:1 --method aet "
	        "--json t"};
	uint64_t misses[4] = {0};
	struct lru lrus[4];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		lrus[i] = (struct lru){calloc(ways[i] + 1, sizeof(uint64_t)), 0, ways[i]};
	make_tokens("t", lrus, 4, misses);
	for (size_t w = 0; w < 2; w++) {
		struct json_object *object = json_tokener_parse(say_trace(words[w])->output), *all;

		assert_true(json_object_object_get_ex(object, "caches", &all));
		for (size_t i = 0; i < 4; i++) {
			struct json_object *cache = json_object_array_get_idx(all, i);

			assert_true(json_number(cache, "sets") == 1);
			assert_true(json_number(cache, "accesses") == ACCESSES);
			assert_true(json_number(cache, "misses") == (double)misses[i]);
		}
		json_object_put(object);
	}
	for (size_t i = 0; i < 4; i++)
		free(lrus[i].lines);
}

/* Nothing of it is walked through. */
static void a_wide_set_is_no_slower(void **state)
{
	struct trace_cache cache;
	char error[256];

	(void)state;
	assert_int_equal(
	        trace_cache_parse("4G:4294967295:1", &cache, error, sizeof(error)), -EINVAL);
	assert_int_equal(trace_cache_parse("2G:33554432:64", &cache, error, sizeof(error)), 0);
	assert_int_equal(trace_cache_wish(&cache).type, ENGINE_STACK);
	assert_int_equal(engine_wish_fixed(&(struct engine_wish){.type = ENGINE_STACK}), 0);
}

/* The sets and, for the predictions, a counter of each. */
static void memory_is_counted_in_full(void **state)
{
	static const char *const texts[] = {
	        "4K:1:1", "4K:2:1", "384:1:16", "32K:8:64", "2M:1024:1"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct mtl_set_cache *simulator;
		struct engine_wish wish;
		struct trace_cache cache;
		uint64_t counters;
		char error[256];

		assert_int_equal(trace_cache_parse(texts[i], &cache, error, sizeof(error)), 0);
		wish = trace_cache_wish(&cache);
		counters = cache.sets * sizeof(uint64_t);
		assert_int_equal(mtl_set_cache_new(cache.sets, cache.ways,
		                         engine_wish_fixed(&wish) - counters, &simulator),
		        0);
		mtl_set_cache_free(simulator);
		assert_int_equal(mtl_set_cache_new(cache.sets, cache.ways,
		                         engine_wish_fixed(&wish) - counters - 256, &simulator),
		        -ENOMEM);
	}
}

#define ROOTED(name) cmocka_unit_test_setup_teardown(name, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(sets_are_not_too_wide),
	        ROOTED(a_single_set_is_an_lru_cache),
	        cmocka_unit_test(a_wide_set_is_no_slower),
	        cmocka_unit_test(memory_is_counted_in_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

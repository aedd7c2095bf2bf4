/* SPDX-License-Identifier: MIT */
/* The bounded store against a list that forgets nothing. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <string.h>

#include "observation_store.h"
#include "simulate.h"

#define MANY 40000

static struct observation_store store;
static struct mtl_observation seen[MANY], *copy;
static size_t begin, end; /* of seen: what the store should hold */

static void renew(void)
{
	store_done(&store);
	begin = end = 0;
}

/* n more observations, each with its own number everywhere. */
static void add(uint64_t *random, size_t n)
{
	double moment = end ? seen[end - 1].moment : 0;

	assert_true(end + n <= MANY);
	for (size_t i = end; i < end + n; i++) {
		moment += sim_uniform(random);
		seen[i] = (struct mtl_observation){.moment = moment,
		        .deadline = i + 0.5,
		        .weight = 1 + i,
		        .touched = {i, i + 1, INFINITY, i + 3},
		        .wall = 2 * moment,
		        .slots = 4,
		        .sequence = i};
	}
	store_add(&store, seen + end, n);
	end += n;
	if (end - begin > STORE_OBSERVATIONS)
		begin = end - STORE_OBSERVATIONS;
}

static void expire(double oldest)
{
	store_expire(&store, oldest);
	while (begin < end && seen[begin].moment < oldest)
		begin++;
}

static void assert_holds(void)
{
	assert_int_equal(store.n_observations, end - begin);
	assert_int_equal(store.total, end);
	size_t n;

	assert_int_equal(store_copy(&store, &copy, &n), 0);
	assert_int_equal(n, end - begin);
	assert_memory_equal(copy, seen + begin, n * sizeof(copy[0]));
	free(copy);
}

static void holds_what_was_added(void **state)
{
	uint64_t random = 1;

	(void)state;
	renew();
	assert_holds();
	add(&random, 0);
	assert_holds();
	add(&random, 1);
	assert_holds();
	add(&random, STORE_OBSERVATIONS - 2);
	assert_holds();
	add(&random, 1); /* full */
	assert_holds();
	assert_int_equal(begin, 0);
	add(&random, 1);
	assert_holds();
	assert_int_equal(begin, 1);
}

static void more_at_once_than_there_is_room(void **state)
{
	uint64_t random = 2;

	(void)state;
	renew();
	add(&random, 3);
	add(&random, 2 * STORE_OBSERVATIONS + 100);
	assert_holds();
	add(&random, STORE_OBSERVATIONS);
	assert_holds();
}

static void random_additions_and_expiries(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		uint64_t random = seed;

		renew();
		while (end + 700 < MANY) {
			add(&random, (size_t)(700 * sim_uniform(&random)));
			assert_holds();
			if (sim_uniform(&random) < 0.3)
				expire(seen[end - 1].moment - 3000 * sim_uniform(&random));
			assert_holds();
		}
	}
}

static void expires_by_moment(void **state)
{
	uint64_t random = 3;

	(void)state;
	renew();
	expire(5); /* nothing there */
	assert_holds();
	add(&random, 5000);
	expire(0);
	assert_holds();
	expire(seen[2000].moment); /* as old as the limit is not older */
	assert_int_equal(begin, 2000);
	assert_holds();
	expire(INFINITY);
	assert_int_equal(begin, end);
	assert_holds();
	add(&random, 10);
	assert_holds();
}

static void forgetting_counts_on(void **state)
{
	uint64_t random = 5;

	(void)state;
	renew();
	add(&random, 5000);
	store_add_birth(&store, 1, 1);
	store_forget(&store);
	begin = end;
	assert_holds();
	assert_int_equal(store.n_births, 0);
	assert_int_equal(store.total, 5000);
	add(&random, 10);
	assert_holds();
}

static void clearing_forgets_all(void **state)
{
	uint64_t random = 4;

	(void)state;
	renew();
	add(&random, 5000);
	store_add_birth(&store, 1, 1);
	store_clear(&store);
	begin = end = 0;
	assert_holds();
	assert_int_equal(store.n_births, 0);
	add(&random, 10);
	assert_holds();
}

static void memory_is_bounded(void **state)
{
	(void)state;
	uint64_t random = 6;

	renew();
	assert_true(sizeof(store) <= (16 + 1) * 1024);
	for (unsigned i = 0; i < 30; i++) { /* few live at a time: they need no more room */
		add(&random, 100);
		expire(seen[end - 1].moment - 30);
	}
	assert_true(store.room <= 256);
	add(&random, STORE_OBSERVATIONS + 100);
	assert_int_equal(store.room * sizeof(store.observations[0]), 512 * 1024);
}

/* ---- births ---- */

static double lines_at(unsigned i)
{
	return 64.0 * i + 7.0 * (i % 5);
}

/* Every point is one that was added, in order, from the first or the last before `oldest` on, to
 * the last added. */
static void assert_births(unsigned first, unsigned added)
{
	const struct mtl_birth *births = store.births;

	assert_true(store.n_births <= STORE_BIRTHS);
	assert_true(births[0].moment == first);
	assert_true(births[store.n_births - 1].moment == added - 1);
	for (size_t i = 0; i < store.n_births; i++) {
		assert_true(births[i].lines == lines_at((unsigned)births[i].moment));
		assert_true(i == 0 || births[i].moment > births[i - 1].moment);
	}
}

static void births_are_thinned_not_lost(void **state)
{
	(void)state;
	renew();
	for (unsigned i = 0; i < 100000; i++) {
		store_add_birth(&store, i, lines_at(i));
		assert_int_equal(store.births[store.n_births - 1].moment, i);
		if (i < STORE_BIRTHS)
			assert_int_equal(store.n_births, i + 1);
		if (i == STORE_BIRTHS) /* a quarter of them went, and one came */
			assert_int_equal(store.n_births, STORE_BIRTHS / 4 * 3 + 1);
		if (i % 97 == 0)
			assert_births(0, i + 1);
	}
	assert_true(store.n_births > STORE_BIRTHS / 4 * 3);
}

/* The newest half is whole: what decides an estimate of now keeps its detail. */
static void recent_births_keep_their_detail(void **state)
{
	(void)state;
	renew();
	for (unsigned i = 0; i < 50000; i++) {
		store_add_birth(&store, i, lines_at(i));
		for (size_t k = 1; i > STORE_BIRTHS && k < STORE_BIRTHS / 2; k++)
			assert_int_equal(store.births[store.n_births - 1 - k].moment, i - k);
	}
}

/* One point from before the limit stays, so that births can be told at the limit itself. */
static void births_expire_but_for_one(void **state)
{
	(void)state;
	renew();
	store_expire(&store, 100);
	assert_int_equal(store.n_births, 0);
	for (unsigned i = 0; i < 500; i++)
		store_add_birth(&store, i, lines_at(i));
	store_expire(&store, 0);
	assert_births(0, 500);
	store_expire(&store, 123.5);
	assert_births(123, 500);
	assert_int_equal(store.n_births, 500 - 123);
	store_expire(&store, 1e9);
	assert_births(499, 500);
	assert_int_equal(store.n_births, 1);
	store_add_birth(&store, 500, lines_at(500));
	assert_births(499, 501);
}

static int teardown(void **state)
{
	(void)state;
	store_done(&store);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(holds_what_was_added),
	        cmocka_unit_test(more_at_once_than_there_is_room),
	        cmocka_unit_test(random_additions_and_expiries),
	        cmocka_unit_test(expires_by_moment),
	        cmocka_unit_test(forgetting_counts_on),
	        cmocka_unit_test(clearing_forgets_all),
	        cmocka_unit_test(memory_is_bounded),
	        cmocka_unit_test(births_are_thinned_not_lost),
	        cmocka_unit_test(recent_births_keep_their_detail),
	        cmocka_unit_test(births_expire_but_for_one),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}

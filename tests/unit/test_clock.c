/* SPDX-License-Identifier: MIT */
/* The packed process clock against a thread table written out, moved as the BPF programs move it.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "event.h"
#include "splitmix.h"

#define THREADS 40
#define CPUS 8
#define MODULUS (1ULL << 52)

/* What the word stands for: when each running thread was switched in, and all time before that. */
struct model {
	__int128 past;
	__int128 since[MTL_CLOCK_RUNNING];
	bool running[MTL_CLOCK_RUNNING];
	unsigned n, n_running;
};

static struct model model;
static uint64_t word;

static uint64_t random_below(uint64_t *random, uint64_t n)
{
	return splitmix_next(random) % n;
}

/* as bpf/process_clock.bpf.c: an armed thread starts `cost` later */
static void switch_in(unsigned thread, uint64_t now, uint64_t cost)
{
	now += cost;
	__sync_fetch_and_add(&word, (-now << MTL_CLOCK_SHIFT) + 1);
	model.running[thread] = true;
	model.n = thread < model.n ? model.n : thread + 1;
	model.since[thread] = now;
	model.n_running++;
}

static void switch_out(unsigned thread, uint64_t now)
{
	__sync_fetch_and_add(&word, (now << MTL_CLOCK_SHIFT) - 1);
	model.running[thread] = false;
	model.past += now - model.since[thread];
	model.n_running--;
}

/* as bpf/watch_hit.bpf.c */
static void charge(uint64_t cost)
{
	__sync_fetch_and_add(&word, -(cost << MTL_CLOCK_SHIFT));
	model.past -= cost;
}

static uint64_t model_at(uint64_t now)
{
	__int128 sum = model.past;

	for (unsigned i = 0; i < model.n; i++)
		sum += model.running[i] ? now - model.since[i] : 0;
	return (uint64_t)sum & (MODULUS - 1);
}

static void begin(uint64_t clock)
{
	memset(&model, 0, sizeof(model));
	model.past = clock;
	word = clock << MTL_CLOCK_SHIFT;
}

static void assert_agrees(uint64_t now)
{
	assert_int_equal(word & MTL_CLOCK_RUNNING, model.n_running);
	assert_int_equal(mtl_clock_at(word, now), model_at(now));
}

/* One CPU goes from what it runs to another thread that waits, or to idle (-1). */
static void reschedule(uint64_t *random, int *current, uint64_t now)
{
	unsigned next = random_below(random, THREADS + THREADS / 2);
	uint64_t cost = random_below(random, 3) ? 0 : random_below(random, 5000);

	if (*current >= 0)
		switch_out(*current, now);
	*current = next < THREADS && !model.running[next] ? (int)next : -1;
	if (*current >= 0)
		switch_in(*current, now, cost);
}

static void follow_random_switches(uint64_t seed, uint64_t now, uint64_t clock)
{
	int current[CPUS];
	uint64_t random = seed;

	begin(clock);
	memset(current, -1, sizeof(current));
	for (unsigned step = 0; step < 3000; step++) {
		now += random_below(&random, step % 7 ? 50000 : 100000000);
		if (random_below(&random, 5) == 0)
			charge(random_below(&random, 200000));
		else
			reschedule(&random, &current[random_below(&random, CPUS)], now);
		assert_agrees(now);
		assert_agrees(now + random_below(&random, 1000000));
	}
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		if (current[cpu] >= 0)
			switch_out(current[cpu], now);
	assert_agrees(now);
	assert_agrees(now + 12345); /* nobody runs: it stands */
}

static void random_switches(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		follow_random_switches(seed, 1000000000 * seed * seed, 0);
}

/* The steps last about 20 s together: begin 10 s before the clock, the time or both wrap. */
static void wraps_at_two_to_the_52(void **state)
{
	const uint64_t before = MODULUS - 10000000000, high = 3 * MODULUS + before;

	(void)state;
	for (uint64_t seed = 30; seed < 40; seed++) {
		follow_random_switches(seed, 5, before);
		assert_true(mtl_clock_at(word, 0) < before);
		follow_random_switches(seed, before, 0);
		follow_random_switches(seed, high, before);
		follow_random_switches(seed, -10000000000ULL, before); /* the time itself wraps */
	}
}

/* A charge may take the clock below where it began; differences stay right. */
static void below_zero(void **state)
{
	(void)state;
	begin(0);
	switch_in(0, 1000, 0);
	charge(500);
	assert_int_equal(mtl_clock_at(word, 1000), MODULUS - 500);
	assert_int_equal(mtl_clock_at(word, 1500), 0);
	assert_int_equal(mtl_clock_at(word, 2000), 500);
}

/* Readings are modulo 2^52, what mtld makes of them is not. */
static void differences_across_the_wrap(void **state)
{
	const uint64_t far = MODULUS / 2 - 1;
	uint64_t latest = 0;

	(void)state;
	assert_int_equal(mtl_clock_between(MODULUS - 5, 7), 12);
	assert_int_equal(mtl_clock_between(7, MODULUS - 5), -12);
	assert_int_equal(mtl_clock_between(9 * MODULUS + 3, 4), 1);
	assert_int_equal(mtl_clock_between(0, far), far);
	for (uint64_t now = 0; now < 5 * MODULUS; now += far) {
		latest += mtl_clock_between(latest, now % MODULUS);
		assert_int_equal(latest, now);
	}
}

static void as_many_threads_as_the_word_counts(void **state)
{
	const uint64_t now = 0xabcdef0123456;

	(void)state;
	begin(0);
	for (unsigned i = 0; i < MTL_CLOCK_RUNNING; i++)
		switch_in(i, now + i, 0);
	assert_int_equal(word & MTL_CLOCK_RUNNING, 4095);
	assert_agrees(now + 4095);
	assert_int_equal(
	        mtl_clock_at(word, now + 1000005) - mtl_clock_at(word, now + 1000000), 5 * 4095);
	charge(7);
	assert_agrees(now + 10000);
	for (unsigned i = 0; i < MTL_CLOCK_RUNNING; i++)
		switch_out(i, now + 10000 + 2 * i);
	assert_int_equal(word & MTL_CLOCK_RUNNING, 0);
	assert_int_equal(mtl_clock_at(word, now), 10000ULL * 4095 + 4095 * 4094 / 2 - 7);
}

/* CPUs update the word at the same time: nothing is lost, and no reader sees half an update. */
struct cpu {
	pthread_t thread;
	uint64_t ran, random;
};

static void *switch_in_and_out(void *argument)
{
	struct cpu *cpu = argument;
	uint64_t now = 1000;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t slice = random_below(&cpu->random, 1000);

		__sync_fetch_and_add(&word, (-now << MTL_CLOCK_SHIFT) + 1);
		now += slice;
		cpu->ran += slice;
		__sync_fetch_and_add(&word, (now << MTL_CLOCK_SHIFT) - 1);
	}
	return NULL;
}

static void many_cpus_at_once(void **state)
{
	struct cpu cpus[4] = {0};
	uint64_t expected = 0;

	(void)state;
	begin(0);
	for (unsigned i = 0; i < 4; i++) {
		cpus[i].random = i;
		assert_int_equal(
		        pthread_create(&cpus[i].thread, NULL, switch_in_and_out, &cpus[i]), 0);
	}
	for (unsigned i = 0; i < 1000; i++)
		assert_true((__atomic_load_n(&word, __ATOMIC_ACQUIRE) & MTL_CLOCK_RUNNING) <= 4);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(cpus[i].thread, NULL);
		expected += cpus[i].ran;
	}
	assert_int_equal(word, expected << MTL_CLOCK_SHIFT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(random_switches),
	        cmocka_unit_test(wraps_at_two_to_the_52),
	        cmocka_unit_test(below_zero),
	        cmocka_unit_test(differences_across_the_wrap),
	        cmocka_unit_test(as_many_threads_as_the_word_counts),
	        cmocka_unit_test(many_cpus_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

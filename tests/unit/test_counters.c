// SPDX-License-Identifier: MIT
/*
 * Counters by process through the real kernel, the software event of page faults standing in for
 * hardware: what a process does is counted right to the last event, whatever others do meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"
#include "live_fixture.h"

#define INDEX 5
#define PAGE 4096UL
#define SETTLE_MILLISECONDS 300
#define TRIES 8

struct bench {
	struct source *source;
	struct counters *counters;
	const struct mtl_counts *counts;
	uint32_t tgid;
};

/* Two kinds of counters on the same event; a sampled one among them is none. */
static void begin(struct bench *bench, pid_t pid)
{
	struct pmu_event events[3] = {live_page_faults(), live_page_faults(), live_page_faults()};
	char error[256] = "";

	events[0].kind = PMU_COUNT_STORES;
	events[1].kind = PMU_COUNT_LLC_MISSES;
	for (int i = 0; i < 2; i++)
		events[i].attr.sample_period = events[i].attr.sample_type = 0;
	*bench = (struct bench){.source = NULL};
	if (source_new(65536, &bench->source, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	assert_int_equal(counters_new(bench->source, events, 3, true, &bench->counters), 0);
	assert_int_equal(source_attach(bench->source), 0);
	counters_begin(bench->counters);
	assert_int_equal(
	        counters_kinds(bench->counters), 1U << COUNTER_STORES | 1U << COUNTER_LLC_MISSES);
	assert_int_equal(source_resolve(bench->source, pid, &bench->tgid), 0);
	assert_int_equal(source_track(bench->source, bench->tgid, INDEX), 0);
	bench->counts = source_counts(bench->source, INDEX);
}

static void end(struct bench *bench)
{
	counters_free(bench->counters);
	source_free(bench->source);
}

static uint64_t value(const struct bench *bench, enum counter_kind kind)
{
	return __atomic_load_n(&bench->counts->value[kind], __ATOMIC_RELAXED);
}

/* A slice counts when it ends: the child goes to sleep soon after its answer. */
static void await(const struct bench *bench, uint64_t faults)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	for (int i = 0; i < SETTLE_MILLISECONDS && value(bench, COUNTER_STORES) < faults; i++)
		nanosleep(&nap, NULL);
}

static void touch(uint64_t pages)
{
	volatile char *memory = mmap(
	        NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)memory, pages * PAGE, MADV_NOHUGEPAGE);
	for (uint64_t i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
	munmap((void *)memory, pages * PAGE);
}

static uint64_t faults_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

/* All faults of the child since it was born, when it has touched that many pages. */
static uint64_t fault(uint64_t pages)
{
	if (pages)
		touch(pages);
	return faults_so_far();
}

static void *fault_in_thread(void *pages)
{
	for (int i = 0; i < 20; i++) {
		touch((uintptr_t)pages / 20);
		sched_yield();
	}
	return NULL;
}

/* The same by short threads; their stacks and exits fault as well. */
static uint64_t fault_in_threads(uint64_t pages)
{
	pthread_t threads[8];

	for (int i = 0; pages && i < 8; i++)
		pthread_create(&threads[i], NULL, fault_in_thread, (void *)(uintptr_t)(pages / 8));
	for (int i = 0; pages && i < 8; i++)
		pthread_join(threads[i], NULL);
	return faults_so_far();
}

/* True: all are counted. On a busy kernel now and then a slice of time is missing, from the process
 * clock as well. */
static bool all_counted(const struct bench *bench, uint64_t faults)
{
	await(bench, faults);
	assert_in_range(value(bench, COUNTER_STORES), 1, faults + 2);
	assert_int_equal(value(bench, COUNTER_STORES), value(bench, COUNTER_LLC_MISSES));
	assert_int_equal(value(bench, COUNTER_LOADS), 0);
	assert_int_equal(bench->counts->running_ns[COUNTER_LOADS], 0);
	assert_true(bench->counts->running_ns[COUNTER_STORES] > 0);
	assert_true(bench->counts->cpu_ns > 0);
	return value(bench, COUNTER_STORES) >= faults;
}

static bool count_faults_of(uint64_t (*act)(uint64_t))
{
	struct live_child child = live_start(act), other = live_start(fault);
	struct bench bench;
	uint64_t before, after;
	bool all;

	live_order(&child, 16); /* what faults for the first time only */
	live_answer(&child);
	begin(&bench, child.pid);
	live_order(&other, 3000); /* not tracked */
	live_order(&child, 0);
	before = live_answer(&child);
	live_order(&child, 4000);
	after = live_answer(&child);
	assert_true(after - before >= 4000);
	all = all_counted(&bench, after - before);
	live_answer(&other);
	live_stop(&other);
	live_stop(&child);
	end(&bench);
	return all;
}

/* Once is enough, for a count that is wrong is never right to the last one. */
static void count_exactly(bool (*count)(uint64_t (*act)(uint64_t)), uint64_t (*act)(uint64_t))
{
	bool all = false;

	if (!live_possible())
		skip();
	for (int i = 0; i < TRIES && !all; i++)
		all = count(act);
	assert_true(all);
}

static void test_faults_to_the_last_one(void **state)
{
	(void)state;
	count_exactly(count_faults_of, fault);
}

static void test_every_thread_from_its_first_instant(void **state)
{
	(void)state;
	count_exactly(count_faults_of, fault_in_threads);
}

static bool count_after_a_rest(uint64_t (*act)(uint64_t))
{
	struct live_child child = live_start(act);
	struct bench bench;
	uint64_t before, after;
	bool all;

	begin(&bench, child.pid);
	live_order(&child, 1000);
	live_answer(&child);
	counters_rest(bench.counters);
	source_detach(bench.source);
	live_order(&child, 2000);
	live_answer(&child);
	assert_int_equal(source_attach(bench.source), 0);
	counters_begin(bench.counters);
	assert_int_equal(source_track(bench.source, bench.tgid, INDEX), 0);
	live_order(&child, 0);
	before = live_answer(&child);
	live_order(&child, 500);
	after = live_answer(&child);
	all = all_counted(&bench, after - before);
	live_stop(&child);
	end(&bench);
	return all;
}

/* What ran while nothing was attached is of no process. */
static void test_a_rest_between(void **state)
{
	(void)state;
	count_exactly(count_after_a_rest, fault);
}

/* Without the kernel: what a rung leaves out. */
static void test_nothing_to_count(void **state)
{
	struct pmu_event event = live_page_faults();
	struct counters *counters;

	(void)state;
	assert_int_equal(counters_new(NULL, &event, 1, true, &counters), 0);
	counters_begin(counters);
	counters_follow(counters);
	assert_int_equal(counters_kinds(counters), 0);
	counters_rest(counters);
	counters_free(counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_nothing_to_count),
	        cmocka_unit_test(test_faults_to_the_last_one),
	        cmocka_unit_test(test_every_thread_from_its_first_instant),
	        cmocka_unit_test(test_a_rest_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

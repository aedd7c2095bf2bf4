// SPDX-License-Identifier: MIT
/*
 * Address samples through the real kernel, with page faults standing in for hardware: what a
 * process touches is what is delivered, and of a flood that no ring can hold nothing goes
 * unaccounted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "address_source.h"
#include "cpu_events.h"
#include "live_fixture.h"

#define PAGE 4096UL
#define INDEX 7
#define FLOOD 60000 /* MTL_FLOOD in the environment says otherwise */
#define FLOOD_PAGES 8192

static void *region; /* the same in the child */

struct bench {
	struct source *source;
	struct address_source *addresses;
	struct mtl_process *process;
	uint64_t delivered, inside, wrong;
	uint32_t tgid;
};

static void on_sample(void *userdata, const struct mtl_address *sample)
{
	struct bench *bench = userdata;

	bench->delivered++;
	bench->wrong += sample->process != INDEX || sample->tgid != bench->tgid ||
	                sample->event != 0 || sample->data_src != 0;
	bench->inside += sample->address - (uintptr_t)region < FLOOD_PAGES * PAGE;
}

static void begin(
        struct bench *bench, const struct pmu_event *event, unsigned ring_bytes, pid_t pid)
{
	char error[256] = "";

	*bench = (struct bench){.source = NULL};
	if (source_new(65536, &bench->source, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	assert_int_equal(source_attach(bench->source), 0);
	assert_int_equal(source_resolve(bench->source, pid, &bench->tgid), 0);
	assert_int_equal(source_track(bench->source, bench->tgid, INDEX), 0);
	bench->process = source_process(bench->source, INDEX);
	assert_int_equal(address_source_new(bench->source, event, 1, ring_bytes, on_sample, bench,
	                         &bench->addresses),
	        0);
	assert_int_equal(address_source_start(bench->addresses), 0);
}

static struct address_counts counts_of(struct bench *bench)
{
	struct address_counts counts;

	address_source_follow(bench->addresses);
	address_source_counts(bench->addresses, 0, &counts);
	return counts;
}

static void end(struct bench *bench)
{
	address_source_free(bench->addresses);
	source_free(bench->source);
}

/* Every sample is accounted for once, and what the kernel counted is what the program saw. */
static void assert_complete(struct bench *bench, const struct address_counts *counts)
{
	uint64_t ours = counts->seen - counts->foreign;

	assert_int_equal(ours, bench->process->samples);
	assert_int_equal(ours, counts->zero + counts->kernel + counts->filtered +
	                               counts->delivered + counts->lost);
	assert_int_equal(counts->delivered, bench->delivered);
	/* the kernel skips a sample when it comes upon a task that was preempted inside bpf(2) */
	assert_true(counts->unseen <= 10 + counts->due / 1000);
	/* counters are read first, and other processes fault meanwhile */
	assert_true(counts->due > 0.98 * counts->seen - 1000);
}

/* Touches that many fresh pages; answers how many faults that made. */
static uint64_t fault(uint64_t pages)
{
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	for (uint64_t i = 0; i < pages; i++) {
		if (i % FLOOD_PAGES == 0)
			madvise(region, FLOOD_PAGES * PAGE, MADV_DONTNEED);
		((volatile char *)region)[i % FLOOD_PAGES * PAGE] = 1;
	}
	getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt - before.ru_minflt;
}

static void make_region(void)
{
	region = mmap(NULL, FLOOD_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	        -1, 0);
	assert_true(region != MAP_FAILED);
	madvise(region, FLOOD_PAGES * PAGE, MADV_NOHUGEPAGE);
}

static void test_addresses_are_those_touched(void **state)
{
	struct pmu_event event = live_page_faults();
	struct live_child child;
	struct address_counts counts;
	struct bench bench;

	(void)state;
	if (!live_possible())
		skip();
	child = live_start(fault);
	begin(&bench, &event, 65536, child.pid);
	live_order(&child, 500);
	live_answer(&child);
	address_source_consume(bench.addresses);
	counts = counts_of(&bench);
	assert_complete(&bench, &counts);
	assert_true(bench.inside + counts.unseen >= 500 && bench.inside <= 500);
	assert_true(bench.delivered < 1000); /* the rest is what the child needs besides */
	assert_int_equal(bench.wrong, 0);
	assert_int_equal(counts.lost + counts.zero + counts.kernel + counts.filtered, 0);
	assert_true(counts.foreign > 0 || counts.seen == bench.delivered);
	live_stop(&child);
	end(&bench);
}

static void test_a_flood_is_accounted_for(void **state)
{
	struct pmu_event event = live_page_faults();
	struct live_child child;
	struct address_counts counts;
	struct bench bench;
	const char *asked = getenv("MTL_FLOOD");
	uint64_t faults, flood = asked ? strtoul(asked, NULL, 10) : FLOOD;

	(void)state;
	if (!live_possible())
		skip();
	child = live_start(fault);
	begin(&bench, &event, 4096, child.pid);
	live_order(&child, flood);
	for (struct pollfd answer = {.fd = child.answers, .events = POLLIN};
	        poll(&answer, 1, 50) == 0;)
		address_source_consume(bench.addresses);
	faults = live_answer(&child);
	address_source_consume(bench.addresses);
	counts = counts_of(&bench);
	print_message("%lu faults: %lu delivered, %lu lost, %lu unseen\n", faults, counts.delivered,
	        counts.lost, counts.unseen);
	assert_complete(&bench, &counts);
	assert_true(faults >= flood && counts.seen - counts.foreign + counts.unseen >= faults);
	assert_true(counts.seen - counts.foreign < faults * 1.001 + 10);
	assert_true(llabs((long long)(bench.process->faults - bench.process->samples)) <=
	            (long long)counts.unseen + 10); /* births see the same */
	assert_true(counts.lost > flood / 4);
	assert_true(counts.delivered > 100);
	live_stop(&child);
	end(&bench);
}

static void test_what_counts_as_a_hit(void **state)
{
	static const struct {
		unsigned level;
		bool hit;
	} cases[] = {
	        {PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1, true},
	        {PERF_MEM_LVL_HIT | PERF_MEM_LVL_LFB, true},
	        {PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2, false},
	        {PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3, false},
	        {PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM, false},
	        {PERF_MEM_LVL_MISS | PERF_MEM_LVL_L1, false},
	        {PERF_MEM_LVL_MISS | PERF_MEM_LVL_L3, false},
	        {PERF_MEM_LVL_NA, false}, /* stores of IBS */
	        {0, false},               /* not known */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		union perf_mem_data_src source = {
		        .mem_op = PERF_MEM_OP_LOAD, .mem_lvl = cases[i].level};

		assert_int_equal(mtl_load_hit(source.val), cases[i].hit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_what_counts_as_a_hit),
	        cmocka_unit_test(test_addresses_are_those_touched),
	        cmocka_unit_test(test_a_flood_is_accounted_for),
	};

	make_region();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

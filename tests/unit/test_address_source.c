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
#include "perf_syscall.h"

#define PAGE 4096UL
#define INDEX 7
#define FLOOD 60000 /* MTL_FLOOD in the environment says otherwise */
#define FLOOD_PAGES 8192
#define UNSETTLED 16 /* due before the latest look, and of those seen meanwhile */

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
	/* counters are read first, and other processes fault meanwhile */
	assert_true(counts->due > 0.98 * counts->seen - 1000);
}

/* The kernel's own count of that process's faults, from now on: what the event produces of it. */
static int count_faults(pid_t pid)
{
	struct perf_event_attr attr = {
	        .type = PERF_TYPE_SOFTWARE,
	        .size = sizeof(attr),
	        .config = PERF_COUNT_SW_PAGE_FAULTS,
	};
	int fd = perf_syscall(&attr, pid, -1, -1);

	assert_true(fd >= 0);
	return fd;
}

static uint64_t counted(int fd)
{
	uint64_t count;

	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	close(fd);
	return count;
}

/* Of `produced` samples of the process none is unaccounted for: the kernel skips one when it comes
 * upon a CPU where somebody was preempted inside bpf(2), and that one shows as unseen, which
 * counts those of all processes. */
static void assert_none_missing(
        const struct address_counts *counts, uint64_t seen, uint64_t produced)
{
	assert_true(seen <= produced);
	assert_true(produced - seen <= counts->unseen + UNSETTLED);
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

static void ask(const struct live_child *child, uint64_t pages)
{
	live_order(child, pages);
	live_answer(child);
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
	int counter;

	(void)state;
	if (!live_possible())
		skip();
	child = live_start(fault);
	ask(&child, 0);
	counter = count_faults(child.pid);
	begin(&bench, &event, 65536, child.pid);
	ask(&child, 500);
	address_source_consume(bench.addresses);
	counts = counts_of(&bench);
	assert_complete(&bench, &counts);
	assert_none_missing(&counts, bench.delivered, counted(counter));
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
	uint64_t produced, flood = asked ? strtoul(asked, NULL, 10) : FLOOD;
	int counter;

	(void)state;
	if (!live_possible())
		skip();
	child = live_start(fault);
	ask(&child, 0);
	counter = count_faults(child.pid);
	begin(&bench, &event, 4096, child.pid);
	live_order(&child, flood);
	for (struct pollfd answer = {.fd = child.answers, .events = POLLIN};
	        poll(&answer, 1, 50) == 0;)
		address_source_consume(bench.addresses);
	assert_true(live_answer(&child) >= flood);
	address_source_consume(bench.addresses); /* one call may end at its limit */
	address_source_consume(bench.addresses);
	counts = counts_of(&bench);
	produced = counted(counter);
	print_message("%lu produced: %lu delivered, %lu lost; of all processes %lu unseen\n",
	        produced, counts.delivered, counts.lost, counts.unseen);
	assert_complete(&bench, &counts);
	assert_none_missing(&counts, counts.delivered + counts.lost, produced);
	assert_none_missing(&counts, bench.process->faults, produced); /* births see the same */
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

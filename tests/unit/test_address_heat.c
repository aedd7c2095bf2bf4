// SPDX-License-Identifier: MIT
/*
 * From an address sample to what is watched: page faults of a process heat the planner, which then
 * draws lines where they were; and where watchpoints fire (in a machine of tests/machine), lines
 * drawn there are watched, and the time to their next touch is that of the loop that makes it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "address_source.h"
#include "live_fixture.h"
#include "planner.h"
#include "sampler.h"

#define PAGE 4096UL
#define INDEX 9
#define COLD_PAGES 16384 /* resident and never touched again */
#define HOT_PAGES 128    /* given back and faulted in again and again */
#define HOT_SHARE ((double)HOT_PAGES / (HOT_PAGES + COLD_PAGES))
#define WATCHES 24

static char *cold, *hot; /* the same in the child */

static const struct planner_deadlines deadlines = {0.1, 0.2, 0.2, 0};

struct bench {
	struct live_child child;
	struct source *source;
	struct address_source *addresses;
	struct planner *planner;
	uint32_t tgid;
	unsigned samples;
};

static void touch(volatile char *memory, unsigned pages, unsigned step)
{
	for (size_t at = 0; at < pages * PAGE; at += step)
		memory[at]++;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static uint64_t populate(uint64_t until)
{
	(void)until;
	touch(cold, COLD_PAGES, PAGE);
	touch(hot, HOT_PAGES, PAGE);
	return 0;
}

static uint64_t fault_again(uint64_t until)
{
	while (source_now() < until) {
		madvise(hot, HOT_PAGES * PAGE, MADV_DONTNEED);
		touch(hot, HOT_PAGES, 8);
	}
	return 0;
}

/* Goes round what is hot, which stays resident: a page faulted in anew is born, not used again.
 * Answers the CPU time of a round, ns. */
static uint64_t go_round(uint64_t until)
{
	uint64_t begin = cpu_ns(), rounds = 0;

	for (; source_now() < until; rounds++)
		for (unsigned i = 0; i < HOT_PAGES * 32; i++)
			touch(hot + i / 32 * PAGE, 1, 8);
	return (cpu_ns() - begin) / (rounds ? rounds : 1);
}

enum { POPULATE, FAULT_AGAIN, GO_ROUND };

static uint64_t order(unsigned what, uint64_t milliseconds)
{
	return (uint64_t)what << 32 | milliseconds;
}

static uint64_t act(uint64_t order)
{
	static uint64_t (*const acts[])(uint64_t until) = {
	        [POPULATE] = populate,
	        [FAULT_AGAIN] = fault_again,
	        [GO_ROUND] = go_round,
	};

	return acts[order >> 32](source_now() + (uint32_t)order * 1000000ULL);
}

static bool possible(void)
{
#ifdef __SANITIZE_ADDRESS__
	print_message("ASan reserves more memory than draws find resident pages in\n");
	return false;
#else
	return live_possible();
#endif
}

static char *region(unsigned pages)
{
	char *memory = mmap(
	        NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static bool is_hot(uint64_t address)
{
	return address - (uintptr_t)hot < HOT_PAGES * PAGE;
}

static void on_sample(void *userdata, const struct mtl_address *sample)
{
	struct bench *bench = userdata;

	bench->samples++;
	planner_heat(bench->planner, sample->address, fmax(sample->period, 1));
}

static void begin(struct bench *bench)
{
	struct pmu_event event = live_page_faults();
	char error[256] = "";

	*bench = (struct bench){.child = live_start(act)};
	live_order(&bench->child, order(POPULATE, 0));
	live_answer(&bench->child);
	if (source_new(65536, &bench->source, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	assert_int_equal(source_attach(bench->source), 0);
	assert_int_equal(source_resolve(bench->source, bench->child.pid, &bench->tgid), 0);
	assert_int_equal(source_track(bench->source, bench->tgid, INDEX), 0);
	assert_int_equal(planner_new("", bench->child.pid, 1, &bench->planner), 0);
	assert_int_equal(planner_survey(bench->planner, 1000000), 1);
	assert_int_equal(address_source_new(bench->source, &event, 1, 65536, on_sample, bench,
	                         &bench->addresses),
	        0);
	assert_int_equal(address_source_start(bench->addresses), 0);
}

static void end(struct bench *bench)
{
	live_stop(&bench->child);
	address_source_free(bench->addresses);
	planner_free(bench->planner);
	source_free(bench->source);
}

/* The child works so long; its samples heat the planner, surveys as mtld makes them. */
static void heat(struct bench *bench, uint64_t milliseconds)
{
	live_order(&bench->child, order(FAULT_AGAIN, milliseconds));
	for (struct pollfd answer = {.fd = bench->child.answers, .events = POLLIN};
	        poll(&answer, 1, 20) == 0;)
		address_source_consume(bench->addresses);
	live_answer(&bench->child);
	address_source_consume(bench->addresses);
	assert_int_equal(planner_survey(bench->planner, 1000000), 1);
}

static double share_drawn_hot(struct bench *bench, double *ret_lines)
{
	struct candidate candidate;
	unsigned n = 4000, inside = 0;
	double lines = 0;

	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(planner_draw(bench->planner, &deadlines, 4, false, &candidate), 0);
		inside += is_hot(candidate.address[0]);
		lines += is_hot(candidate.address[0]) * candidate.weight / n;
	}
	*ret_lines = lines;
	return inside / (double)n;
}

static void test_faults_heat_what_is_drawn(void **state)
{
	struct bench bench;
	double lines, before, after;

	(void)state;
	if (!possible())
		skip();
	begin(&bench);
	before = share_drawn_hot(&bench, &lines);
	heat(&bench, 300);
	after = share_drawn_hot(&bench, &lines);
	print_message("%u samples: %.3f of the draws, then %.3f, for %.0f lines\n", bench.samples,
	        before, after, lines);
	assert_true(bench.samples > 100);
	assert_true(before < 3 * HOT_SHARE);
	assert_true(after > 5 * HOT_SHARE);
	/* the weights undo it: what the draws stand for there is what there is */
	assert_true(fabs(lines / (HOT_PAGES * 64) - 1) < 0.3);
	end(&bench);
}

/* Lines drawn where it is hot: as many as a queue takes. */
static void offer(struct bench *bench, struct sampler *sampler)
{
	struct candidate candidate;

	for (unsigned offered = 0; offered < WATCHES; offered += is_hot(candidate.address[0])) {
		assert_int_equal(planner_draw(bench->planner, &deadlines, 4, false, &candidate), 0);
		if (is_hot(candidate.address[0]))
			assert_int_equal(sampler_offer(sampler, INDEX, &candidate), 0);
	}
}

/* Until the child is done. */
static unsigned watch(struct bench *bench, struct sampler *sampler, struct mtl_observation *seen)
{
	unsigned n = 0;

	for (struct pollfd answer = {.fd = bench->child.answers, .events = POLLIN};
	        poll(&answer, 1, 20) == 0;) {
		sampler_pace_cpus(sampler);
		address_source_consume(bench->addresses);
		n += sampler_take(sampler, INDEX, seen + n, NULL, WATCHES - n);
	}
	return n;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Times until the next touch, seconds: the median of those that were touched, and how many. */
static double median_touched(const struct mtl_observation *seen, unsigned n, unsigned *ret_touched)
{
	double times[WATCHES];
	unsigned touched = 0;

	for (unsigned i = 0; i < n; i++)
		if (seen[i].touched[0] < seen[i].deadline)
			times[touched++] = seen[i].touched[0];
	qsort(times, touched, sizeof(times[0]), by_size);
	*ret_touched = touched;
	return touched ? times[touched / 2] : 0;
}

static void test_the_untouched_do_not_count(void **state)
{
	const struct mtl_observation seen[] = {
	        {.deadline = 1, .touched = {0.5}},
	        {.deadline = 1, .touched = {INFINITY}},
	        {.deadline = 1, .touched = {0.25}},
	        {.deadline = 1, .touched = {0.125}},
	};
	unsigned touched;

	(void)state;
	assert_true(median_touched(seen, 4, &touched) == 0.25);
	assert_int_equal(touched, 3);
	assert_true(median_touched(seen + 1, 1, &touched) == 0);
}

static void begin_watching(struct bench *bench, struct sampler **ret_sampler)
{
	assert_int_equal(sampler_new(bench->source, true, ret_sampler), 0);
	assert_int_equal(sampler_add(*ret_sampler, INDEX, 4, 8), 0);
	assert_int_equal(sampler_threads(*ret_sampler, INDEX, &bench->child.pid, 1), 0);
	sampler_set_pace(*ret_sampler, INDEX, 100, false);
	offer(bench, *ret_sampler);
}

static void test_what_is_drawn_there_is_touched_again(void **state)
{
	struct mtl_observation seen[WATCHES];
	struct sampler *sampler;
	struct bench bench;
	unsigned n, touched;
	double round, median;

	(void)state;
	if (!possible() || !getenv("MTL_MACHINE")) /* only there do watchpoints surely fire */
		skip();
	begin(&bench);
	heat(&bench, 300);
	begin_watching(&bench, &sampler);
	live_order(&bench.child, order(GO_ROUND, 6000));
	n = watch(&bench, sampler, seen);
	round = live_answer(&bench.child) / 1e9;
	median = median_touched(seen, n, &touched);
	print_message("%u watched, %u touched again, after %.2f ms of rounds of %.2f ms\n", n,
	        touched, median * 1e3, round * 1e3);
	assert_true(n >= WATCHES / 2);
	assert_true(touched >= 0.8 * n);
	/* A line is armed at any point of a round: half of one is left, in the median of so few
	 * give or take a quarter; and the emulated machine is slow on a page that is watched. */
	assert_true(median > round / 8 && median < round * 2);
	sampler_remove(sampler, INDEX);
	sampler_free(sampler);
	end(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_the_untouched_do_not_count),
	        cmocka_unit_test(test_faults_heat_what_is_drawn),
	        cmocka_unit_test(test_what_is_drawn_there_is_touched_again),
	};

	cold = region(COLD_PAGES);
	hot = region(HOT_PAGES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

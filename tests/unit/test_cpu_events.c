// SPDX-License-Identifier: MIT
/*
 * One event on every CPU, through the real kernel: CPUs that come and go, periods, throttling, and
 * that nothing is left behind by a daemon that is killed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "address_source.h"
#include "cpu_events.h"
#include "live_fixture.h"
#include "machine.h"

#define PAGE 4096UL
#define PAGES 512
#define COOKIE (3 * MTL_CPUS_MAX)

static char *region; /* the same in the child */

static uint64_t fault(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds * PAGES; i++) {
		if (i % PAGES == 0)
			madvise(region, PAGES * PAGE, MADV_DONTNEED);
		((volatile char *)region)[i % PAGES * PAGE] = 1;
	}
	return 0;
}

struct bench {
	struct source *source;
	struct cpu_events *events;
	cpu_set_t online;
};

static void begin(struct bench *bench, const struct pmu_event *event)
{
	char error[256] = "";

	if (source_new(65536, &bench->source, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	assert_int_equal(cpu_events_new(event, source_address_program(bench->source), COOKIE,
	                         &bench->events),
	        0);
	cpu_events_online(&bench->online);
}

static void end(struct bench *bench)
{
	cpu_events_free(bench->events);
	source_free(bench->source);
}

static struct cpu_events_counts follow(struct bench *bench, const cpu_set_t *cpus)
{
	struct cpu_events_counts counts;

	assert_int_equal(cpu_events_follow(bench->events, cpus), 0);
	cpu_events_counts(bench->events, &counts);
	return counts;
}

static uint64_t seen(const struct bench *bench)
{
	uint64_t sum = 0;

	for (unsigned cpu = 0; cpu < MTL_CPUS_MAX; cpu++)
		sum += source_event_slots(bench->source)[COOKIE + cpu].seen;
	return sum;
}

static void test_cpus_come_and_go(void **state)
{
	struct pmu_event event = live_page_faults();
	struct cpu_events_counts counts;
	struct bench bench;
	cpu_set_t some;
	uint64_t before;
	int cpu = CPU_SETSIZE - 1;

	(void)state;
	if (!live_possible())
		skip();
	begin(&bench, &event);
	while (!CPU_ISSET(cpu, &bench.online))
		cpu--;
	some = bench.online;
	CPU_CLR(cpu, &some);
	assert_int_equal(follow(&bench, &some).cpus, CPU_COUNT(&some));
	assert_int_equal(follow(&bench, &bench.online).cpus, CPU_COUNT(&bench.online));
	assert_int_equal(follow(&bench, &bench.online).cpus, CPU_COUNT(&bench.online));
	fault(1);
	counts = follow(&bench, &some);
	assert_int_equal(counts.cpus, CPU_COUNT(&some));
	assert_true(counts.due >= 0.9 * PAGES && seen(&bench) >= 0.9 * PAGES);
	CPU_ZERO(&some);
	assert_int_equal(follow(&bench, &some).cpus, 0);
	before = seen(&bench);
	fault(1);
	assert_int_equal(seen(&bench), before); /* closed is closed */
	follow(&bench, &bench.online);
	fault(1);
	assert_true(seen(&bench) - before >= 0.9 * PAGES); /* and open again */
	end(&bench);
}

static void test_a_cpu_that_is_not_there(void **state)
{
	struct pmu_event event = live_page_faults();
	struct cpu_events_counts counts;
	struct bench bench;
	cpu_set_t more;

	(void)state;
	if (!live_possible())
		skip();
	begin(&bench, &event);
	more = bench.online;
	CPU_SET(CPU_SETSIZE - 1, &more); /* ENODEV, or EINVAL where there can never be so many */
	CPU_CLR(CPU_SETSIZE - 1, &event.cpus);
	cpu_events_free(bench.events);
	assert_int_equal(
	        cpu_events_new(&event, source_address_program(bench.source), COOKIE, &bench.events),
	        0);
	counts = follow(&bench, &more);
	assert_int_equal(counts.cpus, CPU_COUNT(&bench.online));
	end(&bench);
}

static void test_the_first_refusal_is_told(void **state)
{
	struct pmu_event event = live_page_faults();
	struct bench bench;

	(void)state;
	if (!live_possible())
		skip();
	event.attr.config = 9999; /* no such software event */
	begin(&bench, &event);
	assert_true(cpu_events_follow(bench.events, &bench.online) < 0);
	end(&bench);
}

static void test_periods(void **state)
{
	struct pmu_event event = live_page_faults();
	struct cpu_events_counts counts;
	struct bench bench;
	uint64_t before;

	(void)state;
	if (!live_possible())
		skip();
	event.attr.sample_period = 101;
	begin(&bench, &event);
	follow(&bench, &bench.online);
	fault(4);
	counts = follow(&bench, &bench.online);
	assert_true(counts.due <= seen(&bench) + counts.slack + 10 + counts.due / 10);
	assert_true(counts.due >= 4 * PAGES / 101 - 2 && seen(&bench) >= 4 * PAGES / 101 - 2);
	before = seen(&bench);
	assert_int_equal(cpu_events_set_period(bench.events, 7), 0);
	fault(4);
	counts = follow(&bench, &bench.online);
	assert_int_equal(counts.period, 7);
	assert_true(seen(&bench) - before >=
	            (4 * PAGES - 2 * 101) / 7 - 2); /* the old period ends first */
	assert_true(counts.due <= seen(&bench) + counts.slack + 10 + counts.due / 10);
	assert_int_equal(cpu_events_set_period(bench.events, 1ULL << 63), -EINVAL);
	cpu_events_counts(bench.events, &counts);
	assert_int_equal(counts.period, 7);
	before = seen(&bench);
	fault(4);
	assert_true(seen(&bench) - before >= 4 * PAGES / 7 - 2); /* the old one stays */
	end(&bench);
}

static void set_sample_rate(const char *path, const char *rate)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(rate, file) >= 0);
	fclose(file);
}

/* A setting of the whole machine, so only of an emulated one; the clock comes 10,000 times a
 * second. */
static void test_throttling_is_seen(void **state)
{
	static const char path[] = "/proc/sys/kernel/perf_event_max_sample_rate";
	struct timespec pause = {.tv_nsec = 300000000};
	struct pmu_event event = live_page_faults();
	const char *machine = getenv("MTL_MACHINE");
	struct cpu_events_counts counts;
	struct bench bench;
	char before[32];
	int tries = 0;

	(void)state;
	if (!live_possible() || !machine || strcmp(machine, "emulated") != 0)
		skip();
	assert_true(machine_line(path, before, sizeof(before)));
	event.attr.config = PERF_COUNT_SW_CPU_CLOCK;
	event.attr.sample_period = 100000;
	begin(&bench, &event);
	set_sample_rate(path, "500");
	follow(&bench, &bench.online);
	do { /* on a busy machine fewer ticks come in that time */
		nanosleep(&pause, NULL);
		counts = follow(&bench, &bench.online);
	} while (counts.throttles <= 3 && ++tries < 20);
	set_sample_rate(path, before);
	print_message(
	        "%lu throttled, %.0f due, %lu seen\n", counts.throttles, counts.due, seen(&bench));
	assert_true(counts.throttles > 3);
	end(&bench);
}

/* Tells the number of its program, and waits to be killed. */
static uint64_t hold(uint64_t unused)
{
	static struct bench bench;
	struct pmu_event event = live_page_faults();
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);

	(void)unused;
	begin(&bench, &event);
	follow(&bench, &bench.online);
	assert_int_equal(
	        bpf_obj_get_info_by_fd(source_address_program(bench.source), &info, &size), 0);
	return info.id;
}

static bool there_is_program(uint32_t id)
{
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void test_nothing_is_left_behind(void **state)
{
	struct timespec pause = {.tv_nsec = 10000000};
	struct live_child child;
	uint32_t id;

	(void)state;
	if (!live_possible())
		skip();
	child = live_start(hold);
	live_order(&child, 0);
	id = live_answer(&child);
	assert_true(there_is_program(id));
	kill(child.pid, SIGKILL);
	live_stop(&child);
	for (unsigned i = 0; i < 500 && there_is_program(id); i++)
		nanosleep(&pause, NULL); /* freed after a grace period */
	assert_false(there_is_program(id));
}

static void test_online_cpus(void **state)
{
	cpu_set_t online;

	(void)state;
	cpu_events_online(&online);
	assert_int_equal(CPU_COUNT(&online), sysconf(_SC_NPROCESSORS_ONLN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_online_cpus),
	        cmocka_unit_test(test_cpus_come_and_go),
	        cmocka_unit_test(test_a_cpu_that_is_not_there),
	        cmocka_unit_test(test_the_first_refusal_is_told),
	        cmocka_unit_test(test_periods),
	        cmocka_unit_test(test_throttling_is_seen),
	        cmocka_unit_test(test_nothing_is_left_behind),
	};

	region = mmap(
	        NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(region, PAGES * PAGE, MADV_NOHUGEPAGE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

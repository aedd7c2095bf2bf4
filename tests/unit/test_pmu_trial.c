/* SPDX-License-Identifier: MIT */
/*
 * The trial of an event on this kernel, with page faults as the event: they have addresses and can
 * be counted wherever performance events are allowed.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "pmu_trial.h"

static struct pmu_machine *machine;
static struct pmu_event faults;

static int setup(void **state)
{
	_cleanup_free_ struct pmu_event *events = NULL;
	unsigned n;

	(void)state;
	if (pmu_discover("", &machine) < 0 || pmu_events(machine, &events, &n) < 0)
		return -1;
	for (unsigned i = 0; i < n; i++)
		if (events[i].kind == PMU_PAGE_FAULTS)
			faults = events[i];
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(machine);
	return 0;
}

/* Events of all processes are for those who may; others see why not. */
static struct ladder_outcome try_event(const struct pmu_event *event)
{
	struct ladder_outcome outcome;
	cpu_set_t before, after;

	sched_getaffinity(0, sizeof(before), &before);
	pmu_trial(machine, event, &outcome);
	sched_getaffinity(0, sizeof(after), &after);
	assert_true(CPU_EQUAL(&before, &after));
	if (geteuid() != 0) {
		assert_false(outcome.works);
		skip();
	}
	return outcome;
}

static void tells_addresses(void **state)
{
	struct ladder_outcome outcome = try_event(&faults);

	(void)state;
	assert_true(outcome.works);
	assert_non_null(strstr(outcome.reason, "page-faults on software tells addresses"));
	assert_string_equal(outcome.fix, "");
}

/* An event that never happens. (The CPU clock would tell no data address either, but at a period of
 * one it leaves the machine no time for anything else.) */
static void tells_no_addresses(void **state)
{
	struct pmu_event dummy = faults;
	struct ladder_outcome outcome;

	(void)state;
	dummy.name = "dummy";
	dummy.attr.config = PERF_COUNT_SW_DUMMY;
	outcome = try_event(&dummy);
	assert_false(outcome.works);
	assert_non_null(strstr(outcome.reason, "tells no addresses: 0 of "));
	assert_string_not_equal(outcome.fix, "");
}

static void counts(void **state)
{
	struct pmu_event counter = faults;
	struct ladder_outcome outcome;

	(void)state;
	counter.kind = PMU_COUNT_L1_MISSES;
	counter.attr.sample_period = 0;
	counter.attr.sample_type = 0;
	outcome = try_event(&counter);
	assert_true(outcome.works);
	assert_non_null(strstr(outcome.reason, "counted "));
}

/* A page fault a page is not an access a line. */
static void counts_too_few(void **state)
{
	struct pmu_event counter = faults;
	struct ladder_outcome outcome;

	(void)state;
	counter.kind = PMU_COUNT_LOADS;
	counter.attr.sample_period = 0;
	counter.attr.sample_type = 0;
	outcome = try_event(&counter);
	assert_false(outcome.works);
	assert_non_null(strstr(outcome.reason, "too few"));
	assert_string_not_equal(outcome.fix, "");
}

static void refused(void **state)
{
	struct pmu_event event = faults;
	struct ladder_outcome outcome;

	(void)state;
	event.name = "nothing";
	event.attr.config = 0xffff;
	outcome = try_event(&event);
	assert_false(outcome.works);
	assert_non_null(strstr(outcome.reason, "nothing: "));
}

static void nowhere(void **state)
{
	struct pmu_event event = faults;
	struct ladder_outcome outcome;

	(void)state;
	CPU_ZERO(&event.cpus);
	pmu_trial(machine, &event, &outcome);
	assert_false(outcome.works);
	assert_non_null(strstr(outcome.reason, "may not run on any CPU"));
	assert_non_null(strstr(outcome.fix, "affinity"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(tells_addresses),
	        cmocka_unit_test(tells_no_addresses),
	        cmocka_unit_test(counts),
	        cmocka_unit_test(counts_too_few),
	        cmocka_unit_test(refused),
	        cmocka_unit_test(nowhere),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_RESCTRL_FIXTURE_H
#define MTL_TEST_RESCTRL_FIXTURE_H

/* A machine with resctrl for one test program, and shorthand for what its tests do with it. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif
#include "fake_resctrl.h"
#include "resctrl.h"

static const char *missing; /* why there is no FUSE here */
static struct resctrl_place place;
static struct resctrl_report report;
static char error[RESCTRL_ERROR];

static inline int setup(void **state)
{
	(void)state;
	if (!fake_resctrl_start(&missing))
		return 0;
	missing = NULL;
	place = (struct resctrl_place){.root = fake_mount, .patience = 0.1};
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	fake_resctrl_stop();
	return 0;
}

/* Without FUSE there is the machine, but not its files. */
static inline void machine_in_memory(unsigned bits, unsigned min_bits, bool sparse)
{
	fake_machine_new(bits, min_bits, sparse);
	fake_machine_ready();
	error[0] = '\0';
}

static inline void machine(unsigned bits, unsigned min_bits, bool sparse)
{
	if (missing) {
		print_message("not run: %s\n", missing);
		skip();
	}
	machine_in_memory(bits, min_bits, sparse);
}

/* --- shorthand: groups with equal ways in every domain of the L3 */

struct wish {
	const char *name;
	unsigned ways;
	uint32_t mask;
	int pids[3];
};

/* Of the first resource; what resctrl_geometry_read() would say. */
static inline void geometry_by_hand(struct resctrl_geometry *ret_geometry)
{
	const struct fake_resource *l3 = &fake->resources[0];
	struct resctrl_domain *domains = calloc(2, sizeof(*domains));

	for (int d = 0; d < 2; d++) {
		domains[d] = (struct resctrl_domain){.id = l3->ids[d], .cpus = strdup("")};
		for (int g = 0; g < FAKE_GROUPS; g++)
			if (fake->groups[g].there && fake->groups[g].exclusive)
				domains[d].taken |= fake->groups[g].values[0][d];
	}
	*ret_geometry = (struct resctrl_geometry){.caches = {{3, false, l3->mask, l3->shareable,
	                                                  (unsigned)__builtin_popcount(l3->mask),
	                                                  l3->min_bits, l3->sparse, domains, 2}},
	        .n_caches = 1,
	        .num_closids = l3->num_closids};
	for (int g = 0; g < FAKE_GROUPS; g++)
		ret_geometry->groups += fake->groups[g].there;
}

static inline int plan_of(const struct wish *wishes, size_t n, enum resctrl_shareable shareable,
        struct resctrl_plan **ret_plan)
{
	struct resctrl_request requests[24];
	struct resctrl_share shares[24];
	struct resctrl_geometry geometry;
	int r;

	if (missing)
		geometry_by_hand(&geometry);
	else
		assert_int_equal(resctrl_geometry_read(&place, &geometry, error, sizeof(error)), 0);
	for (size_t i = 0; i < n; i++) {
		shares[i] = (struct resctrl_share){
		        3, RESCTRL_EVERY_DOMAIN, wishes[i].ways, wishes[i].mask};
		requests[i] =
		        (struct resctrl_request){wishes[i].name, wishes[i].pids, 0, &shares[i], 1};
		while (requests[i].n_pids < 3 && wishes[i].pids[requests[i].n_pids])
			requests[i].n_pids++;
	}
	r = resctrl_plan_new(&geometry, requests, n, shareable, ret_plan, error, sizeof(error));
	resctrl_geometry_done(&geometry);
	return r;
}

static inline struct resctrl_plan *plan_for(const struct wish *wishes, size_t n)
{
	struct resctrl_plan *plan = NULL;

	if (plan_of(wishes, n, RESCTRL_SHAREABLE_LAST, &plan) < 0)
		fail_msg("%s", error);
	return plan;
}

static inline int apply(const struct resctrl_plan *plan)
{
	return resctrl_apply(&place, plan, &report, error, sizeof(error));
}

static inline void must_apply(const struct resctrl_plan *plan)
{
	if (apply(plan) < 0)
		fail_msg("%s", error);
	assert_int_equal(fake->rash, 0);
}

static inline void must_revert(void)
{
	if (resctrl_revert(&place, &report, error, sizeof(error)) < 0)
		fail_msg("%s", error);
}

static inline void said(const char *words)
{
	if (!strstr(error, words))
		fail_msg("\"%s\" is not in: %s", words, error);
}

static inline void noted(const char *words)
{
	if (!strstr(report.notes, words))
		fail_msg("\"%s\" is not in: %s", words, report.notes);
}

static inline void is_in(int tid, const char *group, const char *monitor)
{
	struct fake_task *task = fake_task(tid);

	assert_non_null(task);
	assert_string_equal(fake->groups[task->group].name, group);
	assert_string_equal(task->monitor < 0 ? "" : fake->groups[task->monitor].name, monitor);
}

static inline bool journal_there(void)
{
	for (int i = 0; i < FAKE_FILES; i++)
		if (fake->files[i].there && !fake->files[i].directory)
			return true;
	return false;
}

/* What a partition may change, to be compared later. */
struct memory {
	struct fake_group groups[FAKE_GROUPS];
	struct fake_task tasks[FAKE_TASKS];
};

static inline struct memory remember(void)
{
	struct memory memory;

	memcpy(memory.groups, fake->groups, sizeof(memory.groups));
	memcpy(memory.tasks, fake->tasks, sizeof(memory.tasks));
	return memory;
}

static inline void is_as(const struct memory *memory)
{
	assert_memory_equal(memory->groups, fake->groups, sizeof(fake->groups));
	assert_memory_equal(memory->tasks, fake->tasks, sizeof(fake->tasks));
	assert_false(journal_there());
}

static inline void taken_in_memory(const struct resctrl_plan *plan)
{
	for (size_t i = 0; i < plan->n_groups; i++) {
		const char *text = plan->groups[i].schemata;

		assert_int_equal(fake_schemata_write(fake_group_add(plan->groups[i].name, -1), text,
		                         (unsigned)strlen(text)),
		        0);
	}
}

static inline void taken_and_undone(const struct resctrl_plan *plan)
{
	struct memory before = remember();

	if (missing) {
		taken_in_memory(plan);
		return;
	}
	must_apply(plan);
	assert_string_equal(report.notes, "");
	must_revert();
	is_as(&before);
}

#endif

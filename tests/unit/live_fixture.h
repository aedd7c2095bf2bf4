/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_LIVE_FIXTURE_H
#define MTL_TEST_LIVE_FIXTURE_H

/*
 * For tests that need the real kernel: root and BTF, or they are skipped; and a child process that
 * does things when told to.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "pmu.h"
#include "simulate.h"

/* False: what is missing is printed, and the test has to be skipped. */
static inline bool live_possible(void)
{
	const char *missing = geteuid() != 0                                ? "needs root"
	                      : access("/sys/kernel/btf/vmlinux", R_OK) < 0 ? "needs BTF"
	                      : RUNNING_ON_VALGRIND ? "valgrind does not know what BPF writes"
	                                            : NULL;

	if (missing)
		print_message("%s\n", missing);
	return !missing;
}

/* Every page fault of every process, as the stand-in for hardware gives it. */
static inline struct pmu_event live_page_faults(void)
{
	struct pmu_event event = {
	        .name = "page-faults",
	        .kind = PMU_PAGE_FAULTS,
	        .attr =
	                {
	                        .type = PERF_TYPE_SOFTWARE,
	                        .config = PERF_COUNT_SW_PAGE_FAULTS,
	                        .sample_period = 1,
	                        .sample_type = PERF_SAMPLE_ADDR,
	                        .wakeup_events = 1,
	                },
	        .period_step = 1,
	        .least_period = 1,
	};

	memset(&event.cpus, 0xff, sizeof(event.cpus));
	return event;
}

struct live_child {
	pid_t pid;
	int orders, answers;
};

/* Starts a child that calls `act` at every order, and answers what that returns. */
static inline struct live_child live_start(uint64_t (*act)(uint64_t order))
{
	struct live_child child;
	int orders[2], answers[2];
	uint64_t order, answer;

	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(answers), 0);
	child = (struct live_child){.orders = orders[1], .answers = answers[0]};
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		close(orders[1]);
		while (read(orders[0], &order, sizeof(order)) == sizeof(order)) {
			answer = act(order);
			if (write(answers[1], &answer, sizeof(answer)) < 0)
				break;
		}
		_exit(0);
	}
	close(orders[0]);
	close(answers[1]);
	return child;
}

static inline void live_order(const struct live_child *child, uint64_t order)
{
	assert_int_equal(write(child->orders, &order, sizeof(order)), sizeof(order));
}

static inline uint64_t live_answer(const struct live_child *child)
{
	uint64_t answer;

	assert_int_equal(read(child->answers, &answer, sizeof(answer)), sizeof(answer));
	return answer;
}

static inline void live_stop(const struct live_child *child)
{
	close(child->orders);
	waitpid(child->pid, NULL, 0);
	close(child->answers);
}

#endif

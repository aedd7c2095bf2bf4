/* SPDX-License-Identifier: MIT */
/*
 * The stack that the recursion runs on: how much there can be, and what a call takes of it.
 *
 * It is the process's own, which grows as far as its limit. The kernel has left room for the limit
 * there was when the program started, and for 128 MiB in any case: within these the limit is
 * raised. What a call takes is found by the recursion itself, made to believe that it takes
 * nothing, or so much that it is avoided.
 */

#include <errno.h>
#include <sys/resource.h>

#include "stub_run.h"

#define SURE (100 << 20)
#define MARGIN (256 << 10)
#define CALL_MOST 256 /* more than a call takes */
#define STEP 64       /* a multiple of what alloca() takes at once */

struct stub_stack_overhead stub_stack_measure_overhead(void)
{
	static const struct stub_row rows[] = {{.stack_bytes = STEP}};
	static const struct stub_costs costs;
	struct stub_program program = {.rows = rows, .n = 1, .repeat = 1};
	struct stub_stack_overhead overhead = {0};
	struct stub_measure measure = {0};
	struct stub_times times;

	stub_run(&program, &measure, &times);
	overhead.call_bytes = (uint32_t)(measure.stack_bytes - STEP);
	program.costs = &costs;
	program.overhead.stack.call_bytes = UINT32_MAX;
	stub_run(&program, &measure, &times);
	overhead.alloca_bytes = (uint32_t)(measure.stack_bytes - STEP);
	return overhead;
}

uint64_t stub_stack_limit(void)
{
	struct rlimit limit = {0};
	uint64_t most;

	getrlimit(RLIMIT_STACK, &limit);
	most = limit.rlim_max < SURE ? limit.rlim_max : SURE;
	most = limit.rlim_cur > most ? limit.rlim_cur : most;
	return most > MARGIN ? most - MARGIN : 0;
}

int stub_stack_reserve(uint64_t bytes, size_t rows)
{
	uint64_t wanted = bytes + rows * CALL_MOST + MARGIN;
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0)
		return -errno;
	if (limit.rlim_cur >= wanted)
		return 0;
	limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
	return setrlimit(RLIMIT_STACK, &limit) < 0 ? -errno : 0;
}

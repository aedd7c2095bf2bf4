// SPDX-License-Identifier: MIT
/*
 * BPF_ENABLE_STATS has every BPF program of the machine timed, so it is on for fractions of a
 * second only. What it sees is the program and one reading of the clock; what leads to the program
 * at a tracepoint it does not see, and that is half as much again: DISPATCH times what it says is
 * what the target loses (measured in the emulated machine, whose clock counts instructions).
 */
#include "program_cost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#define RUNS_LEAST 8
#define DISPATCH 1.5

static int totals(int program, unsigned long long *ret_runs, unsigned long long *ret_ns)
{
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(program, &info, &size) < 0)
		return -errno;
	*ret_runs = info.run_cnt;
	*ret_ns = info.run_time_ns;
	return 0;
}

int program_cost_begin(int program, struct program_cost *ret_cost)
{
	struct program_cost cost = {.program = program, .fd = bpf_enable_stats(BPF_STATS_RUN_TIME)};
	int r = cost.fd < 0 ? -errno : totals(program, &cost.runs, &cost.ns);

	if (r < 0) {
		program_cost_end(&cost);
		return r;
	}
	*ret_cost = cost;
	return 0;
}

double program_cost_lap(struct program_cost *cost)
{
	unsigned long long runs, ns, more, took;

	if (totals(cost->program, &runs, &ns) < 0)
		return NAN;
	more = runs - cost->runs;
	took = ns - cost->ns;
	cost->runs = runs;
	cost->ns = ns;
	return more >= RUNS_LEAST ? DISPATCH * took / more / 1e9 : NAN;
}

void program_cost_end(struct program_cost *cost)
{
	if (cost->fd >= 0)
		close(cost->fd);
	cost->fd = -1;
}

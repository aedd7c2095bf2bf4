// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Births: page faults of tracked processes, one event per CPU, filtered here.
 *
 * A fault of a tracked process is a page born after watches were armed: it is counted (all) and
 * its address told (of one in fault_period), so that mtld can ask what kind of page it is. A fault
 * in the very page that is being watched means that the watched line has died and another was
 * born at its address: what the watch sees from here on is not the line that was drawn.
 *
 * Whether page faults are address samples besides (address_sample.bpf.c) makes no difference here.
 */
#include "maps.bpf.h"

SEC("perf_event")
int page_birth(struct bpf_perf_event_data *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u64 page = ctx->addr >> MTL_PAGE_SHIFT;
	__u32 index = 0;
	struct mtl_process *process = process_of(id >> 32, &index);
	__u64 before;

	if (!process)
		return 0;
	before = __sync_fetch_and_add(&process->faults, 1);
	if (page == process->watched_page)
		process->reborn = process->sequence;
	if (process->fault_period && before % process->fault_period == 0)
		tell(MTL_LIFE_FAULT, index, id >> 32, id, ctx->addr, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A watched word was touched: the debug exception of a tracked thread, user or kernel mode.
 *
 * The first trap of each slot since arming is delivered, with the process's CPU time, to the ring
 * of this CPU; the armer that waits there preempts the thread and turns the slot off. Later traps
 * of the same slot (bytes of one string instruction in the kernel) only count. Each trap's own
 * measured cost is taken off the clock.
 */
#include "maps.bpf.h"

static __always_inline int slot_of(const struct mtl_process *process, __u64 address)
{
#pragma unroll
	for (int slot = 0; slot < MTL_SLOTS; slot++)
		if (process->slot_address[slot] == address)
			return slot;
	return -1;
}

static __always_inline void take_off_clock(struct mtl_process *process)
{
	__u32 zero = 0;
	struct mtl_costs *cost = bpf_map_lookup_elem(&costs, &zero);

	if (cost)
		__sync_fetch_and_add(&process->clock, -(cost->trap_ns << MTL_CLOCK_SHIFT));
}

static __always_inline void deliver(struct mtl_process *process, __u32 index, int slot, __u64 now)
{
	void *ring = hit_ring_here();
	struct mtl_hit *hit = ring ? bpf_ringbuf_reserve(ring, sizeof(*hit), 0) : NULL;

	if (!hit) {
		__sync_fetch_and_add(&process->lost, 1);
		return;
	}
	hit->clock = mtl_clock_at(process->clock, now);
	hit->process = index;
	hit->sequence = process->sequence;
	hit->slot = slot;
	hit->address = hit->period = 0;
	hit->reborn = process->reborn == process->sequence;
	bpf_ringbuf_submit(hit, BPF_RB_FORCE_WAKEUP);
}

SEC("perf_event")
int watch_hit(struct bpf_perf_event_data *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 index = 0, tgid = bpf_get_current_pid_tgid() >> 32;
	struct mtl_process *process = process_of(tgid, &index);
	int slot;

	if (!process)
		return 1;
	__sync_fetch_and_add(&process->traps, 1);
	slot = slot_of(process, ctx->addr);
	if (slot < 0 || (process->hits & (1U << slot))) {
		__sync_fetch_and_add(&process->stray_traps, 1);
	} else {
		__sync_fetch_and_or(&process->hits, 1U << slot);
		deliver(process, index, slot, now);
	}
	take_off_clock(process);
	return 1;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";

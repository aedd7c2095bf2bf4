/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef MTL_ADDRESS_RING_BPF_H
#define MTL_ADDRESS_RING_BPF_H

/* The way of a sample to mtld: whose it is, and the ring of this CPU, which wakes it when half full. */

#include "maps.bpf.h"

static __always_inline bool deliver(const void *sample, __u64 size)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&address_rings, &cpu);

	return ring && !bpf_ringbuf_output(ring, (void *)sample, size, wake_when_half_full(ring));
}

/* Counts a sample; false: it is none of a tracked process. */
static __always_inline bool is_tracked(struct mtl_event_slot *slot, struct mtl_process *process)
{
	slot->seen++;
	if (!process) {
		slot->foreign++;
		return false;
	}
	__sync_fetch_and_add(&process->samples, 1);
	return true;
}

/* Delivers it, or counts it as lost. */
static __always_inline void deliver_counted(struct mtl_event_slot *slot, const void *sample, __u64 size)
{
	if (deliver(sample, size))
		slot->delivered++;
	else
		slot->lost++;
}

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef MTL_MAPS_BPF_H
#define MTL_MAPS_BPF_H

/*
 * Maps shared by all objects: each object declares them, mtld gives all the same ones
 * (bpf_map__reuse_fd). Rings are one per CPU, so that CPUs never contend for one.
 */

#include "kernel.bpf.h"
#include "event.h"

/* tgid (initial pid namespace) -> index into processes */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MTL_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, __u32);
} tracked SEC(".maps");

/* The same for a glance at every context switch: entry tgid % MTL_DIRECTORY holds the tgid in its lower
 * and the index + 1 in its upper half; 0: nobody there is tracked. Written by mtld. An array is looked
 * up without a call, and nearly always the answer is no. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MTL_DIRECTORY);
	__type(key, __u32);
	__type(value, __u64);
} directory SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MTL_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, struct mtl_process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MTL_CPUS_MAX);
	__type(key, __u32);
	__type(value, struct mtl_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mtl_costs);
} costs SEC(".maps");

/* Rings are one a CPU; those put into these maps may have another size. */
struct cpu_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, MTL_CPUS_MAX);
	__type(key, __u32);
	__array(values, struct cpu_ring);
} hit_rings SEC(".maps");

/* Of address samples; made with the events on that CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, MTL_CPUS_MAX);
	__type(key, __u32);
	__array(values, struct cpu_ring);
} address_rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MTL_EVENTS * MTL_CPUS_MAX);
	__type(key, __u32);
	__type(value, struct mtl_event_slot);
} event_slots SEC(".maps");

/* The events that are counted: kind * MTL_CPUS_MAX + CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, MTL_COUNTERS * MTL_CPUS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MTL_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, struct mtl_counts);
} counts SEC(".maps");

/* Births and deaths of processes and threads, and sampled page faults: for the main loop. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 262144);
} life_ring SEC(".maps");

static __always_inline struct mtl_process *process_at(__u32 index)
{
	return bpf_map_lookup_elem(&processes, &index);
}

/* The tracked process of that tgid, its index in *ret_index; NULL: not tracked. */
static __always_inline struct mtl_process *process_of(__u32 tgid, __u32 *ret_index)
{
	__u32 key = tgid % MTL_DIRECTORY, *index;
	__u64 *entry = bpf_map_lookup_elem(&directory, &key);
	__u64 found = entry ? *entry : 0;

	if (found == 0)
		return NULL;
	if (found != MTL_DIRECTORY_SHARED) {
		*ret_index = (found >> 32) - 1;
		return (__u32)found == tgid ? process_at(*ret_index) : NULL;
	}
	index = bpf_map_lookup_elem(&tracked, &tgid);
	if (!index)
		return NULL;
	*ret_index = *index;
	return process_at(*index);
}

/* The ring that the armer of this CPU waits for, or of the one that stands in for it. */
static __always_inline void *hit_ring_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id(), elsewhere = MTL_CPU_ELSEWHERE;
	void *ring = bpf_map_lookup_elem(&hit_rings, &cpu);

	return ring ? ring : bpf_map_lookup_elem(&hit_rings, &elsewhere);
}

static __always_inline void count_lost(__u32 index)
{
	struct mtl_process *process = process_at(index);

	if (process)
		__sync_fetch_and_add(&process->lost, 1);
}

static __always_inline __u64 wake_when_half_full(void *ring)
{
	__u64 size = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE);

	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) * 2 >= size ? BPF_RB_FORCE_WAKEUP
	                                                              : BPF_RB_NO_WAKEUP;
}

static __always_inline void tell(
        __u32 kind, __u32 index, __u32 tgid, __u32 tid, __u64 address, __u64 wake)
{
	struct mtl_life *life = bpf_ringbuf_reserve(&life_ring, sizeof(*life), 0);

	if (!life) {
		count_lost(index);
		return;
	}
	life->kind = kind;
	life->process = index;
	life->tgid = tgid;
	life->tid = tid;
	life->address = address;
	bpf_ringbuf_submit(life, wake);
}

static __always_inline void tell_life(__u32 kind, __u32 index, struct task_struct *task)
{
	tell(kind, index, task->tgid, task->pid, 0, 0);
}

/* That there is a thread more or less is looked at now and then: some programs start thousands a second. */
static __always_inline void tell_thread(__u32 kind, __u32 index, struct task_struct *task)
{
	tell(kind, index, task->tgid, task->pid, 0, wake_when_half_full(&life_ring));
}

#endif

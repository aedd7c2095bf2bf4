// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Events counted by process, on counters that run on every CPU for whoever runs there: read when a
 * thread of a tracked process is switched in and out, as the process clock is kept.
 *
 * Events on the threads themselves would make the kernel write to the PMU at every switch of a
 * tracked process (about a microsecond for each switch, several in a virtual machine); reading costs a
 * tenth of it, sees every thread from its first instant on, and counts in the very slices of time that
 * CPU time is made of. The counters are then taken on all CPUs, not pinned: others who need one get
 * their turn. In how much of each slice one of ours had its turn is added up beside what it counted,
 * so that a rate is one sum divided by the other and nothing needs scaling.
 *
 * Attached only where there is something to count.
 */
#include "maps.bpf.h"

const volatile __u32 kinds = 0; /* bit mask of the counters there are */

struct reading {
	__u64 value, enabled_ns, running_ns;
};

struct slice {
	__u64 begin_ns; /* 0: no tracked process runs */
	struct reading at[MTL_COUNTERS]; /* as it was then */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slice);
} slices SEC(".maps");

/* All zero: there is none here, or it is in error. */
static __always_inline struct reading read_counter(__u32 kind)
{
	struct bpf_perf_event_value value = {};
	__u64 key = kind * MTL_CPUS_MAX + bpf_get_smp_processor_id();

	if (!(kinds & 1U << kind) ||
		bpf_perf_event_read_value(&counters, key, &value, sizeof(value)) < 0)
		return (struct reading){};
	return (struct reading){value.counter, value.enabled, value.running};
}

/* A counter that was opened, or opened anew, in the middle of the slice says nothing of it. */
static __always_inline void add(struct mtl_counts *its, __u32 kind, const struct reading *from,
	const struct reading *to)
{
	if (!from->enabled_ns || to->enabled_ns < from->enabled_ns || to->value < from->value)
		return;
	__sync_fetch_and_add(&its->value[kind], to->value - from->value);
	__sync_fetch_and_add(&its->running_ns[kind], to->running_ns - from->running_ns);
}

static __always_inline void switch_out(struct slice *slice, __u32 index, __u64 now)
{
	struct mtl_counts *its = bpf_map_lookup_elem(&counts, &index);

	if (!its)
		return;
	__sync_fetch_and_add(&its->cpu_ns, now - slice->begin_ns);
	for (__u32 kind = 0; kind < MTL_COUNTERS; kind++) {
		struct reading to = read_counter(kind);

		add(its, kind, &slice->at[kind], &to);
	}
}

static __always_inline void switch_in(struct slice *slice, __u64 now)
{
	slice->begin_ns = now;
	for (__u32 kind = 0; kind < MTL_COUNTERS; kind++)
		slice->at[kind] = read_counter(kind);
}

/* A slice of a process that ceased to be tracked in it is left out. */
SEC("tp_btf/sched_switch")
int BPF_PROG(process_count, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 zero = 0, before = 0, after = 0;
	struct slice *slice = bpf_map_lookup_elem(&slices, &zero);
	bool was = process_of(prev->tgid, &before), is = process_of(next->tgid, &after);

	if (!slice)
		return 0;
	if (was && slice->begin_ns)
		switch_out(slice, before, bpf_ktime_get_ns());
	slice->begin_ns = 0;
	if (is)
		switch_in(slice, bpf_ktime_get_ns());
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";

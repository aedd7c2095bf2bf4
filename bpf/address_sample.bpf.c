// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Data addresses that tracked processes touched, sampled: the one program for PEBS, for IBS and for
 * the page-fault event that stands in for them. Each event is open on every CPU, for all processes;
 * the cookie it was attached with is its slot, where every sample is counted exactly once:
 *
 *     seen = foreign + zero + kernel + filtered + delivered + lost
 *
 * foreign: the process is not tracked; zero: the sample has no data address (IBS of a micro-op that
 * touched no memory); kernel: an address of the kernel (IBS cannot leave them out); filtered: the
 * event wants misses only and this load is known to have hit; lost: the ring was full, or busy
 * because this program interrupted itself on another event.
 *
 * Since 6.1 a sample says which of its fields the PMU has filled; the others hold whatever was on
 * the stack, the address too. The flags and the level that served the load are not in the context
 * that a program is given, but in the kernel's structure behind it. Where that cannot be read
 * (lockdown) `can_look` is cleared before loading, and the verifier drops the code.
 *
 * A sample known to be a miss may begin a visit to its line (docs/THEORY.md): such a one is told
 * twice, to the ring above like any other and, by lot, to the armer that watches for the visit's end.
 *
 * The ring wakes mtld when it is half full; below that, mtld comes by itself.
 */
#include "address_ring.bpf.h"

const volatile bool can_look = true;

struct sample {
	__u64 address, data_src; /* 0: not known */
};

static __always_inline void look_behind(struct bpf_perf_event_data *ctx, struct sample *sample)
{
	struct bpf_perf_event_data_kern *kern = (void *)ctx;
	struct perf_sample_data *data = NULL;
	union perf_mem_data_src source = {};
	__u64 flags = 0;

	if (!can_look || !bpf_core_field_exists(data->sample_flags))
		return;
	if (bpf_core_read(&data, sizeof(data), &kern->data) ||
	        bpf_core_read(&flags, sizeof(flags), &data->sample_flags))
		return;
	if (!(flags & PERF_SAMPLE_ADDR))
		sample->address = 0;
	if ((flags & PERF_SAMPLE_DATA_SRC) &&
	        !bpf_core_read(&source, sizeof(source), &data->data_src))
		sample->data_src = source.val;
}

static __always_inline bool is_miss(const struct mtl_event_slot *slot, __u64 data_src)
{
	return slot->misses == MTL_MISSES_ALL ||
		(slot->misses == MTL_MISSES_TOLD && mtl_load_missed(data_src));
}

/* Some of them, drawn by lot, go to the armer of this CPU at once: it preempts the thread. */
static __always_inline void begin_visit(struct mtl_process *process, const struct mtl_address *address)
{
	void *ring = hit_ring_here();
	struct mtl_hit *miss = ring ? bpf_ringbuf_reserve(ring, sizeof(*miss), 0) : NULL;

	if (!miss)
		return;
	miss->clock = mtl_clock_at(process->clock, bpf_ktime_get_ns());
	miss->process = address->process;
	miss->sequence = 0;
	miss->slot = MTL_SLOT_MISS;
	miss->reborn = 0;
	miss->address = address->address;
	miss->period = address->period;
	bpf_ringbuf_submit(miss, BPF_RB_FORCE_WAKEUP);
}

static __always_inline void note_miss(struct mtl_process *process, const struct mtl_event_slot *slot,
	const struct mtl_address *address)
{
	__u32 index = address->process;
	struct mtl_counts *its;

	if ((__s64)address->address <= 0 || !is_miss(slot, address->data_src))
		return;
	its = bpf_map_lookup_elem(&counts, &index);
	if (!its)
		return;
	__sync_fetch_and_add(&its->misses, 1);
	if (its->visit_part && bpf_get_prandom_u32() <= its->visit_part)
		begin_visit(process, address);
}

/* Whatever becomes of the sample itself. */
static __always_inline void count_accesses(const struct mtl_event_slot *slot,
	const struct mtl_address *address)
{
	__u32 index = address->process;
	bool addressed = (__s64)address->address > 0;
	struct mtl_counts *its;

	if (slot->accesses == MTL_ACCESSES_NONE ||
		(slot->accesses == MTL_ACCESSES_ADDRESSED && !addressed))
		return;
	its = bpf_map_lookup_elem(&counts, &index);
	if (its)
		__sync_fetch_and_add(&its->sampled, address->period);
}

static __always_inline void take(struct mtl_event_slot *slot, struct mtl_address *address)
{
	if (!address->address)
		slot->zero++;
	else if ((__s64)address->address < 0)
		slot->kernel++;
	else if (slot->misses_only && mtl_load_hit(address->data_src))
		slot->filtered++;
	else
		deliver_counted(slot, address, sizeof(*address));
}

SEC("perf_event")
int address_sample(struct bpf_perf_event_data *ctx)
{
	__u32 index = 0, cookie = bpf_get_attach_cookie(ctx),
	      tgid = bpf_get_current_pid_tgid() >> 32;
	struct mtl_event_slot *slot = bpf_map_lookup_elem(&event_slots, &cookie);
	struct mtl_process *process = process_of(tgid, &index);
	struct sample sample = {.address = ctx->addr};
	struct mtl_address address = {};

	if (!slot || !is_tracked(slot, process))
		return 0;
	look_behind(ctx, &sample);
	address.address = sample.address;
	address.data_src = sample.data_src;
	address.period = ctx->sample_period;
	address.process = index;
	address.tgid = tgid;
	address.event = cookie / MTL_CPUS_MAX;
	count_accesses(slot, &address);
	note_miss(process, slot, &address);
	take(slot, &address);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";

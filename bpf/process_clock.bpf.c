// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The CPU clock of every tracked process, kept at sched_switch.
 *
 * A CPU remembers which tracked process it runs; whatever comes next, that process is switched
 * out first. Switches in and out are therefore always paired, also for processes that begin or
 * cease to be tracked in the middle of a time slice.
 *
 * A thread with watches enabled starts later than the switch says, because its debug registers are
 * loaded after this tracepoint; that measured cost is taken off its clock here. Also here, because
 * a traced thread always passes through it: whether a debugger has come or gone.
 */
#include "maps.bpf.h"

static __always_inline void note_tracer(struct mtl_process *process, __u32 index,
	struct task_struct *task)
{
	__u32 traced = task->ptrace != 0;

	if (traced == process->traced || (__u32)task->tgid != (__u32)task->pid)
		return;
	process->traced = traced;
	tell_life(traced ? MTL_LIFE_TRACED : MTL_LIFE_UNTRACED, index, task);
}

static __always_inline void switch_out(__u32 number, struct task_struct *task, __u64 now)
{
	struct mtl_process *process = process_at(number - 1);

	if (!process)
		return;
	__sync_fetch_and_add(&process->clock, (now << MTL_CLOCK_SHIFT) - 1);
	note_tracer(process, number - 1, task);
}

static __always_inline __u64 switch_cost(const struct mtl_process *process)
{
	__u32 zero = 0, on = process->slots_on;
	struct mtl_costs *cost;

	if (on == 0 || on > MTL_SLOTS)
		return 0;
	cost = bpf_map_lookup_elem(&costs, &zero);
	return cost ? cost->switch_on_ns[on] : 0;
}

static __always_inline void switch_in(struct mtl_process *process, __u32 cpu, __u64 now)
{
	now += switch_cost(process);
	__sync_fetch_and_add(&process->clock, (-now << MTL_CLOCK_SHIFT) + 1);
	__sync_fetch_and_add(&process->switches, 1);
	process->cpu = cpu;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(process_clock, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 id = bpf_get_smp_processor_id(), index = 0;
	struct mtl_cpu *cpu = bpf_map_lookup_elem(&cpus, &id);
	struct mtl_process *process = process_of(next->tgid, &index);
	__u64 now;

	if (!cpu)
		return 0;
	cpu->previous = cpu->current;
	cpu->current = process ? index + 1 : 0;
	if (!cpu->previous && !process)
		return 0;
	now = bpf_ktime_get_ns();
	cpu->previous_runnable = prev->__state == 0;
	if (cpu->previous)
		switch_out(cpu->previous, prev, now);
	if (process)
		switch_in(process, id, now);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";

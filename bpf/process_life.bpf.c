// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Threads of tracked processes as they come and go, exec, and the translation of a process id as
 * mtld sees it (in its own pid namespace) into the id the kernel's events carry.
 */
#include "maps.bpf.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 index = 0;

	if (parent->tgid == child->tgid && process_of(parent->tgid, &index))
		tell_life(MTL_LIFE_THREAD, index, child);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task)
{
	__u32 index = 0;

	if (process_of(task->tgid, &index))
		tell_life(MTL_LIFE_EXEC, index, task);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	__u32 index = 0;

	if (process_of(task->tgid, &index))
		tell_life(MTL_LIFE_EXIT, index, task);
	return 0;
}

/* Read with a filter on the process: one struct mtl_task a thread. */
SEC("iter/task")
int resolve_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct mtl_task ids;

	if (!task)
		return 0;
	ids.tgid = task->tgid;
	ids.tid = task->pid;
	bpf_seq_write(ctx->meta->seq, &ids, sizeof(ids));
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";

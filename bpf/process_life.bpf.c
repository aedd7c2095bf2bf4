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
		tell_thread(MTL_LIFE_THREAD, index, child);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task)
{
	__u32 index = 0;
	struct mtl_process *process = process_of(task->tgid, &index);

	if (!process)
		return 0;
	process->execs++; /* told even where the ring is full */
	tell_life(MTL_LIFE_EXEC, index, task);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	__u32 index = 0;

	if (process_of(task->tgid, &index))
		tell_thread(MTL_LIFE_EXIT, index, task);
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

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD */

/* Whether who reads this is in a pid namespace below the kernel's own. Set before the program is loaded:
 * the verifier then leaves out what is not needed, and a kernel that is locked down (confidentiality)
 * refuses any program that reads kernel memory by that helper. */
const volatile bool nested = false;

/* How the pid namespace of who reads this numbers the process of a task: pids are arrays of unknown
 * length, with an entry a level. */
static __always_inline __u32 number_of(struct task_struct *task)
{
	struct task_struct *reader = bpf_get_current_task_btf();
	struct pid *pid = task->group_leader->thread_pid, *mine = reader->thread_pid;
	struct upid numbered = {};

	if (!nested)
		return task->tgid;
	if (!pid || !mine)
		return 0;
	bpf_probe_read_kernel(&numbered, sizeof(numbered),
	        (const char *)pid + __builtin_preserve_field_info(pid->numbers, 0 /* offset */) +
	                mine->level * sizeof(struct upid));
	return numbered.nr;
}

/* One struct mtl_task_time a thread of user space. */
SEC("iter/task")
int time_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct mtl_task_time time = {};

	if (!task || task->flags & KERNEL_THREAD)
		return 0;
	time.pid = number_of(task);
	time.start_ns = task->group_leader->start_boottime;
	time.cpu_ns = task->se.sum_exec_runtime;
	if (task->tgid == task->pid && task->signal)
		time.cpu_ns += task->signal->sum_sched_runtime;
	bpf_seq_write(ctx->meta->seq, &time, sizeof(time));
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";

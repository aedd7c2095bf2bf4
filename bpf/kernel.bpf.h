/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef MTL_KERNEL_BPF_H
#define MTL_KERNEL_BPF_H

/*
 * The few kernel types the programs read, relocated by CO-RE at load time: only the fields used,
 * in any order. A field that a kernel lacks is tested with bpf_core_field_exists() by its reader.
 */

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct signal_struct {
	unsigned long long sum_sched_runtime; /* of threads that have ended */
};

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level; /* of the innermost namespace; numbers[] has one for each from 0 on */
	struct upid numbers[1];
};

struct task_struct {
	unsigned int __state;
	unsigned int ptrace;
	unsigned int flags;
	int pid;
	int tgid;
	struct sched_entity se;
	__u64 start_boottime;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
};

/* What lies behind the context of a perf_event program. */
struct perf_sample_data {
	__u64 sample_flags; /* PERF_SAMPLE_*: the fields that are filled */
	union perf_mem_data_src data_src;
};

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif

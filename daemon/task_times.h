/* SPDX-License-Identifier: MIT */
#ifndef MTLD_TASK_TIMES_H
#define MTLD_TASK_TIMES_H

#include <stddef.h>
#include "event.h"

struct bpf_program;

/* What that iterator (time_tasks of process_life.bpf.c) tells of all threads; the caller frees. */
int task_times_read(
        const struct bpf_program *program, struct mtl_task_time **ret_times, size_t *ret_n);

#endif

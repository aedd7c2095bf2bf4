/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_RUN_H
#define MTL_CLI_STUB_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stub_file.h"
#include "stub_heap.h"

/* What a step of stack takes beyond what it is for, measured: alloca in a new call of the
 * recursion, and once more in the same one. */
struct stub_stack_overhead {
	uint32_t call_bytes, alloca_bytes;
};

/* What the changes of a point cost, in seconds. */
struct stub_costs {
	double base_seconds;         /* of a point that changes nothing */
	double stack_step_seconds;   /* more stack, on pages that are there */
	double stack_fault_seconds;  /* for each page that is not */
	double heap_step_seconds;    /* another size of the heap, within its pages */
	double heap_break_seconds;   /* the program break moves */
	double heap_fault_seconds;   /* for each new page */
	double heap_release_seconds; /* for each page given back */
	double touch_seconds;        /* for each new byte, on pages that are there */
};

struct stub_overhead {
	struct stub_stack_overhead stack;
	struct stub_heap_overhead heap;
};

struct stub_program {
	const struct stub_row *rows;
	size_t n;
	uint64_t repeat;
	struct stub_overhead overhead;
	const struct stub_costs *costs; /* NULL: neither costs nor overhead are made up for */
};

/* After a row's changes. */
struct stub_measure {
	double seconds;       /* CPU time since the start, but for phases of rows without a time */
	double phase_seconds; /* of the accesses of the row's phase */
	int64_t stack_bytes, heap_bytes;
	double change_seconds; /* of the row's changes of stack and heap */
};

struct stub_times {
	double cpu_seconds, wall_seconds; /* of all that was run */
};

/*
 * Runs the rows. ret_measures: n of them, of the last time they were run. The stack must have room
 * (stub_stack_reserve()). -ENOMEM: memory that was promised is not there.
 */
int stub_run(const struct stub_program *program, struct stub_measure *ret_measures,
        struct stub_times *ret_times);

/* Of the machine code that there is (stub_stack.c). */
struct stub_stack_overhead stub_stack_measure_overhead(void);

/* How much stack can be had; and have so much, and what calls take for so many rows without
 * calibration, as far as it goes. A negative errno of setrlimit(). */
uint64_t stub_stack_limit(void);
int stub_stack_reserve(uint64_t bytes, size_t rows);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The recursive allocate algorithm (Trapp, Meyer and Facchi 2011), calibrated.
 *
 *     wait for the time of the point
 *     more stack:  call this function again, which allocates by alloca() and uses it
 *     less stack:  return, as often as it takes
 *     realloc the heap; use what is new of it; measure; go on with the next point
 *
 * Stack. Heights are bytes below the base, the address of the first call's block when there is
 * nothing in it. A call's block lies lower than its caller's by what it asks for and call_bytes, a
 * second alloca() by what it asks for and alloca_bytes; with these, measured, the height of every
 * block is known before it is made. alloca() comes in grains of 16, so the lowest byte in use is
 * that many bytes into the block as its height is beyond what is wanted, 15 at most, and what is
 * measured is where that byte really is. A rise that is less than a call takes is an alloca() in
 * the call that there is; a fall to between two calls returns to the lower height and rises from
 * there.
 *
 * Time. A row's delay ends when the time of all rows so far is over, less what its changes will
 * cost: an error of one row is made good in the next, only that of the last remains. Not
 * calibrated, each row waits its own time, then changes.
 */

#include "stub_run.h"

#include <alloca.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "cleanup.h"
#include "stub_clock.h"
#include "stub_phase.h"

#define GRAIN 16
#define PAGE_BYTES 4096
#define FILL 0xa5
#define FRAMES 2048     /* of what is called from the recursion, at most */
#define MOVED (4 << 20) /* bytes */
#define MARGIN 1.25     /* changes cost more than usual at times */
#define NANO 1e9

#define NEVER_INLINED __attribute__((noinline, noclone))
#define NOT_WATCHED __attribute__((no_sanitize("address", "undefined")))
#ifdef __clang__
#undef NEVER_INLINED
#define NEVER_INLINED __attribute__((noinline))
#endif

struct run {
	const struct stub_program *program;
	struct stub_measure *measures;
	struct stub_phase *phases; /* one a row */
	struct stub_clock clock;
	struct stub_heap heap;
	uint64_t round;
	size_t row;   /* the one that is being done */
	bool begun;   /* its stack is as it should be before the first row */
	bool settled; /* its changes are done */
	bool over;    /* there is no other */
	int error;
	size_t stack, heap_bytes; /* wanted after this row */
	char *base, *lowest;      /* where the stack begins, its lowest byte in use */
	char *low;                /* lowest address used so far */
	size_t height;            /* of the block that a call is to begin with */
	double due;               /* seconds */
	int64_t phases_ns;        /* of rows without a time */
	int64_t waited, phase_ns; /* when this row's delay was over; its phase took */
};

static bool calibrated(const struct run *run)
{
	return run->program->costs;
}

static size_t call_bytes(const struct run *run)
{
	return calibrated(run) ? run->program->overhead.stack.call_bytes : 0;
}

static size_t grains(size_t bytes)
{
	return (bytes + GRAIN - 1) & ~(size_t)(GRAIN - 1);
}

/* --- time */

static double stack_cost(const struct run *run, const struct stub_costs *costs)
{
	size_t now = (size_t)(run->base - run->lowest), more = run->stack - now;
	uintptr_t end = (uintptr_t)(run->base - run->stack - FRAMES) / PAGE_BYTES;
	uintptr_t low = (uintptr_t)run->low / PAGE_BYTES;
	double pages = end < low ? (double)(low - end) : 0;

	if (run->stack <= now)
		return 0;
	return costs->stack_step_seconds + costs->stack_fault_seconds * pages +
	       costs->touch_seconds * fmax(0, (double)more - pages * PAGE_BYTES);
}

/* One page more than is sure: malloc may begin another. It may also move the block, all of whose
 * pages are then new: up to a size that is taken for granted, beyond it changes would come too
 * early. */
static double heap_cost(const struct run *run, const struct stub_costs *costs)
{
	int64_t pages;

	if (run->heap_bytes == run->heap.bytes)
		return 0;
	pages = stub_heap_pages(&run->heap, run->heap_bytes);
	if (run->heap_bytes > run->heap.bytes && run->heap_bytes <= MOVED)
		pages = (int64_t)(run->heap_bytes / PAGE_BYTES);
	return costs->heap_step_seconds + costs->heap_break_seconds +
	       (run->heap_bytes > run->heap.bytes
	                       ? costs->heap_fault_seconds * (1 + fmax(0, (double)pages))
	                       : costs->heap_release_seconds * (1 + fmax(0, (double)-pages)));
}

static double change_cost(const struct run *run)
{
	const struct stub_costs *costs = run->program->costs;

	return MARGIN * (costs->base_seconds + stack_cost(run, costs) + heap_cost(run, costs));
}

static int64_t now(struct run *run)
{
	return stub_clock_now(&run->clock);
}

static int64_t wait_until(struct run *run, int64_t moment)
{
	int64_t reading;

	do
		reading = now(run);
	while (reading < moment);
	return reading;
}

/* When the row's changes are to be done. */
static int64_t due(const struct run *run)
{
	return run->phases_ns + (int64_t)(run->due * NANO);
}

static void make_accesses(struct run *run, const struct stub_row *row)
{
	int64_t start = now(run);

	stub_phase_run(&run->phases[run->row]);
	run->phase_ns = now(run) - start;
	if (row->seconds == 0)
		run->phases_ns += run->phase_ns;
}

static void pass_time(struct run *run, const struct stub_row *row)
{
	int64_t start = now(run);

	run->phase_ns = 0;
	if (row->pattern != STUB_REST)
		make_accesses(run, row);
	run->due += row->seconds;
	if (calibrated(run))
		run->waited = wait_until(run, due(run) - (int64_t)(change_cost(run) * NANO));
	else
		run->waited = wait_until(run, start + (int64_t)(row->seconds * NANO));
}

/* --- rows */

static size_t sum(size_t total, int64_t change)
{
	return (size_t)((int64_t)total + change);
}

/* The next row, its delay over; false: there is none. */
static NEVER_INLINED bool next(struct run *run)
{
	const struct stub_row *row;

	if (run->begun)
		run->row++;
	run->begun = true;
	if (run->row == run->program->n) {
		run->row = 0;
		run->over = ++run->round == run->program->repeat;
	}
	if (run->over)
		return false;
	row = &run->program->rows[run->row];
	run->stack = sum(run->stack, row->stack_bytes);
	run->heap_bytes = sum(run->heap_bytes, row->heap_bytes);
	pass_time(run, row);
	run->settled = false;
	return true;
}

static void measure(struct run *run)
{
	int64_t changed = now(run), moment = calibrated(run) ? wait_until(run, due(run)) : changed;
	struct stub_measure *measured = &run->measures[run->row];

	*measured = (struct stub_measure){
	        .seconds = (double)(moment - run->phases_ns) / NANO,
	        .phase_seconds = (double)run->phase_ns / NANO,
	        .stack_bytes = run->base - run->lowest,
	        .heap_bytes = stub_heap_taken(&run->heap, &run->program->overhead.heap),
	        .change_seconds = (double)(changed - run->waited) / NANO,
	};
	if (calibrated(run))
		measured->heap_bytes -= stub_heap_extra(&run->heap, &run->program->overhead.heap);
}

/* What is new of the block is used; the frames of calls are between blocks. */
static NEVER_INLINED NOT_WATCHED void use_stack(struct run *run, char *end)
{
	if (run->lowest < end)
		memset(run->lowest, FILL, (size_t)(end - run->lowest));
	if (run->lowest < run->low)
		run->low = run->lowest;
}

/* The row's changes, with the stack down to `block` of so many bytes, which is at that height. */
static NEVER_INLINED NOT_WATCHED void settle(
        struct run *run, char *block, size_t bytes, size_t height)
{
	char *before = run->lowest, *end = block + bytes;
	int r = 0;

	run->settled = true;
	run->lowest = block + (height - run->stack);
	if (!run->begun) {
		run->base = run->lowest;
		return;
	}
	use_stack(run, end < before ? end : before);
	if (run->heap_bytes != run->heap.bytes)
		r = stub_heap_set(
		        &run->heap, run->heap_bytes, &run->program->overhead.heap, calibrated(run));
	measure(run);
	if (r < 0) {
		run->error = r;
		run->over = true;
	}
}

/* A call of the recursion: `bytes` down, to run->height. */
static NEVER_INLINED NOT_WATCHED void allocate(struct run *run, size_t bytes)
{
	char *block = alloca(bytes);
	size_t height = run->height;

	for (;;) {
		if (run->over || (run->settled && !next(run)))
			return;
		if (height >= run->stack + GRAIN)
			return;
		if (height < run->stack && run->stack - height >= call_bytes(run)) {
			size_t further = grains(run->stack - height - call_bytes(run));

			run->height = height + call_bytes(run) + further;
			allocate(run, further);
			continue;
		}
		if (height < run->stack) {
			size_t extra = run->program->overhead.stack.alloca_bytes;

			bytes = run->stack - height;
			bytes = bytes > extra ? grains(bytes - extra) : 0;
			block = alloca(bytes);
			height += bytes + extra;
		}
		settle(run, block, bytes, height);
	}
}

/* Its own call, whose place is the same whatever calls it. */
static NEVER_INLINED void allocate_all(struct run *run)
{
	do {
		run->height = grains(run->stack);
		allocate(run, run->height);
	} while (!run->over);
}

/* --- a whole run */

static int new_phases(const struct stub_program *program, struct stub_phase *phases)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < program->n; i++)
		if (program->rows[i].pattern != STUB_REST)
			r = stub_phase_new(&program->rows[i], i, &phases[i]);
	return r;
}

/* The pages that calls have used are given back, for the next run to begin with none. */
static NOT_WATCHED void release_stack(const struct run *run)
{
	uintptr_t low = (uintptr_t)run->low & ~(uintptr_t)(PAGE_BYTES - 1);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t high = (here & ~(uintptr_t)(PAGE_BYTES - 1)) - 4 * PAGE_BYTES;

	if (low < high)
		madvise((void *)low, high - low, MADV_DONTNEED);
}

int stub_run(const struct stub_program *program, struct stub_measure *ret_measures,
        struct stub_times *ret_times)
{
	_cleanup_free_ struct stub_phase *phases = calloc(program->n, sizeof(*phases));
	struct run run = {.program = program, .measures = ret_measures, .phases = phases};
	int r = phases ? new_phases(program, phases) : -ENOMEM;

	if (r == 0) {
		memset(ret_measures, 0, program->n * sizeof(*ret_measures));
		run.low = __builtin_frame_address(0);
		stub_clock_start(&run.clock);
		allocate_all(&run);
		*ret_times =
		        (struct stub_times){now(&run) / NANO, stub_clock_wall(&run.clock) / NANO};
		stub_heap_set(&run.heap, 0, &program->overhead.heap, false);
		release_stack(&run);
		r = run.error;
	}
	for (size_t i = 0; phases && i < program->n; i++)
		stub_phase_done(&phases[i]);
	return r;
}

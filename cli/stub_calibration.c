/* SPDX-License-Identifier: MIT */
/*
 * Calibration: what the steps of the allocate algorithm take on this machine, by running data files
 * made for it.
 *
 * Bytes are the same at every step and take no time to find out, so they are measured at every
 * start: another build has other calls. Seconds are medians over some runs of many steps, and kept.
 * A step of g pages costs step + break + g fault; from steps of 1 and of 16 pages follow both.
 */

#include "stub_calibration.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "json_fields.h"
#include "option_values.h"
#include "state_directory.h"
#include "stub_clock.h"

#define STATE_NAME "stub-calibration.json"
#define RUNS 5
#define STEPS 16
#define PAGE_BYTES 4096
#define PAGES 16
#define SMALL 256
#define TOUCH_BYTES (256 << 10)
#define MOST_SECONDS 0.1 /* nothing that is measured here takes so long */
#define N(array) (sizeof(array) / sizeof(*(array)))

#define COST(member)                                                                               \
	{                                                                                          \
		.name = #member, .type = FIELD_DOUBLE,                                             \
		.offset = offsetof(struct stub_costs, member)                                      \
	}

static const struct json_field cost_fields[] = {
        COST(base_seconds),
        COST(stack_step_seconds),
        COST(stack_fault_seconds),
        COST(heap_step_seconds),
        COST(heap_break_seconds),
        COST(heap_fault_seconds),
        COST(heap_release_seconds),
        COST(touch_seconds),
};

/* A data file of STEPS changes and as many back again. */
struct trial {
	int64_t stack, heap; /* changes of a step */
	bool back;           /* after each, else after all */
	bool backwards;      /* what is measured is the way back */
};

static bool is_way_back(const struct trial *trial, size_t row)
{
	return trial->back ? row % 2 : row >= STEPS;
}

/* The median of what a step costs, beyond what is measured without any. */
static int try(const struct stub_overhead *overhead, const struct trial *trial, double *ret_seconds)
{
	static const struct stub_costs none;
	struct stub_row rows[2 * STEPS + 2] = {{.heap_bytes = SMALL}};
	struct stub_measure measures[N(rows)];
	double costs[RUNS * STEPS];
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < 2 * STEPS; i++) {
		int sign = is_way_back(trial, i) ? -1 : 1;

		rows[i + 1] = (struct stub_row){
		        .stack_bytes = sign * trial->stack, .heap_bytes = sign * trial->heap};
	}
	rows[2 * STEPS + 1] = (struct stub_row){.heap_bytes = -SMALL};
	for (size_t run = 0; r == 0 && run < RUNS; run++) {
		struct stub_program program = {rows, N(rows), 1, *overhead, &none};
		struct stub_times times;

		r = stub_run(&program, measures, &times);
		for (size_t i = 0; i < 2 * STEPS; i++)
			if (is_way_back(trial, i) == trial->backwards)
				costs[n++] = measures[i + 1].change_seconds;
	}
	if (r == 0)
		*ret_seconds = numbers_quantile(costs, n, 0.5);
	return r;
}

static int touch_cost(double *ret_seconds)
{
	_cleanup_free_ char *block = malloc(TOUCH_BYTES);
	double costs[STEPS];
	struct stub_clock clock;

	if (!block)
		return -ENOMEM;
	memset(block, 1, TOUCH_BYTES);
	stub_clock_start(&clock);
	for (int i = 0; i < STEPS; i++) {
		int64_t start = stub_clock_now(&clock);

		memset(block, i, TOUCH_BYTES);
		__asm__ volatile("" : : "r"(block) : "memory");
		costs[i] = (double)(stub_clock_now(&clock) - start) * 1e-9 / TOUCH_BYTES;
	}
	*ret_seconds = numbers_quantile(costs, STEPS, 0.5);
	return 0;
}

static double above(double value, double part)
{
	return fmax(0, value - part);
}

static int measure_costs(const struct stub_overhead *overhead, struct stub_costs *ret_costs)
{
	static const struct trial trials[] = {
	        {0, 0, true, false},
	        {SMALL, 0, true, false},
	        {PAGES * PAGE_BYTES, 0, false, false},
	        {0, STUB_HEAP_GRAIN, true, false},
	        {0, PAGE_BYTES, false, false},
	        {0, PAGES * PAGE_BYTES, false, false},
	        {0, PAGE_BYTES, false, true},
	        {0, PAGES * PAGE_BYTES, false, true},
	};
	double took[N(trials)], touch = 0;
	struct stub_costs costs;
	int r = touch_cost(&touch);

	for (size_t i = 0; r == 0 && i < N(trials); i++)
		r = try(overhead, &trials[i], &took[i]);
	if (r < 0)
		return r;
	costs = (struct stub_costs){
	        .base_seconds = took[0],
	        .stack_step_seconds = above(took[1], took[0]),
	        .stack_fault_seconds = above(took[2], took[1]) / PAGES,
	        .heap_step_seconds = above(took[3], took[0]),
	        .heap_fault_seconds = above(took[5], took[4]) / (PAGES - 1),
	        .heap_release_seconds = above(took[7], took[6]) / (PAGES - 1),
	        .touch_seconds = touch,
	};
	costs.heap_break_seconds =
	        above(took[4], took[0] + costs.heap_step_seconds + costs.heap_fault_seconds);
	*ret_costs = costs;
	return 0;
}

static bool are_plausible(const struct stub_costs *costs)
{
	bool all = true;

	for (size_t i = 0; i < N(cost_fields); i++) {
		double cost;

		memcpy(&cost, (const char *)costs + cost_fields[i].offset, sizeof(cost));
		all = all && cost >= 0 && cost < MOST_SECONDS;
	}
	return all;
}

static int load_costs(struct stub_costs *ret_costs)
{
	_cleanup_json_ struct json_object *object = NULL;
	struct stub_costs costs;
	char error[128];
	const struct json_place place = {error, sizeof(error), ""};
	int r = state_load(STATE_NAME, &object);

	r = r ?: mtl_json_fields_read(object, cost_fields, N(cost_fields), &costs, &place);
	if (r == 0 && !are_plausible(&costs))
		r = -ERANGE;
	if (r == 0)
		*ret_costs = costs;
	return r;
}

static int costs_to_json(const struct stub_costs *costs, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	int r = object ? 0 : -ENOMEM;

	r = r ?: mtl_json_fields_write(object, cost_fields, N(cost_fields), costs);
	if (r == 0)
		*ret_object = TAKE_PTR(object);
	return r;
}

static int keep_costs(const struct stub_costs *costs, char *ret_path)
{
	_cleanup_json_ struct json_object *object = NULL;
	int r = costs_to_json(costs, &object);

	return r ?: state_save(STATE_NAME, object, ret_path);
}

int stub_calibrate(
        bool fresh, struct stub_calibration *ret_calibration, char *ret_path, int *ret_kept)
{
	struct stub_calibration calibration = {0};
	int r;

	*ret_kept = 0;
	snprintf(ret_path, PATH_MAX, "%s", STATE_NAME);
	state_path(STATE_NAME, ret_path, PATH_MAX);
	calibration.overhead.heap = stub_heap_measure_overhead();
	calibration.overhead.stack = stub_stack_measure_overhead();
	if (fresh || load_costs(&calibration.costs) < 0) {
		r = measure_costs(&calibration.overhead, &calibration.costs);
		if (r < 0)
			return r;
		*ret_kept = keep_costs(&calibration.costs, ret_path);
	}
	*ret_calibration = calibration;
	return 0;
}

static int put_paddings(const struct stub_heap_overhead *overhead, struct json_object *object)
{
	struct json_object *array = json_object_new_array();
	int r = mtl_json_put(object, "heap_padding_bytes", array);

	for (size_t i = 0; r == 0 && i < STUB_HEAP_GRAIN; i++)
		r = mtl_json_append(array, json_object_new_int((int)overhead->padding_bytes[i]));
	return r;
}

int stub_calibration_to_json(
        const struct stub_calibration *calibration, struct json_object **ret_object)
{
	const struct stub_overhead *overhead = &calibration->overhead;
	_cleanup_json_ struct json_object *object = NULL;
	int r = costs_to_json(&calibration->costs, &object);

	r = r ?: mtl_json_put_number(object, "stack_call_bytes", overhead->stack.call_bytes);
	r = r ?: mtl_json_put_number(object, "stack_alloca_bytes", overhead->stack.alloca_bytes);
	r = r ?: mtl_json_put_number(object, "heap_header_bytes", overhead->heap.header_bytes);
	r = r ?: mtl_json_put_number(object, "heap_smallest_bytes", overhead->heap.smallest_bytes);
	r = r ?: put_paddings(&overhead->heap, object);
	if (r == 0)
		*ret_object = TAKE_PTR(object);
	return r;
}

/* SPDX-License-Identifier: MIT */
/*
 * --emit: what else the theory knows of a trace, in one table.
 *
 * An emission names its engine, the options it goes with and its columns, and has a function that
 * fills in a row for a size or window, or all rows of a histogram. Sequences are written by
 * trace_sequences.c.
 */

#include "trace_emissions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define N_KINDS 5 /* of footprints */

DEFINE_CLEANUP(struct mtl_histogram, mtl_histogram_free)

static void row_footprint(const struct emission_input *input, size_t i, double *ret_cells)
{
	struct mtl_profile *profile = input->engine->object;
	double window = input->at.values[i], error = 0;
	bool inside = window <= (double)input->facts->accesses;

	*ret_cells++ = window;
	for (int kind = 0; kind < N_KINDS; kind++) {
		*ret_cells++ = inside ? mtl_profile_footprint(profile, kind, window) : NAN;
		if (inside)
			error = fmax(error, mtl_profile_footprint_error(profile, kind, window));
	}
	*ret_cells = inside ? error : NAN;
}

static void row_fill_time(const struct emission_input *input, size_t i, double *ret_cells)
{
	*ret_cells++ = input->at.values[i];
	for (int kind = 0; kind < N_KINDS; kind++)
		*ret_cells++ = mtl_profile_fill_time(input->engine->object, kind, input->lines[i]);
}

static void row_aet(const struct emission_input *input, size_t i, double *ret_cells)
{
	struct mtl_profile *profile = input->engine->object;

	ret_cells[0] = input->at.values[i];
	ret_cells[1] = mtl_profile_eviction_time(profile, input->lines[i]);
	ret_cells[2] = mtl_miss_ratio_by_eviction_time(profile, input->lines[i]);
}

static void row_inter_miss(const struct emission_input *input, size_t i, double *ret_cells)
{
	ret_cells[0] = input->at.values[i];
	ret_cells[1] = mtl_inter_miss_time(input->ratios[i]);
	ret_cells[2] = input->ratios[i];
}

static void row_residence(const struct emission_input *input, size_t i, double *ret_cells)
{
	ret_cells[0] = input->at.values[i];
	ret_cells[1] = mtl_residence_time(input->lines[i], input->ratios[i]);
	ret_cells[2] = input->ratios[i];
}

static void row_easton_fagin(const struct emission_input *input, size_t i, double *ret_cells)
{
	ret_cells[0] = input->at.values[i];
	ret_cells[1] = input->times[i];
	ret_cells[2] = input->ratios[i];
}

static int bins_as_rows(const struct mtl_histogram *histogram, struct trace_numbers *numbers)
{
	size_t n = mtl_histogram_bins(histogram, NULL, 0);
	_cleanup_free_ struct mtl_bin *bins = calloc(n + 1, sizeof(*bins));

	numbers->cells = calloc(n + 1, numbers->n_columns * sizeof(double));
	if (!bins || !numbers->cells)
		return -ENOMEM;
	mtl_histogram_bins(histogram, bins, n);
	numbers->n_rows = n;
	numbers->infinite = (double)mtl_histogram_infinite(histogram);
	for (size_t i = 0; i < n; i++) {
		double *cells = &numbers->cells[i * numbers->n_columns];

		cells[0] = (double)bins[i].low;
		cells[1] = (double)bins[i].high;
		cells[2] = (double)bins[i].count;
		cells[3] = bins[i].mean;
	}
	return 0;
}

static int all_reuse_times(const struct emission_input *input, struct trace_numbers *numbers)
{
	return bins_as_rows(mtl_profile_reuse_times(input->engine->object), numbers);
}

static int all_reuse_distances(const struct emission_input *input, struct trace_numbers *numbers)
{
	_cleanup_(mtl_histogram_freep) struct mtl_histogram *histogram = NULL;
	const struct mtl_stack *stack = input->engine->object;
	uint64_t distinct = mtl_stack_distinct(stack);
	int r = mtl_histogram_new(&histogram);

	if (r < 0)
		return r;
	mtl_histogram_add(histogram, MTL_NEVER, distinct);
	for (uint64_t d = 1; d <= distinct; d++) {
		uint64_t count = mtl_stack_count(stack, d);

		if (count)
			mtl_histogram_add(histogram, d, count);
	}
	return bins_as_rows(histogram, numbers);
}

#define KIND_COLUMNS "xiang", "additive", "incremental", "denning_schwartz", "steady_state"
#define SEQUENCE(name, which)                                                                      \
	{                                                                                          \
		name, ROWS_SEQUENCE, false, ENGINE_LINES, which, {NULL}, NULL, NULL                \
	}
#define HISTOGRAM(name, engine, all)                                                               \
	{                                                                                          \
		name, ROWS_HISTOGRAM, false, engine, 0, {"low", "high", "count", "mean"}, NULL,    \
		        all                                                                        \
	}
#define BY_SIZE(name, by_method, row, ...)                                                         \
	{                                                                                          \
		name, ROWS_SIZES, by_method, ENGINE_PROFILE, 0, {"size_bytes", __VA_ARGS__}, row,  \
		        NULL                                                                       \
	}

static const struct trace_emission emissions[] = {
        SEQUENCE("ai", SEQUENCE_AI),
        SEQUENCE("rt", SEQUENCE_RT),
        SEQUENCE("rd", SEQUENCE_RD),
        SEQUENCE("pd-rt", SEQUENCE_PD_RT),
        SEQUENCE("pd-rd", SEQUENCE_PD_RD),
        HISTOGRAM("rt-hist", ENGINE_PROFILE, all_reuse_times),
        HISTOGRAM("rd-hist", ENGINE_STACK, all_reuse_distances),
        {"footprint", ROWS_WINDOWS, false, ENGINE_PROFILE, 0, {"window", KIND_COLUMNS, "error"},
                row_footprint, NULL},
        BY_SIZE("fill-time", false, row_fill_time, KIND_COLUMNS),
        BY_SIZE("aet", false, row_aet, "eviction_time", "miss_ratio"),
        BY_SIZE("inter-miss", true, row_inter_miss, "inter_miss_time", "miss_ratio"),
        BY_SIZE("residence", true, row_residence, "residence_time", "miss_ratio"),
        BY_SIZE("easton-fagin", true, row_easton_fagin, "fill_time", "miss_ratio"),
};

#define N_EMISSIONS (sizeof(emissions) / sizeof(emissions[0]))

int trace_emission_parse(const char *text, const struct trace_emission **ret_emission,
        char *ret_error, size_t error_size)
{
	int n;

	for (size_t i = 0; i < N_EMISSIONS; i++) {
		if (strcmp(emissions[i].name, text) == 0) {
			*ret_emission = &emissions[i];
			return 0;
		}
	}
	n = snprintf(ret_error, error_size, "'%.60s' cannot be emitted; there are", text);
	for (size_t i = 0; i < N_EMISSIONS && n >= 0 && (size_t)n < error_size; i++)
		n += snprintf(ret_error + n, error_size - (size_t)n, "%s %s", i ? "," : "",
		        emissions[i].name);
	return -EINVAL;
}

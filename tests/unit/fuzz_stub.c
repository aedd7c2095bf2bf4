/* SPDX-License-Identifier: MIT */
/*
 * Any text as a data file of `mtl stub`: refused with a place, or rows whose sums keep within what
 * the check says, and whose curve never rises.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../../cli/stub_file.h"
#include "../../cli/stub_truth.h"

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_rows(const struct stub_file *file)
{
	for (size_t i = 0; i < file->n; i++) {
		const struct stub_row *row = &file->rows[i];

		require(row->seconds >= 0 && row->seconds <= 1e6);
		require(row->pattern != STUB_REST ||
		        !(row->working_set_bytes || row->stride_bytes || row->repeats));
		require(row->pattern == STUB_REST ||
		        (row->working_set_bytes >= 64 && row->repeats));
		require(row->working_set_bytes % 64 == 0 && row->stride_bytes % 8 == 0);
	}
}

static void check_needs(const struct stub_file *file)
{
	static const struct stub_limits limits = {1 << 20, 1 << 24};
	struct stub_needs needs;
	char error[128] = "";
	int r = stub_file_check(file, 2, &limits, &needs, error, sizeof(error));

	require(r == 0 || (r == -ERANGE && *error));
	if (r == 0)
		require(needs.stack_bytes <= limits.stack_bytes &&
		        needs.stack_bytes + needs.heap_bytes + needs.working_set_bytes <=
		                limits.memory_bytes);
}

static void check_truth(const struct stub_file *file)
{
	struct stub_truth *truth = NULL;
	double before = INFINITY, distinct;
	int r = stub_truth_new(file, 3, &truth);

	require(r == 0 || ((r == -ENODATA || r == -ERANGE || r == -EDOM) && !truth));
	if (r < 0)
		return;
	distinct = stub_truth_distinct(truth);
	for (double lines = 1; lines < 1e12; lines = ceil(lines * 1.3)) {
		double misses = stub_truth_misses(truth, lines);

		require(misses <= before * (1 + 1e-6) && misses >= distinct * (1 - 1e-6));
		require(misses <= stub_truth_accesses(truth) * (1 + 1e-6));
		before = misses;
	}
	stub_truth_free(truth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stub_file file = {0};
	char error[256] = "", *text = malloc(size + 1);
	int r;

	memcpy(text, data, size);
	text[size] = '\0';
	r = stub_file_parse(text, size, &file, error, sizeof(error));
	require(r == 0 || (r == -EBADMSG && *error && !file.rows));
	if (r == 0) {
		require(file.n > 0);
		check_rows(&file);
		check_needs(&file);
		check_truth(&file);
	}
	stub_file_done(&file);
	free(text);
	return 0;
}

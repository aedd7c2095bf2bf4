/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace of unknown format, compressed or not: refused with a sentence or read. What
 * is read must be read again, the same way, when it is compressed here (the first byte picks how)
 * and when its format is given.
 */

#include "trace_fixture.h"
#include "trace_source.h"

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void require_same(const struct trace_result *a, const struct trace_result *b)
{
	require(a->r == b->r);
	if (a->r < 0)
		return;
	require(a->format == b->format && a->n == b->n && a->skipped == b->skipped);
	require(a->n == 0 || !memcmp(a->accesses, b->accesses, a->n * sizeof(*a->accesses)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int filters[] = {
	        ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_LZ4};
	_cleanup_(trace_bytes_done) struct trace_bytes packed = {0};
	_cleanup_(trace_result_done) struct trace_result result = {0}, again = {0};
	int filter;

	if (size < 2)
		return 0;
	filter = filters[*data++ % 4];
	size--;
	result = trace_result_of(data, size, TRACE_GUESS, 1 << 20, 4096);
	require((result.r < 0) == !!*result.error);
	if (result.r == 0 && result.n > 0) {
		again = trace_result_of(data, size, result.format, 1 << 20, 4096);
		require_same(&result, &again);
		trace_result_done(&again);
	}
	if (trace_source_compression(data, size) || filter == ARCHIVE_FILTER_NONE)
		return 0;
	trace_bytes_compress(&packed, data, size, filter);
	again = trace_result_of(packed.bytes, packed.n, TRACE_GUESS, 1 << 20, 4096);
	require_same(&result, &again);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a binary trace; the first one picks u64 or oracle. Unless they begin like something
 * compressed, every whole record is one access, in order, and a part of one is an error.
 */

#include "trace_fixture.h"
#include "trace_source.h"

static void require(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t sizes[] = {8, 24}, offsets[] = {0, 4};
	_cleanup_(trace_result_done) struct trace_result result = {0};
	unsigned which;

	if (size < 1)
		return 0;
	which = *data++ % 2;
	size--;
	result = trace_result_of(data, size, which ? TRACE_ORACLE : TRACE_U64, 0, 1 + size % 100);
	require((result.r < 0) == !!*result.error);
	if (trace_source_compression(data, size))
		return 0;
	require((result.r < 0) == (size % sizes[which] != 0));
	require(result.r < 0 || result.n == size / sizes[which]);
	for (size_t i = 0; i < result.n; i++) {
		uint64_t address = 0;
		for (unsigned byte = 8; byte-- > 0;)
			address = address << 8 | data[i * sizes[which] + offsets[which] + byte];
		require(result.accesses[i].address == address && result.accesses[i].size == 1 &&
		        result.accesses[i].kind == TRACE_LOAD);
	}
	return 0;
}

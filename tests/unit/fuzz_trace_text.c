/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace in text; the first one picks lackey, perf script or tokens. It is refused
 * with a sentence or read, in the same way however large the batches; every access is one that can
 * be. What was read of lackey is written again and read back, what was read of tokens is compared
 * with the words one finds by looking.
 */

#include "trace_fixture.h"

#define TOKENS_MOST 200

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_accesses(const struct trace_result *result)
{
	for (size_t i = 0; i < result->n; i++) {
		const struct trace_access *access = &result->accesses[i];
		require(access->size >= 1 && access->size <= 65536);
		require(access->address <= UINT64_MAX - (access->size - 1));
		require(access->kind <= TRACE_INSTRUCTION);
	}
}

static void check_again(const struct trace_result *result, const uint8_t *data, size_t size,
        enum trace_format format)
{
	_cleanup_(trace_result_done) struct trace_result again =
	        trace_result_of(data, size, format, 0, 1 + size % 7);

	require(again.r == result->r && !strcmp(again.error, result->error));
	require(again.r < 0 || again.skipped == result->skipped);
	require(again.r < 0 || again.n == result->n);
	for (size_t i = 0; i < again.n && again.r == 0; i++)
		require(!memcmp(&again.accesses[i], &result->accesses[i], sizeof(*again.accesses)));
}

/* Loads and stores apart, as an M comes back. */
static void check_lackey(const struct trace_result *result)
{
	static const char *const prefixes[] = {" L ", " S ", "I  "};
	_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
	_cleanup_(trace_result_done) struct trace_result again = {0};

	for (size_t i = 0; i < result->n; i++)
		trace_bytes_print(&bytes, "%s%08llx,%u\n", prefixes[result->accesses[i].kind],
		        (unsigned long long)result->accesses[i].address, result->accesses[i].size);
	again = trace_result_of(bytes.bytes, bytes.n, TRACE_LACKEY, 0, 4096);
	require(again.r == 0 && again.n == result->n);
	for (size_t i = 0; i < again.n; i++)
		require(!memcmp(&again.accesses[i], &result->accesses[i], sizeof(*again.accesses)));
}

static void check_tokens(const struct trace_result *result, const uint8_t *data, size_t size)
{
	static const char blanks[] = " \t\n\v\f\r";
	const char *words[TOKENS_MOST], *text = (const char *)data, *end = text + size;
	size_t lengths[TOKENS_MOST], n = 0;

	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	while (n < TOKENS_MOST) {
		while (text < end && *text && strchr(blanks, *text))
			text++;
		if (text == end)
			break;
		words[n] = text;
		while (text < end && !strchr(blanks, *text))
			text++;
		lengths[n] = (size_t)(text - words[n]);
		n++;
	}
	require(n == TOKENS_MOST ? result->n >= n : result->n == n);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			require((result->accesses[i].address == result->accesses[j].address) ==
			        (lengths[i] == lengths[j] &&
			                !memcmp(words[i], words[j], lengths[i])));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum trace_format formats[] = {TRACE_LACKEY, TRACE_PERF_SCRIPT, TRACE_TOKENS};
	_cleanup_(trace_result_done) struct trace_result result = {0};
	enum trace_format format;

	if (size < 1)
		return 0;
	format = formats[*data++ % 3];
	size--;
	result = trace_result_of(data, size, format, 0, 4096);
	require((result.r < 0) == !!*result.error);
	check_accesses(&result);
	check_again(&result, data, size, format);
	if (result.r == 0 && format == TRACE_LACKEY)
		check_lackey(&result);
	if (result.r == 0 && format == TRACE_TOKENS)
		check_tokens(&result, data, size);
	return 0;
}

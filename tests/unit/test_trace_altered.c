/* SPDX-License-Identifier: MIT */
/*
 * Traces that went through editors, other systems and other programs: the same accesses, whatever
 * blanks and line ends they came back with.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace_fixture.h"

#define RECORDS 3000

static const char letters[] = "LSMI";
static const uint32_t kinds[] = {TRACE_LOAD, TRACE_STORE, TRACE_LOAD, TRACE_INSTRUCTION};

static const struct {
	const char *before, *between, *end;
} alterations[] = {
        {" ", " ", "\r\n"},
        {"", " ", "\n"},
        {"", "\t", "\r\n"},
        {"      ", "      ", " \n"},
        {"\t", "  ", "\t \r\n"},
};

#define N_ALTERATIONS (sizeof(alterations) / sizeof(alterations[0]))

/* Returns the number of accesses. */
static size_t add_altered(
        struct trace_bytes *bytes, struct trace_access *accesses, size_t how, uint64_t seed)
{
	size_t n = 0;

	for (int i = 0; i < RECORDS; i++) {
		size_t which = trace_random(&seed) % 4;
		uint64_t address = trace_random(&seed) % 0x100000000;
		uint32_t size = (uint32_t)(1 + trace_random(&seed) % 64);

		if (i % 100 == 0)
			trace_bytes_print(bytes, "==1== said by valgrind%s%s", alterations[how].end,
			        alterations[how].end);
		trace_bytes_print(bytes, "%s%c%s%llx,%u%s", alterations[how].before, letters[which],
		        alterations[how].between, (unsigned long long)address, size,
		        alterations[how].end);
		accesses[n++] = (struct trace_access){address, size, kinds[which]};
		if (letters[which] == 'M')
			accesses[n++] = (struct trace_access){address, size, TRACE_STORE};
	}
	return n;
}

static void expect_same(
        const struct trace_result *result, const struct trace_access *accesses, size_t n)
{
	assert_string_equal(result->error, "");
	assert_int_equal(result->format, TRACE_LACKEY);
	assert_int_equal(result->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(result->accesses[i].address, accesses[i].address);
		assert_int_equal(result->accesses[i].size, accesses[i].size);
		assert_int_equal(result->accesses[i].kind, accesses[i].kind);
	}
}

static void lackey_with_other_blanks(void **state)
{
	static struct trace_access accesses[2 * RECORDS];
	static const size_t mosts[] = {1, 7, 4096};

	(void)state;
	for (size_t how = 0; how < N_ALTERATIONS; how++) {
		_cleanup_(trace_bytes_done) struct trace_bytes bytes = {0};
		size_t n = add_altered(&bytes, accesses, how, 5 + how);

		for (size_t m = 0; m < 3; m++) {
			_cleanup_(trace_result_done) struct trace_result result =
			        trace_result_of(bytes.bytes, bytes.n, TRACE_GUESS, 0, mosts[m]);

			expect_same(&result, accesses, n);
		}
	}
}

/* No line end at the end, where there is a carriage return. */
static void lackey_without_its_last_line_end(void **state)
{
	static const struct trace_access accesses[] = {
	        {0x1000, 4, TRACE_LOAD}, {0x2000, 8, TRACE_STORE}};
	static const char *const texts[] = {" L 1000,4\r\n S 2000,8\r", "L 1000,4\nS 2000,8",
	        " L 1000,4\r\n\r\n S 2000,8 \r\n \r\n\r"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_(trace_result_done) struct trace_result result =
		        trace_result_of(texts[i], strlen(texts[i]), TRACE_GUESS, 0, 4096);

		expect_same(&result, accesses, 2);
	}
}

/* perf's own lines keep their rule; a line that is 0x and digits is what it says. */
static void addresses_by_themselves(void **state)
{
	static const char text[] = "0x7f1000\n0X1\r\n  0x00007fFF00001000\n0xffffffffffffffff\n"
	                           "1000\n0x\n0x10000000000000000\n0x10 0x20\n";
	static const uint64_t addresses[] = {0x7f1000, 1, 0x7fff00001000, UINT64_MAX};
	_cleanup_(trace_result_done) struct trace_result result =
	        trace_result_of(text, strlen(text), TRACE_PERF_SCRIPT, 0, 4096);

	(void)state;
	assert_string_equal(result.error, "");
	assert_int_equal(result.n, 4);
	assert_int_equal(result.skipped, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(result.accesses[i].address, addresses[i]);
}

static void perf_with_carriage_returns(void **state)
{
	static const char text[] = "    557f7ec6e5c0\r\n    7f2e8f867110\r\n";
	_cleanup_(trace_result_done) struct trace_result result =
	        trace_result_of(text, strlen(text), TRACE_GUESS, 0, 4096);

	(void)state;
	assert_int_equal(result.format, TRACE_PERF_SCRIPT);
	assert_int_equal(result.n, 2);
	assert_int_equal(result.accesses[1].address, 0x7f2e8f867110);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(lackey_with_other_blanks),
	        cmocka_unit_test(lackey_without_its_last_line_end),
	        cmocka_unit_test(addresses_by_themselves),
	        cmocka_unit_test(perf_with_carriage_returns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

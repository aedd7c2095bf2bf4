/* SPDX-License-Identifier: MIT */
/*
 * Guesses that could go wrong without a word: text with a damaged byte, text of other encodings,
 * traces of valgrind among a program's output, binary content that looks like something else.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace_fixture.h"

static void expect(const void *bytes, size_t n, enum trace_format format, size_t accesses)
{
	_cleanup_(trace_result_done) struct trace_result result =
	        trace_result_of(bytes, n, TRACE_GUESS, 0, 4096);

	assert_string_equal(result.error, "");
	assert_int_equal(result.format, format);
	assert_int_equal(result.n, accesses);
}

static void expect_refused(const void *bytes, size_t n, const char *what)
{
	_cleanup_(trace_result_done) struct trace_result result =
	        trace_result_of(bytes, n, TRACE_GUESS, 0, 4096);

	assert_true(result.r < 0);
	if (!strstr(result.error, what))
		fail_msg("'%s' is not in '%s'", what, result.error);
}

/* At each length, so at those that divide by 8 too. */
static void a_control_character_in_text(void **state)
{
	static const char odd[] = {0, 1, 0x1b, 0x7f};

	(void)state;
	for (size_t n = 8; n < 200; n++) {
		char text[200], what[64];

		for (size_t i = 0; i < n; i++)
			text[i] = i % 7 == 3 ? '\n' : (char)('a' + i % 26);
		expect(text, n, TRACE_TOKENS, (n - 4) / 7 + 1 + ((n - 4) % 7 != 0));
		text[n / 2] = odd[n % 4];
		snprintf(what, sizeof(what), "line %zu: byte 0x%02x is binary, not tokens",
		        1 + (n / 2 + 3) / 7, odd[n % 4]);
		expect_refused(text, n, what);
	}
	expect_refused("\xd1\x8f \xd1\x8f\n\xd1\x8f \xd1\0\xd1\x8f \xd1\x8f\n", 16, "line 2");
}

static void text_of_other_encodings(void **state)
{
	static const char little[] = "\xff\xfe"
	                             "a\0b\0\n\0c\0d\0\n\0e";
	static const char big[] = "\xfe\xff\0a\0b\0\n\0c\0d\0\n\0e\0f";
	static const char marked[] = "\xef\xbb\xbf"
	                             " L 1000,4\n S 2000,4\n";
	static const char names[] = "\xef\xbb\xbf"
	                            "a b a";

	(void)state;
	expect_refused(little, 16, "iconv -f UTF-16 <");
	expect_refused(big, 16, "iconv -f UTF-16 <");
	expect_refused(little + 2, 12, "iconv -f UTF-16LE <");
	expect_refused(big + 2, 16, "iconv -f UTF-16BE <");
	expect(marked, sizeof(marked) - 1, TRACE_LACKEY, 2);
	expect(names, sizeof(names) - 1, TRACE_TOKENS, 3);
	expect("\xf0\xee\xe4 \xe4\xee\xed\n", 8, TRACE_TOKENS, 2); /* KOI8 */
}

/* Programs of today lie at 0x5555'5555'4000, which is "@UUUU" in part. */
static void addresses_are_hardly_text(void **state)
{
	uint64_t addresses[64];

	(void)state;
	for (size_t i = 0; i < 64; i++)
		addresses[i] = UINT64_C(0x555555554040) + 0x101 * i % 0x2f2f;
	expect(addresses, sizeof(addresses), TRACE_U64, 64);
	expect(addresses, 8, TRACE_U64, 1);
	memset(addresses, 0xff, sizeof(addresses));
	for (size_t n = 1; n < 20; n++)
		expect(addresses, 8 * n, TRACE_U64, n);
	expect_refused(addresses, 71, "cannot tell the format");
	for (size_t i = 0; i < 64; i++)
		addresses[i] = INT64_MAX;
	for (size_t n = 1; n < 20; n++)
		expect(addresses, 8 * n, TRACE_U64, n);
}

static void never_is_no_proof(void **state)
{
	static const uint64_t same[] = {
	        1, 2, UINT64_MAX, 1, 2, UINT64_MAX, 1, 2, UINT64_MAX, 1, 2, UINT64_MAX};
	static const uint64_t two[] = {1, 2, UINT64_MAX, 1, 3, UINT64_MAX};

	(void)state;
	expect(same, sizeof(same), TRACE_U64, 12);
	expect(same, 24, TRACE_U64, 3);
	expect(same, 48, TRACE_U64, 6);
	expect(two, sizeof(two), TRACE_ORACLE, 2);
}

static void lackey_among_other_output(void **state)
{
	static const char *const texts[] = {
	        "==77== Lackey, an example Valgrind tool\nhello world\nhow are you\nI am well\n"
	        "and you\n L 1000,4\n",
	        "==77== Lackey, an example Valgrind tool\nhello world\n",
	        "hello\nworld\nnow\n L 1000,4\n S 1000,4\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect_refused(texts[i], strlen(texts[i]),
		        "keep its output apart with valgrind --log-file");
	expect_refused("\tL 0x1000,4\n L 0x1010,8\r\n", 25, "line 1: the address is no");
	expect("==77== \n==77== Command: ls\n", 27, TRACE_LACKEY, 0);
	expect("== a\n-- b\n=3= =3=\nL 1\nL 2,\n", 27, TRACE_TOKENS, 10);
	expect("L M I S\nL 10 4\n", 15, TRACE_TOKENS, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_control_character_in_text),
	        cmocka_unit_test(text_of_other_encodings),
	        cmocka_unit_test(addresses_are_hardly_text),
	        cmocka_unit_test(never_is_no_proof),
	        cmocka_unit_test(lackey_among_other_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

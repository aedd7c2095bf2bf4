/* SPDX-License-Identifier: MIT */
/*
 * What comes from outside and goes to a terminal: control characters do not, names keep their end.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <string.h>

#include "../../cli/terminal.h"

static void expect_shown(const char *text, const char *shown)
{
	char copy[64];

	strcpy(copy, text);
	make_showable(copy);
	assert_string_equal(copy, shown);
}

static void what_has_no_picture_is_not_shown(void **state)
{
	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	expect_shown("", "");
	expect_shown("plain 'text'", "plain 'text'");
	expect_shown("\x1b[31mred\a\n\t\r\x7f", "?[31mred?????");
	expect_shown("caf\xc3\xa9 \xe4\xb8\xad", "caf\xc3\xa9 \xe4\xb8\xad");
	expect_shown("csi \xc2\x9b", "csi ??");       /* the same as ESC [ */
	expect_shown("\xff \xc3 \xe4\xb8", "? ? ??"); /* not UTF-8 */
	setlocale(LC_CTYPE, "C");
	expect_shown("caf\xc3\xa9\x1b", "caf???");
}

static void a_name_is_cut_between_characters(void **state)
{
	char text[8];

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_string_equal(printable("caf\xc3\xa9\n", text, sizeof(text)), "caf\xc3\xa9?");
	assert_string_equal(printable("\xe4\xb8\xad\xe4\xb8\xad\xe4", text, sizeof(text)),
	        "\xe4\xb8\xad\xe4\xb8\xad?");
	assert_string_equal(printable("12345\xc3\xa9", text, sizeof(text)), "12345\xc3\xa9");
	assert_string_equal(printable("123456\xc3\xa9", text, sizeof(text)), "123456");
	setlocale(LC_CTYPE, "C");
	assert_string_equal(printable("caf\xc3\xa9", text, sizeof(text)), "caf??");
}

static void expect_fits(const char *text, int columns, size_t bytes, int used)
{
	int n = -1;

	assert_int_equal(fit_columns(text, columns, &n), bytes);
	assert_int_equal(n, used);
}

static void characters_take_one_column_or_two_or_none(void **state)
{
	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	expect_fits("", 5, 0, 0);
	expect_fits("abc", 5, 3, 3);
	expect_fits("abc", 2, 2, 2);
	expect_fits("caf\xc3\xa9!", 4, 5, 4);
	expect_fits("\xe4\xb8\xad\xe4\xb8\xad", 3, 3, 2);
	expect_fits("e\xcc\x81x", 1, 3, 1); /* an accent of its own */
	expect_fits("\xff\xff", 1, 1, 1);
	setlocale(LC_CTYPE, "C");
}

static void a_long_name_keeps_its_end(void **state)
{
	char shown[16];

	(void)state;
	assert_string_equal(show_name("123456789012345", shown, sizeof(shown)), "123456789012345");
	assert_string_equal(show_name("1234567890123456", shown, sizeof(shown)), "1234...90123456");
	assert_string_equal(
	        show_name("/tmp/a/b/c/\x1b.trace", shown, sizeof(shown)), "/tmp.../?.trace");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_has_no_picture_is_not_shown),
	        cmocka_unit_test(a_name_is_cut_between_characters),
	        cmocka_unit_test(characters_take_one_column_or_two_or_none),
	        cmocka_unit_test(a_long_name_keeps_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

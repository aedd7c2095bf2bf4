/* SPDX-License-Identifier: MIT */
/*
 * Sizes, times and process numbers: what is read, what is refused and with which words, what is
 * printed, and that what is printed can be read again.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../cli/size.h"

#define KI 1024.0
#define MI (KI * KI)

static const struct {
	const char *text;
	double bytes;
} good_sizes[] = {
        {"1", 1},
        {"4096", 4096},
        {"512K", 512 * KI},
        {"512k", 512 * KI},
        {"512KiB", 512 * KI},
        {"512 KB", 512 * KI},
        {"1.5M", 1.5 * MI},
        {"8 MB", 8 * MI},
        {".5M", 0.5 * MI},
        {"2G", 2 * KI *MI},
        {"1T", MI *MI},
        {"64B", 64},
        {"1.41K", 1444},
        {"2.0", 2},
        {"0.0625K", 64},
};

static const char *const bad_sizes[] = {"", " ", "K", ".", "12Q", "-1", "+1", "0x10", "inf", "nan",
        "1e6", "1,5M", "1.5.5M", "1M ", "1MM", "ten"};

static void sizes_are_read(void **state)
{
	char error[256];
	double bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(good_sizes) / sizeof(good_sizes[0]); i++) {
		assert_int_equal(size_parse(good_sizes[i].text, &bytes, error, sizeof(error)), 0);
		assert_float_equal(bytes, good_sizes[i].bytes, 1e-9);
	}
}

static void what_is_no_size_is_refused(void **state)
{
	char error[256];
	double bytes = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(bad_sizes) / sizeof(bad_sizes[0]); i++) {
		char quoted[64];

		snprintf(quoted, sizeof(quoted), "'%s'", bad_sizes[i]);
		assert_int_equal(size_parse(bad_sizes[i], &bytes, error, sizeof(error)), -EINVAL);
		assert_non_null(strstr(error, quoted));
		assert_non_null(strstr(error, "512K"));
		assert_float_equal(bytes, 42, 0);
	}
}

static void sizes_out_of_range_say_so(void **state)
{
	static const char *const texts[] = {"0", "0K", "99999999T"};
	char error[256];
	double bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(size_parse(texts[i], &bytes, error, sizeof(error)), -EINVAL);
		assert_non_null(strstr(error, "out of range"));
	}
}

static void parts_of_bytes_are_refused(void **state)
{
	static const char *const texts[] = {"0.2", "1.4", "64.5B", "0.0005K", "1.001k"};
	char error[256];
	double bytes;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(size_parse(texts[i], &bytes, error, sizeof(error)), -EINVAL);
		assert_non_null(strstr(error, "is no whole number of bytes"));
	}
	assert_int_equal(size_parse(texts[4], &bytes, error, sizeof(error)), 0);
}

static void times_are_read(void **state)
{
	char error[256];
	double seconds;

	(void)state;
	assert_int_equal(seconds_parse("20", &seconds, error, sizeof(error)), 0);
	assert_float_equal(seconds, 20, 0);
	assert_int_equal(seconds_parse("1.5s", &seconds, error, sizeof(error)), 0);
	assert_float_equal(seconds, 1.5, 0);
	assert_int_equal(seconds_parse("50us", &seconds, error, sizeof(error)), 0);
	assert_float_equal(seconds, 50e-6, 1e-15);
	assert_int_equal(seconds_parse("500 ms", &seconds, error, sizeof(error)), 0);
	assert_float_equal(seconds, 0.5, 1e-15);
	assert_int_equal(seconds_parse("0", &seconds, error, sizeof(error)), 0);
	assert_float_equal(seconds, 0, 0);
	assert_int_equal(seconds_parse("5m", &seconds, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "'5m'"));
	assert_int_equal(seconds_parse("-5", &seconds, error, sizeof(error)), -EINVAL);
	assert_int_equal(seconds_parse("99999999999", &seconds, error, sizeof(error)), -EINVAL);
}

static void counts_are_whole(void **state)
{
	static const char *const bad[] = {
	        "1.5", "1.0005k", "1m", "1K", "1g", "1T", "0", "0.5", "-1", "9007200G", "x", "k"};
	char error[256];
	double count;

	(void)state;
	assert_int_equal(count_parse("1.5M", &count, error, sizeof(error)), 0);
	assert_float_equal(count, 1.5e6, 0);
	assert_int_equal(count_parse("0.001k", &count, error, sizeof(error)), 0);
	assert_float_equal(count, 1, 0);
	assert_int_equal(count_parse("2.3G", &count, error, sizeof(error)), 0);
	assert_float_equal(count, 2.3e9, 0);
	assert_int_equal(count_parse("9007199G", &count, error, sizeof(error)), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(count_parse(bad[i], &count, error, sizeof(error)), -EINVAL);
	assert_float_equal(count, 9007199e9, 0);
}

static void process_numbers_are_read(void **state)
{
	static const char *const bad[] = {
	        "", "0", "-1", "+1", " 1", "1x", "x", "2147483648", "99999999999999999999"};
	char error[256];
	int pid = 0;

	(void)state;
	assert_int_equal(pid_parse("1", &pid, error, sizeof(error)), 0);
	assert_int_equal(pid, 1);
	assert_int_equal(pid_parse("2147483647", &pid, error, sizeof(error)), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(pid_parse(bad[i], &pid, error, sizeof(error)), -EINVAL);
		assert_non_null(strstr(error, "process number"));
	}
	assert_int_equal(pid, 2147483647);
}

static void numbers_are_printed(void **state)
{
	char text[NUMBER_TEXT];

	(void)state;
	assert_string_equal(size_format(0, text), "0B");
	assert_string_equal(size_format(64, text), "64B");
	assert_string_equal(size_format(512 * KI, text), "512K");
	assert_string_equal(size_format(1023 * KI, text), "1023K");
	assert_string_equal(size_format(1023.9 * KI, text), "1M");
	assert_string_equal(size_format(MI * sqrt(2), text), "1.41M");
	assert_string_equal(size_format(1.5 * MI, text), "1.5M");
	assert_string_equal(size_format(10 * MI, text), "10M");
	assert_string_equal(size_format(NAN, text), "-");
	assert_string_equal(count_format(12.34e6, text), "12.3 M");
	assert_string_equal(count_format(999.9, text), "1 k");
	assert_string_equal(count_format(0.25, text), "0.25");
	assert_string_equal(count_format(0, text), "0");
	assert_string_equal(count_format(-1e-9, text), "0");
	assert_string_equal(count_format(-483845.88, text), "-484 k");
	assert_string_equal(count_format(1e-9, text), "<0.001");
	assert_string_equal(count_format(1e16, text), "10000 T");
	assert_string_equal(seconds_format(50e-6, text), "50 us");
	assert_string_equal(seconds_format(0.0012, text), "1.2 ms");
	assert_string_equal(seconds_format(100, text), "100 s");
	assert_string_equal(seconds_format(0, text), "0 s");
	assert_string_equal(seconds_format(INFINITY, text), "never");
	assert_string_equal(percent_format(0.004, text), "0.4 %");
	assert_string_equal(percent_format(NAN, text), "-");
	assert_string_equal(ratio_format(0.0641, text), "0.0641");
	assert_string_equal(ratio_format(1, text), "1");
	assert_string_equal(ratio_format(0, text), "0");
	assert_string_equal(ratio_format(0.0009, text), "<0.001");
	assert_string_equal(percent_format(1e-9, text), "<0.001 %");
	assert_string_equal(percent_format(0, text), "0 %");
	assert_string_equal(ratio_format(NAN, text), "-");
}

static void what_is_printed_is_read_again(void **state)
{
	char text[NUMBER_TEXT], error[256];
	double again;

	(void)state;
	for (double bytes = 64; bytes < 0x1p50; bytes = round(bytes * 1.037)) {
		assert_int_equal(
		        size_parse(size_format(bytes, text), &again, error, sizeof(error)), 0);
		assert_true(fabs(again - bytes) <= 0.0051 * bytes);
	}
}

static void nothing_overflows_its_text(void **state)
{
	static const double values[] = {0, 1e-300, 1e300, -1e300, 5e-324, INFINITY, -INFINITY};
	char text[NUMBER_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_true(strlen(size_format(values[i], text)) < NUMBER_TEXT);
		assert_true(strlen(count_format(values[i], text)) < NUMBER_TEXT);
		assert_true(strlen(seconds_format(values[i], text)) < NUMBER_TEXT);
		assert_true(strlen(percent_format(values[i], text)) < NUMBER_TEXT);
		assert_true(strlen(ratio_format(values[i], text)) < NUMBER_TEXT);
	}
}

static void durations_are_told(void **state)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {{0, "0 s"}, {0.00005, "50 us"}, {59.4, "59.4 s"}, {60, "1 min"},
	        {320, "5 min 20 s"}, {3599.7, "1 h"}, {7200, "2 h"}, {7500, "2 h 5 min"},
	        {86399, "1 d"}, {273600, "3 d 4 h"}, {1e8, "1157 d 10 h"}, {NAN, "-"},
	        {INFINITY, "never"}};
	char text[NUMBER_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(duration_format(cases[i].seconds, text), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(sizes_are_read),
	        cmocka_unit_test(durations_are_told),
	        cmocka_unit_test(what_is_no_size_is_refused),
	        cmocka_unit_test(sizes_out_of_range_say_so),
	        cmocka_unit_test(parts_of_bytes_are_refused),
	        cmocka_unit_test(times_are_read),
	        cmocka_unit_test(counts_are_whole),
	        cmocka_unit_test(process_numbers_are_read),
	        cmocka_unit_test(numbers_are_printed),
	        cmocka_unit_test(what_is_printed_is_read_again),
	        cmocka_unit_test(nothing_overflows_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

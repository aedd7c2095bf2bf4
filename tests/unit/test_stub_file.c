/* SPDX-License-Identifier: MIT */
/*
 * Data files of `mtl stub`: what they say in CSV and JSON, what is wrong with them and where, and
 * what a process in /proc is read as.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../cli/stub_file.h"
#include "../../cli/stub_record.h"
#include "cleanup.h"

#define HEADER "time_us,stack_bytes,heap_bytes\n"

static int parse(const char *text, size_t length, struct stub_file *ret_file, char error[256])
{
	error[0] = '\0';
	return stub_file_parse(text, length, ret_file, error, 256);
}

static struct stub_file file_of(const char *text)
{
	struct stub_file file;
	char error[256];

	if (parse(text, strlen(text), &file, error) < 0)
		fail_msg("%s: %s", text, error);
	return file;
}

static void row_is(const struct stub_file *file, size_t i, size_t place, double seconds,
        int64_t stack, int64_t heap)
{
	const struct stub_row *row = &file->rows[i];

	assert_true(i < file->n);
	assert_int_equal(row->place, place);
	assert_true(row->seconds > seconds - 1e-12 && row->seconds < seconds + 1e-12);
	assert_int_equal(row->stack_bytes, stack);
	assert_int_equal(row->heap_bytes, heap);
}

static void the_papers_example(void **state)
{
	static const char *const texts[] = {
	        HEADER "129,300,0\n223,100,200\n384,-100,-40\n112,-300,-160\n",
	        HEADER "129,+300,+0\n223,+100,+200\n384,-100,-40\n112,-300,-160",
	        "\xef\xbb\xbf\"time_us\",\"stack_bytes\",heap_bytes\r\n129,300,0\r\n"
	        "\"223\", \"100\" ,200\r\n384,-100,-40\r\n112,-300,-160\r",
	        "heap_bytes,time_ms,stack_bytes\n0, .129 ,300\n200,0.223,100\n"
	        "-40,3.84e-1,-100\n-160,.112,-300\n",
	        "{\"points\":[{\"time_us\":129,\"stack_bytes\":300},"
	        "{\"time_us\":223,\"stack_bytes\":100,\"heap_bytes\":200},"
	        "{\"time_ns\":384000,\"stack_bytes\":-100,\"heap_bytes\":-40},"
	        "{\"time_s\":112e-6,\"stack_bytes\":-300,\"heap_bytes\":-160}]}",
	        "\xef\xbb\xbf\r\n{\"points\": [\r\n{\"time_us\":129,\"stack_bytes\":300},\r\n"
	        "{\"time_us\":223,\"stack_bytes\":100,\"heap_bytes\":200},"
	        "{\"time_us\":384,\"stack_bytes\":-100,\"heap_bytes\":-40},"
	        "{\"time_us\":112,\"stack_bytes\":-300,\"heap_bytes\":-160}]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		_cleanup_(stub_file_done) struct stub_file file = file_of(texts[i]);
		size_t place = file.json ? 0 : 2;

		assert_int_equal(file.json, strchr(texts[i], '{') != NULL);
		assert_int_equal(file.n, 4);
		row_is(&file, 0, place, 129e-6, 300, 0);
		row_is(&file, 1, place + 1, 223e-6, 100, 200);
		row_is(&file, 2, place + 2, 384e-6, -100, -40);
		row_is(&file, 3, place + 3, 112e-6, -300, -160);
	}
}

static void units_and_phases(void **state)
{
	_cleanup_(stub_file_done) struct stub_file file =
	        file_of("stack_KiB,heap_MiB,pattern,working_set_KiB,stride_bytes,repeats\n"
	                "1.5,-2,,,,\n,,stride,4,128,7\n,,scan,1,,\n,,random,2,,3\n,,chase,3,,\n");

	(void)state;
	row_is(&file, 0, 2, 0, 1536, -2097152);
	assert_int_equal(file.rows[0].pattern, STUB_REST);
	assert_int_equal(file.rows[1].pattern, STUB_STRIDE);
	assert_int_equal(file.rows[1].working_set_bytes, 4096);
	assert_int_equal(file.rows[1].stride_bytes, 128);
	assert_int_equal(file.rows[1].repeats, 7);
	assert_int_equal(file.rows[2].stride_bytes, 8);
	assert_int_equal(file.rows[2].repeats, 1);
	assert_int_equal(file.rows[3].pattern, STUB_RANDOM);
	assert_int_equal(file.rows[4].pattern, STUB_CHASE);
}

struct bad {
	const char *text, *said;
	size_t length; /* 0: up to its end */
};

static void refused(const struct bad *bad)
{
	struct stub_file file;
	char error[256];
	int r = parse(bad->text, bad->length ?: strlen(bad->text), &file, error);

	if (r != -EBADMSG || strncmp(error, bad->said, strlen(bad->said)) != 0)
		fail_msg("%s: %d, %s", bad->text, r, error);
}

static void what_is_wrong(void **state)
{
	static const struct bad all[] = {
	        {"", "line 1: the file is empty", 0},
	        {HEADER, "line 2: there is no point", 0},
	        {"time_us", "line 2: there is no point", 0},
	        {HEADER "1,2", "line 2: it has 2 columns, line 1 has 3", 0},
	        {HEADER "1,2\r,3\n", "line 2: it has a carriage return", 0},
	        {HEADER "1,2,3\r\r\n", "line 2: it has a carriage return", 0},
	        {HEADER "1,2,\xef\xbb\xbf"
	                "3\n",
	                "line 2: '\xef\xbb\xbf"
	                "3' is no number",
	                0},
	        {"\xef\xbb\xbf", "line 1: the file is empty", 0},
	        {HEADER "1,\"2,3\"\n", "line 2: '\"2' is no number", 0},
	        {HEADER "1,2,\"\n", "line 2: '\"' is no number", 0},
	        {HEADER "1,2\0,3\n", "line 2: it has a NUL byte", sizeof(HEADER) + 7},
	        {"time_us,colour\n", "line 1: there is no column 'colour'", 0},
	        {"time\n1\n", "line 1: there is no column 'time'", 0},
	        {"heap_KB\n1\n", "line 1: there is no column 'heap_KB'", 0},
	        {"time_us,,heap_bytes\n", "line 1: there is no column ''", 0},
	        {"time_us,time_ms\n", "line 1: 'time_ms' is there already", 0},
	        {HEADER "1,2\n", "line 2: it has 2 columns, line 1 has 3", 0},
	        {HEADER "1,2,3\n1,2,3,4\n", "line 3: it has 4 columns, line 1 has 3", 0},
	        {HEADER "1,2,3\n\n1,2,3\n", "line 3: it is empty", 0},
	        {HEADER "one,2,3\n", "line 2: 'one' is no number", 0},
	        {HEADER "1,nan,3\n", "line 2: 'nan' is no number", 0},
	        {HEADER "inf,2,3\n", "line 2: 'inf' is no number", 0},
	        {HEADER "0x10,2,3\n", "line 2: '0x10' is no number", 0},
	        {HEADER "1 2,2,3\n", "line 2: '1 2' is no number", 0},
	        {HEADER "1e400,2,3\n", "line 2: '1e400' is out of range", 0},
	        {HEADER "-1,2,3\n", "line 2: '-1' is a negative time", 0},
	        {HEADER "1,2.5,3\n", "line 2: '2.5' is no whole number of bytes", 0},
	        {HEADER "1,2,9223372036854775807\n", "line 2: '9223372036854775807' is out of", 0},
	        {"heap_GiB\n8193\n", "line 2: '8193' is out of range", 0},
	        {"pattern\nzipf\n", "line 2: 'zipf' is no pattern", 0},
	        {"pattern\nscan\n", "line 2: a phase needs a working set", 0},
	        {"pattern,working_set_bytes\nscan,100\n", "line 2: a phase needs a working", 0},
	        {"pattern,working_set_bytes\nscan,-64\n", "line 2: '-64' is no size", 0},
	        {"pattern,working_set_bytes\nstride,64\n", "line 2: the pattern stride needs", 0},
	        {"pattern,working_set_bytes,stride_bytes\nscan,64,8\n", "line 2: only the pat", 0},
	        {"pattern,working_set_bytes,stride_bytes\nstride,64,4\n", "line 2: the pattern", 0},
	        {"working_set_bytes\n64\n", "line 2: a working set, stride or repeats", 0},
	        {"pattern,working_set_bytes,repeats\nscan,64,0\n", "line 2: '0' is no number", 0},
	        {"pattern,working_set_GiB,repeats\nscan,1,1000000000\n", "line 2: it has more", 0},
	        {"{\"points\":[]}", "points: there is none", 0},
	        {"{\"points\":[{\"time_us\":1}", "it breaks off after byte 24", 0},
	        {"{\"points\":[3]}", "points[0]: it is no object", 0},
	        {"{\"points\":[{},{\"heap\":3}]}", "points[1].heap: there is no such member", 0},
	        {"{\"points\":[{\"time_us\":\"1\"}]}", "points[0].time_us: '\"1\"' is no number",
	                0},
	        {"{\"points\":[{\"time_us\":null}]}", "points[0].time_us: 'null' is no number", 0},
	        {"{\"points\":[{\"heap_bytes\":NaN}]}", "points[0].heap_bytes: 'NaN' is out of", 0},
	        {"{\"points\":[{\"time_us\":NaN}]}", "points[0].time_us: 'NaN' is no time", 0},
	        {"{\"points\":[{\"time_us\":1,\"time_ms\":1}]}", "points[0].time_ms: it is there",
	                0},
	        {"{\"points\":[{}],\"repeat\":2}", "repeat: there is no such member", 0},
	        {"{}", "points: ", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		refused(&all[i]);
}

static void sums_refused(const char *rows, uint64_t repeat, const char *said)
{
	static const struct stub_limits limits = {1000, 5000};
	struct stub_needs needs = {7, 7, 7, 7};
	char text[256], error[256] = "";

	snprintf(text, sizeof(text), "%s%s", *rows == 'p' ? "" : HEADER, rows);
	_cleanup_(stub_file_done) struct stub_file file = file_of(text);
	int r = stub_file_check(&file, repeat, &limits, &needs, error, sizeof(error));

	if (r != -ERANGE || strncmp(error, said, strlen(said)) != 0 || needs.stack_bytes != 7)
		fail_msg("%s: %d, %s", rows, r, error);
}

static void sums(void **state)
{
	static const struct stub_limits limits = {1000, 5000};
	_cleanup_(stub_file_done) struct stub_file file = file_of("time_s,stack_bytes,heap_bytes,"
	                                                          "pattern,working_set_bytes\n"
	                                                          "1,1000,0,,\n2,-1000,3936,,\n"
	                                                          "3,0,-3936,scan,64\n");
	struct stub_needs needs;
	char error[256];

	(void)state;
	assert_int_equal(stub_file_check(&file, 2, &limits, &needs, error, sizeof(error)), 0);
	assert_int_equal(needs.stack_bytes, 1000);
	assert_int_equal(needs.heap_bytes, 3936);
	assert_int_equal(needs.working_set_bytes, 64);
	assert_true(needs.seconds == 12);
	sums_refused("0,5,0\n0,-6,0\n", 1, "line 3: the stack comes to -1 bytes, below zero");
	sums_refused("0,0,5\n0,0,-6\n", 1, "line 3: the heap comes to -1 bytes, below zero");
	sums_refused(
	        "0,500,0\n0,501,0\n", 1, "line 3: the stack comes to 1001B; 1000B are the lim");
	sums_refused("0,1000,0\n0,-9,4001\n", 1, "line 3: memory of stack, heap and working sets");
	sums_refused("pattern,working_set_bytes\nscan,4992\nscan,64\n", 1, "line 3: memory of");
	sums_refused("0,5,0\n", 2, "line 2: stack and heap end at 5 and 0 bytes");
	sums_refused("0,0,5\n", 2, "line 2: stack and heap end at 0 and 5 bytes");
}

static void a_process(void **state)
{
	static const char smaps[] =
	        "55d0-55d1 r--p 00000000 fe:00 1234    /usr/bin/prog [heap]\nRss: 4 kB\nSwap: 8 "
	        "kB\n"
	        "55d2-55f3 rw-p 00000000 00:00 0                          [heap]\nSize: 999 kB\n"
	        "Rss:                 100 kB\nPss: 50 kB\nSwap:                  4 kB\n"
	        "7f10-7f20 rw-p 00000000 00:00 0 \nRss: 30 kB\nSwap: 0 kB\n"
	        "7f20-7f30 rw-p 00000000 00:00 0                          [anon:arena]\nRss: 3 kB\n"
	        "7f30-7f40 rw-p 00000000 fe:00 99 /lib/libc.so\nRss: 7 kB\n"
	        "7ffd-7ffe rw-p 00000000 00:00 0                          [stack]\nRss: 12 kB\n"
	        "7fff-8000 r-xp 00000000 00:00 0                          [vdso]\nRss: 4 kB\n";
	struct stub_memory memory;
	FILE *file = fmemopen((void *)smaps, sizeof(smaps) - 1, "r");

	(void)state;
	assert_int_equal(stub_memory_read(file, &memory), 0);
	fclose(file);
	assert_int_equal(memory.stack_bytes, 12 * 1024);
	assert_int_equal(memory.heap_bytes, 137 * 1024);
	file = fopen("/dev/null", "r");
	assert_int_equal(stub_memory_read(file, &memory), -ENODATA);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_papers_example),
	        cmocka_unit_test(units_and_phases),
	        cmocka_unit_test(what_is_wrong),
	        cmocka_unit_test(sums),
	        cmocka_unit_test(a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

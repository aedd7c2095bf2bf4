/* SPDX-License-Identifier: MIT */
/* What /proc and /sys say, from dumps of real ones (data/) and from files no kernel should write.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>

#include "fake_root.h"
#include "proc.h"

enum { BZIP2 = 100, KTHREADD, ZOMBIE, TRACED, ODD_NAME };

#define MIB (1024.0 * 1024)
#define STAT(pid, state, start)                                                                    \
	pid " (a) R 1 (b) " state " 1 2 3 0 -1 64 5 6 7 8 9 10 11 12 20 0 3 0 " start " 99 1\n"

/* The dumps lie beside this source file. */
static const char *dumps(void)
{
	static char path[PATH_MAX];
	char file[] = __FILE__;

	snprintf(path, sizeof(path), "%s/data", dirname(file));
	return path;
}

/* ---- status ---- */

static void status_of_dumps(void **state)
{
	static const struct {
		pid_t pid;
		struct proc_status expected;
	} cases[] = {
	        {BZIP2, {.comm = "bzip2"}},
	        {KTHREADD, {.comm = "kthreadd", .kernel_thread = true}},
	        {ZOMBIE, {.comm = "bzip2", .zombie = true}},
	        {TRACED, {.comm = "sleep", .uid = 1000, .tracer = 99}},
	        {ODD_NAME, {.comm = "a) S 1\n(b c"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct proc_status status;

		assert_int_equal(proc_status(dumps(), cases[i].pid, &status), 0);
		assert_string_equal(status.comm, cases[i].expected.comm);
		assert_int_equal(status.uid, cases[i].expected.uid);
		assert_int_equal(status.tracer, cases[i].expected.tracer);
		assert_int_equal(status.kernel_thread, cases[i].expected.kernel_thread);
		assert_int_equal(status.zombie, cases[i].expected.zombie);
	}
}

static void status_of_this_process(void **state)
{
	struct proc_status status;

	(void)state;
	assert_int_equal(proc_status("", getpid(), &status), 0);
	assert_int_equal(status.uid, geteuid());
	assert_false(status.kernel_thread);
	assert_false(status.zombie);
}

/* Names are the program's own choice; none may pass for another line of the file. */
static void names_do_not_speak_for_the_kernel(void **state)
{
	static const struct {
		const char *line, *comm;
	} names[] = {
	        {"Name:\tState: Z\n", "State: Z"},
	        {"Name:\tUid: 1 2\n", "Uid: 1 2"},
	        {"Name:\tx\\nState:\\tZ\n", "x\nState:\\tZ"},
	        {"Name:\t\"q\\\\\n", "\"q\\"},
	        {"Name:\t\\\\n\\\\\\n\n", "\\n\\\n"},
	        {"Name:\tcut\\\n", "cut\\"},
	        {"Name:\t(sd-pam) \n", "(sd-pam) "},
	        {"Name:\t\n", ""},
	        {"Name:\tkworker/u16:3-events_unbound\n", "kworker/u16:3-e"},
	        {"Name:\t%s%n%d\n", "%s%n%d"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct proc_status status;
		char text[256];

		snprintf(text, sizeof(text),
		        "%sState:\tS (sleeping)\nTracerPid:\t0\nUid:\t7\t8\t9\t9\nVmSize:\t1 kB\n",
		        names[i].line);
		assert_int_equal(fake_file("proc/5/status", text), 0);
		assert_int_equal(proc_status(fake_root, 5, &status), 0);
		assert_string_equal(status.comm, names[i].comm);
		assert_int_equal(status.uid, 8);
		assert_int_equal(status.tracer, 0);
		assert_false(status.zombie);
		assert_false(status.kernel_thread);
	}
}

/* As other programs see it, /proc/PID/comm above all: whatever it is made of. */
static void a_name_is_what_the_program_chose(void **state)
{
	static const char *const names[] = {"\"q\\", "a\nb\\nc\\\\",
	        "\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\", "\t\r\x1b\x7f \x01", "\xc3\xa9\xff"};
	char before[16];

	(void)state;
	prctl(PR_GET_NAME, before);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct proc_status status;

		prctl(PR_SET_NAME, names[i]);
		assert_int_equal(proc_status("", getpid(), &status), 0);
		assert_string_equal(status.comm, names[i]);
	}
	prctl(PR_SET_NAME, before);
}

/* The main thread has called pthread_exit(), the others run. */
static void main_thread_has_ended(void **state)
{
	struct proc_status status;
	uint64_t ticks = 0;
	pid_t tid = 0;

	(void)state;
	assert_int_equal(fake_file("proc/6/status", "Name:\tx\nState:\tZ (zombie)\nTracerPid:\t0\n"
	                                            "Uid:\t7\t8\t9\t9\nThreads:\t3\n"),
	        0);
	assert_int_equal(fake_file("proc/6/stat", STAT("6", "Z", "4711")), 0);
	assert_int_equal(fake_file("proc/6/task/6/stat", STAT("6", "Z", "4711")), 0);
	assert_int_equal(fake_file("proc/6/task/7/stat", STAT("7", "X", "4712")), 0);
	assert_int_equal(fake_file("proc/6/task/8/stat", STAT("8", "S", "4713")), 0);
	assert_int_equal(fake_file("proc/7/stat", STAT("7", "X", "4712")), 0);
	assert_int_equal(fake_file("proc/8/stat", STAT("8", "S", "4713")), 0);
	assert_int_equal(proc_status(fake_root, 6, &status), 0);
	assert_false(status.zombie);
	assert_false(status.kernel_thread);
	assert_int_equal(proc_living_thread(fake_root, 6, &tid), 0);
	assert_int_equal(tid, 8);
	assert_int_equal(proc_living_thread(fake_root, 8, &tid), 0);
	assert_int_equal(tid, 8);
	assert_int_equal(proc_start_ticks(fake_root, 6, &ticks), 0);
	assert_int_equal(ticks, 4711);
	assert_int_equal(proc_start_ticks(fake_root, 9, &ticks), -ESRCH);
	assert_int_equal(fake_file("proc/6/task/8/stat", STAT("8", "Z", "4713")), 0);
	assert_int_equal(fake_file("proc/8/stat", STAT("8", "Z", "4713")), 0);
	assert_int_equal(proc_living_thread(fake_root, 6, &tid), -ESRCH);
}

/* A user in thousands of groups makes a line longer than any buffer. */
static void long_lines(void **state)
{
	struct proc_status status;
	char text[8192] = "Name:\tx\nState:\tR (running)\nUid:\t1\t2\t1\t1\nGroups:\t";
	size_t n = strlen(text);

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		n += snprintf(text + n, sizeof(text) - n, "%u ", 10000 + i);
	snprintf(text + n, sizeof(text) - n, "\nVmSize:\t9 kB\n");
	assert_int_equal(fake_file("proc/5/status", text), 0);
	assert_int_equal(proc_status(fake_root, 5, &status), 0);
	assert_int_equal(status.uid, 2);
	assert_false(status.kernel_thread);
}

/* Cut anywhere, the file gives what it says or nothing: above all never user 0. */
static void a_truncated_status_is_no_status(void **state)
{
	const char whole[] = "Name:\tx\nState:\tS (sleeping)\nUid:\t1000\t1000\t1000\t1000\n";

	(void)state;
	for (size_t n = 0; n < sizeof(whole); n++) {
		struct proc_status status = {.uid = 4242};
		char text[sizeof(whole)] = "";
		int r;

		memcpy(text, whole, n);
		assert_int_equal(fake_file("proc/5/status", text), 0);
		r = proc_status(fake_root, 5, &status);
		if (r < 0) {
			assert_int_equal(r, -ESRCH);
			assert_int_equal(status.uid, 4242);
		} else {
			assert_true(n > strlen("Name:\tx\nState:\tS (sleeping)\nUid:\t1000\t"));
			assert_int_not_equal(status.uid, 0);
		}
	}
}

static int count_mapping(void *userdata, const struct proc_mapping *mapping)
{
	(void)mapping;
	++*(unsigned *)userdata;
	return 0;
}

/* ---- processes that are not there ---- */

static void nothing_there_is_no_such_process(void **state)
{
	struct proc_status status;
	unsigned n = 77, seen = 0;
	pid_t *tids = NULL;
	double bytes = 77;

	(void)state;
	assert_int_equal(proc_status(fake_root, 5, &status), -ESRCH);
	assert_int_equal(proc_threads(fake_root, 5, &tids, &n), -ESRCH);
	assert_int_equal(proc_resident(fake_root, 5, &bytes), -ESRCH);
	assert_int_equal(proc_mappings(fake_root, 5, count_mapping, &seen), -ESRCH);
	assert_int_equal(proc_open_pagemap(fake_root, 5), -ESRCH);
	assert_null(tids);
	assert_int_equal(n, 77);
	assert_int_equal(seen, 0);
	assert_true(bytes == 77);
}

/* The file was opened, then the process ended: reading fails. A directory fails to be read alike.
 */
static void gone_between_open_and_read(void **state)
{
	struct proc_status status;
	unsigned seen = 0;
	double bytes;

	(void)state;
	assert_int_equal(fake_file("proc/5/status/x", ""), 0);
	assert_int_equal(fake_file("proc/5/maps/x", ""), 0);
	assert_int_equal(fake_file("proc/5/statm/x", ""), 0);
	assert_int_equal(proc_status(fake_root, 5, &status), -ESRCH);
	assert_int_equal(proc_mappings(fake_root, 5, count_mapping, &seen), -ESRCH);
	assert_int_equal(proc_resident(fake_root, 5, &bytes), -ESRCH);
}

static void empty_files(void **state)
{
	struct proc_status status;
	unsigned seen = 0;
	double bytes = 77;

	(void)state;
	assert_int_equal(fake_file("proc/5/status", ""), 0);
	assert_int_equal(fake_file("proc/5/maps", ""), 0);
	assert_int_equal(fake_file("proc/5/statm", "12"), 0);
	assert_int_equal(proc_status(fake_root, 5, &status), -ESRCH);
	assert_int_equal(proc_resident(fake_root, 5, &bytes), -ESRCH);
	assert_true(bytes == 77);
	assert_int_equal(proc_mappings(fake_root, 5, count_mapping, &seen), 0);
	assert_int_equal(seen, 0);
}

/* ---- threads and memory ---- */

static int by_number(const void *a, const void *b)
{
	return *(const pid_t *)a - *(const pid_t *)b;
}

static void threads(void **state)
{
	pid_t *tids;
	unsigned n;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		char name[64];

		snprintf(name, sizeof(name), "proc/5/task/%u/comm", 5 + 3 * i);
		assert_int_equal(fake_file(name, "x\n"), 0);
	}
	assert_int_equal(proc_threads(fake_root, 5, &tids, &n), 0);
	assert_int_equal(n, 100);
	qsort(tids, n, sizeof(*tids), by_number);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(tids[i], 5 + 3 * i);
	free(tids);
}

static void no_threads_left(void **state)
{
	pid_t *tids = NULL;
	unsigned n;

	(void)state;
	assert_int_equal(fake_file("proc/5/task/x", ""), 0);
	assert_int_equal(proc_threads(fake_root, 5, &tids, &n), -ESRCH);
	assert_null(tids);
}

static void resident(void **state)
{
	double bytes;

	(void)state;
	assert_int_equal(proc_resident(dumps(), BZIP2, &bytes), 0);
	assert_true(bytes == 1952.0 * sysconf(_SC_PAGESIZE));
}

/* ---- maps ---- */

struct seen {
	struct proc_mapping mapping[64];
	unsigned n, stop_at;
};

static int see(void *userdata, const struct proc_mapping *mapping)
{
	struct seen *seen = userdata;

	assert_true(seen->n < 64);
	seen->mapping[seen->n++] = *mapping;
	return seen->n == seen->stop_at ? 5 : 0;
}

static void assert_mapping(const struct proc_mapping *mapping, uint64_t start, uint64_t end,
        const char *permissions, const char *name)
{
	assert_int_equal(mapping->start, start);
	assert_int_equal(mapping->end, end);
	assert_string_equal(mapping->permissions, permissions);
	assert_string_equal(mapping->name, name);
}

static void mappings_of_a_dump(void **state)
{
	struct seen seen = {0};

	(void)state;
	assert_int_equal(proc_mappings(dumps(), BZIP2, see, &seen), 0);
	assert_int_equal(seen.n, 30);
	assert_mapping(&seen.mapping[1], 0x5608e3770000, 0x5608e3774000, "r-xp", "/usr/bin/bzip2");
	assert_mapping(&seen.mapping[5], 0x5608e3779000, 0x5608e377a000, "rw-p", "");
	assert_mapping(&seen.mapping[6], 0x560909a11000, 0x560909a32000, "rw-p", "[heap]");
	assert_mapping(
	        &seen.mapping[29], 0xffffffffff600000, 0xffffffffff601000, "--xp", "[vsyscall]");
}

static void mappings_stop_when_told(void **state)
{
	struct seen seen = {.stop_at = 3};

	(void)state;
	assert_int_equal(proc_mappings(dumps(), BZIP2, see, &seen), 5);
	assert_int_equal(seen.n, 3);
}

static void mappings_with_odd_names(void **state)
{
	static const char maps[] =
	        "1000-2000 rw-p 00000000 00:00 0\n"
	        "2000-3000 r--s 0000f000 103:02 4294967296 /home/a b/c\td (deleted)\n"
	        "3000-4000 ---p 00000000 00:00 0 \n"
	        "4000-5000 rw-p 00000000 fe:00 9 /tmp/new\\012line\n"
	        "5000-6000 rw-p 00000000 00:00 0                          [anon: a [b] c]\n"
	        "6000-7000 rw-s 00000000 00:01 2 /memfd:6000-7000 rwxp 0 00:00 0 (deleted)\n"
	        "not a mapping\n"
	        "7000-\n"
	        "8000-9000 rw-p 00000000 00:00 0 /0123456789012345678901234567890123456789"
	        "0123456789012345678901234567890123456789\n"
	        "fffffffffffff000-ffffffffffffffff r-xp 00000000 00:00 0 [end]";
	struct seen seen = {0};

	(void)state;
	assert_int_equal(fake_file("proc/5/maps", maps), 0);
	assert_int_equal(proc_mappings(fake_root, 5, see, &seen), 0);
	assert_int_equal(seen.n, 8);
	assert_mapping(&seen.mapping[0], 0x1000, 0x2000, "rw-p", "");
	assert_mapping(&seen.mapping[1], 0x2000, 0x3000, "r--s", "/home/a b/c\td (deleted)");
	assert_mapping(&seen.mapping[2], 0x3000, 0x4000, "---p", "");
	assert_mapping(&seen.mapping[3], 0x4000, 0x5000, "rw-p", "/tmp/new\\012line");
	assert_mapping(&seen.mapping[4], 0x5000, 0x6000, "rw-p", "[anon: a [b] c]");
	assert_mapping(&seen.mapping[5], 0x6000, 0x7000, "rw-s",
	        "/memfd:6000-7000 rwxp 0 00:00 0 (deleted)");
	assert_mapping(&seen.mapping[6], 0x8000, 0x9000, "rw-p",
	        "/01234567890123456789012345678901234567890123456789012345678901");
	assert_mapping(&seen.mapping[7], 0xfffffffffffff000, 0xffffffffffffffff, "r-xp", "[end]");
}

/* ---- caches ---- */

struct cache {
	const char *level, *type, *size;
};

/* As /sys/devices/system/cpu/cpu0/cache/index* of such machines. */
static const struct cache intel[] = {{"1\n", "Data\n", "48K\n"}, {"1\n", "Instruction\n", "32K\n"},
        {"2\n", "Unified\n", "2048K\n"}, {"3\n", "Unified\n", "266240K\n"}};
static const struct cache amd[] = {{"1\n", "Data\n", "32K\n"}, {"1\n", "Instruction\n", "32K\n"},
        {"2\n", "Unified\n", "512K\n"}, {"3\n", "Unified\n", "16384K\n"}};
static const struct cache arm[] = {{"1\n", "Instruction\n", "64K\n"}, {"2\n", "Unified\n", "1M\n"},
        {"1\n", "Data\n", "65536\n"}};
static const struct cache broken[] = {{"1\n", "Data\n", "32K\n"}, {"2\n", "Unified\n", ""},
        {"3\n", "Unified\n", "lots\n"}, {"", "Unified\n", "8192K\n"}, {"2\n", "", "8192K\n"}};

static void fake_caches(const struct cache *caches, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *const text[] = {caches[i].level, caches[i].type, caches[i].size};
		static const char *const names[] = {"level", "type", "size"};

		for (unsigned k = 0; k < 3; k++) {
			char name[80];

			snprintf(name, sizeof(name),
			        "sys/devices/system/cpu/cpu0/cache/index%zu/%s", i, names[k]);
			assert_int_equal(fake_file(name, text[k]), 0);
		}
	}
}

static void assert_caches(double last, double l1, double l2, double l3, double l4)
{
	assert_true(proc_cache_bytes(fake_root, 0, NULL) == last);
	assert_true(proc_cache_bytes(fake_root, 1, NULL) == l1);
	assert_true(proc_cache_bytes(fake_root, 2, NULL) == l2);
	assert_true(proc_cache_bytes(fake_root, 3, NULL) == l3);
	assert_true(proc_cache_bytes(fake_root, 4, NULL) == l4);
}

static void caches_of_intel(void **state)
{
	(void)state;
	fake_caches(intel, 4);
	assert_caches(260 * MIB, 48 * 1024, 2 * MIB, 260 * MIB, 0);
}

static void caches_of_amd(void **state)
{
	(void)state;
	fake_caches(amd, 4);
	assert_caches(16 * MIB, 32 * 1024, 512 * 1024, 16 * MIB, 0);
}

static void caches_in_another_order(void **state)
{
	(void)state;
	fake_caches(arm, 3);
	assert_caches(MIB, 64 * 1024, MIB, 0, 0);
}

static void caches_half_told(void **state)
{
	(void)state;
	fake_caches(broken, 5);
	assert_caches(32 * 1024, 32 * 1024, 0, 0, 0);
}

static void no_caches_told(void **state)
{
	(void)state;
	assert_caches(0, 0, 0, 0, 0);
}

/* ---- kernel.perf_event_paranoid ---- */

static void paranoid(void **state)
{
	static const struct {
		const char *text;
		int level;
	} cases[] = {{"-1\n", -1}, {"0\n", 0}, {"2\n", 2}, {"4", 4}, {"", INT32_MAX},
	        {"garbage\n", INT32_MAX}, {"\n", INT32_MAX}};

	(void)state;
	assert_int_equal(proc_paranoid(fake_root), INT32_MAX);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
		        fake_file("proc/sys/kernel/perf_event_paranoid", cases[i].text), 0);
		assert_int_equal(proc_paranoid(fake_root), cases[i].level);
	}
}

#define rooted(test) cmocka_unit_test_setup_teardown(test, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(status_of_dumps),
	        cmocka_unit_test(status_of_this_process),
	        cmocka_unit_test(a_name_is_what_the_program_chose),
	        rooted(names_do_not_speak_for_the_kernel),
	        rooted(main_thread_has_ended),
	        rooted(long_lines),
	        rooted(a_truncated_status_is_no_status),
	        rooted(nothing_there_is_no_such_process),
	        rooted(gone_between_open_and_read),
	        rooted(empty_files),
	        rooted(threads),
	        rooted(no_threads_left),
	        cmocka_unit_test(resident),
	        cmocka_unit_test(mappings_of_a_dump),
	        cmocka_unit_test(mappings_stop_when_told),
	        rooted(mappings_with_odd_names),
	        rooted(caches_of_intel),
	        rooted(caches_of_amd),
	        rooted(caches_in_another_order),
	        rooted(caches_half_told),
	        rooted(no_caches_told),
	        rooted(paranoid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/stat of made-up processes: what stands where, whatever the name is, and when children
 * do the work of their parent.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "../../cli/process_stat.h"
#include "command_fixture.h"
#include "fake_root.h"

/* Seconds: of its own and of children waited for. */
static void process(pid_t pid, pid_t parent, const char *name, double own, double children)
{
	double ticks = (double)sysconf(_SC_CLK_TCK);
	char path[64], text[512];

	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	snprintf(text, sizeof(text),
	        "%d (%s) S %d 1 1 0 -1 4194304 132 0 0 0 %.0f %.0f %.0f %.0f 20 0 1 0 8962038 "
	        "2654208 395 18446744073709551615 1 1 0 0\n",
	        pid, name, parent, own * ticks, 0.0, 0.0, children * ticks);
	assert_int_equal(fake_file(path, text), 0);
}

static void what_stands_where(void **state)
{
	struct process_stat stat;

	(void)state;
	process(12, 3, "a) S 9 (b", 1.5, 0.25);
	assert_int_equal(process_stat_read(fake_root, 12, &stat), 0);
	assert_int_equal(stat.parent, 3);
	assert_string_equal(stat.comm, "a) S 9 (b");
	assert_float_equal(stat.cpu_seconds, 1.5, 1e-9);
	assert_float_equal(stat.children_seconds, 0.25, 1e-9);
	assert_float_equal(stat.resident_bytes, 395.0 * (double)sysconf(_SC_PAGESIZE), 0.5);
}

static void what_is_none_changes_nothing(void **state)
{
	struct process_stat stat = {.pid = -1};

	(void)state;
	assert_int_equal(process_stat_read(fake_root, 12, &stat), -ESRCH);
	assert_int_equal(fake_file("proc/12/stat", "12 a S 3\n"), 0);
	assert_int_equal(process_stat_read(fake_root, 12, &stat), -EBADMSG);
	assert_int_equal(fake_file("proc/12/stat", "12 (a) S 3 1\n"), 0);
	assert_int_equal(process_stat_read(fake_root, 12, &stat), -EBADMSG);
	assert_int_equal(stat.pid, -1);
}

/* Those of children too, and not those of others. */
static void children_are_found(void **state)
{
	struct children children;

	(void)state;
	process(1, 0, "init", 100, 100);
	process(10, 1, "sh", 0.01, 0.5);
	process(30, 20, "worker", 3, 0);
	process(20, 10, "sh", 0.02, 1);
	process(40, 1, "other", 50, 0);
	assert_int_equal(children_look(fake_root, 10, &children), 0);
	assert_int_equal(children.alive, 2);
	assert_int_equal(children.busiest, 30);
	assert_string_equal(children.busiest_comm, "worker");
	assert_float_equal(children.own_seconds, 0.01, 1e-9);
	assert_float_equal(children.seconds, 0.5 + 0.02 + 1 + 3, 1e-9);
	assert_int_equal(children_look(fake_root, 11, &children), -ESRCH);
}

static bool again;

static int say(const struct options *options, int n, char **operands)
{
	struct children children;

	(void)options, (void)n, (void)operands;
	assert_int_equal(children_look(fake_root, 10, &children), 0);
	children_complain(&children, again);
	return 0;
}

static const char *said(bool in_a_run)
{
	again = in_a_run;
	run_command(say, NULL, 0, NULL);
	return errors;
}

static void it_is_said_where_they_do_the_work(void **state)
{
	(void)state;
	process(10, 1, "sh", 0.01, 0);
	assert_string_equal(said(false), "");
	process(10, 1, "sh", 0.01, 2.5);
	assert_true(is_said(said(true), "its children used 2.5 s of CPU time, it itself 10 ms"));
	assert_true(is_said(said(true), "sh -c 'exec PROGRAM'"));
	assert_null(strstr(said(false), "mtl curve"));
	process(20, 10, "worker", 1, 0);
	assert_true(is_said(said(false), "`mtl curve 20` (worker, the busiest)"));
	assert_null(strstr(said(true), "mtl curve"));
	process(10, 1, "sh", 9, 2.5);
	assert_string_equal(said(false), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(what_stands_where),
	        TEST(what_is_none_changes_nothing),
	        TEST(children_are_found),
	        TEST(it_is_said_where_they_do_the_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

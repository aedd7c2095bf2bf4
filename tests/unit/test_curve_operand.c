/* SPDX-License-Identifier: MIT */
/*
 * What `mtl curve` says of operands that are no process: the members of a control group are named.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../cli/curve_operand.h"
#include "command_fixture.h"
#include "fake_root.h"

static int pid;

static int look(const struct options *options, int n, char **operands)
{
	(void)n;
	return curve_operand(options, operands[0], &pid);
}

static int result_of(const char *operand)
{
	char *operands[] = {(char *)operand, NULL};
	struct options options;

	options_init(&options);
	options.root = fake_root;
	return run_command(look, &options, 1, operands);
}

static void member(int number, const char *name, int ticks)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "proc/%d/stat", number);
	snprintf(text, sizeof(text), "%d (%s) S 1 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 5 6 7 8\n",
	        number, name, ticks);
	assert_int_equal(fake_file(path, text), 0);
}

static void numbers_are_processes(void **state)
{
	(void)state;
	assert_int_equal(result_of("1234"), MTL_DONE);
	assert_int_equal(pid, 1234);
	assert_int_equal(result_of("12x"), MTL_USAGE);
	assert_true(is_said(errors, "'12x' is not a process number"));
}

static void the_members_of_a_group_are_named(void **state)
{
	static const char *const same[] = {
	        "cgroup:/a.slice", "cgroup:a.slice", "a.slice", "/sys/fs/cgroup/a.slice"};

	(void)state;
	assert_int_equal(fake_file("sys/fs/cgroup/a.slice/cgroup.procs", "30\n20\n40\n"), 0);
	member(20, "idle", 1);
	member(30, "busy", 500);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_int_equal(result_of(same[i]), MTL_USAGE);
		assert_true(is_said(errors, "has 2: 30 (busy), 20 (idle); `mtl curve 30 20`, or"));
	}
}

static void a_group_may_have_many_or_none(void **state)
{
	(void)state;
	assert_int_equal(fake_file("sys/fs/cgroup/none/cgroup.procs", ""), 0);
	assert_int_equal(result_of("cgroup:/none"), MTL_USAGE);
	assert_true(is_said(errors, "control group /none has none"));
	assert_int_equal(
	        fake_file("sys/fs/cgroup/many/cgroup.procs", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), 0);
	for (int i = 1; i <= 9; i++)
		member(i, "a name as long as the kernel", 10 - i);
	assert_int_equal(result_of("cgroup:/many"), MTL_USAGE);
	assert_true(is_said(errors, "has 9: 1 (a name"));
	assert_true(is_said(errors, " ...; `mtl curve 1 2 3 4 5 6 7 8`, or"));
	assert_int_equal(result_of("cgroup:/nothere"), MTL_FAILED);
	assert_true(is_said(errors, "there is no control group /nothere"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(numbers_are_processes),
	        TEST(the_members_of_a_group_are_named),
	        TEST(a_group_may_have_many_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * What is kept of this machine: read back as it was, and not by another machine.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../cli/state_directory.h"
#include "json_fields.h"

/* Not root's place: the test speaks as somebody else, where it may. */
static char home[] = "/tmp/test-state-XXXXXX";

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(home) || chmod(home, 0777) < 0)
		return -1;
	setenv("XDG_STATE_HOME", home, 1);
	return geteuid() == 0 ? seteuid(65534) : 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	if (getuid() == 0 && seteuid(0) < 0)
		return -1;
	snprintf(command, sizeof(command), "rm -rf %s", home);
	return system(command);
}

static struct json_object *seven(void)
{
	struct json_object *object = json_object_new_object();

	assert_int_equal(mtl_json_put(object, "seven", json_object_new_int(7)), 0);
	return object;
}

static void keeps(void **state)
{
	_cleanup_json_ struct json_object *object = seven(), *back = NULL;
	char path[PATH_MAX], wanted[PATH_MAX];
	struct json_object *member;

	(void)state;
	assert_int_equal(state_load("kept.json", &back), -ENOENT);
	assert_int_equal(state_save("kept.json", object, path), 0);
	snprintf(wanted, sizeof(wanted), "%s/mtl/kept.json", home);
	assert_string_equal(path, wanted);
	assert_int_equal(state_load("kept.json", &back), 0);
	assert_true(json_object_object_get_ex(back, "seven", &member));
	assert_int_equal(json_object_get_int(member), 7);
}

static void of_another_machine(void **state)
{
	static const char *const texts[] = {
	        "{\"machine\":\"abacus\",\"seven\":7}", "{}", "[]", "{\"mach"};
	struct json_object *back = NULL;
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(state_path("other.json", path, sizeof(path)), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fputs(texts[i], file);
		fclose(file);
		assert_int_equal(state_load("other.json", &back), -ENOENT);
		assert_null(back);
	}
}

static void nowhere_to_keep(void **state)
{
	_cleanup_json_ struct json_object *object = seven();
	char path[PATH_MAX];

	(void)state;
	setenv("XDG_STATE_HOME", "/proc/self", 1);
	assert_true(state_save("kept.json", object, path) < 0);
	assert_string_equal(path, "/proc/self/mtl/kept.json");
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	assert_int_equal(state_save("kept.json", object, path), -ENOENT);
}

static void the_machine_has_a_name(void **state)
{
	char one[256], again[256];

	(void)state;
	state_machine(one, sizeof(one));
	state_machine(again, sizeof(again));
	assert_string_equal(one, again);
	assert_non_null(strstr(one, "Linux "));
	assert_null(strchr(one, '\n'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(keeps),
	        cmocka_unit_test(of_another_machine),
	        cmocka_unit_test(nowhere_to_keep),
	        cmocka_unit_test(the_machine_has_a_name),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

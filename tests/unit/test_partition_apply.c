/* SPDX-License-Identifier: MIT */
/*
 * `mtl partition` of processes on a machine with resctrl that is not there: geometry and masks from
 * it, --apply and --revert.
 */

#include "resctrl_fixture.h"

#include "command_fixture.h"
#include "fake_mtld.h"

#define WAY (1 << 20) /* of the fake machine */

static bool alike; /* the curves */

/* Process 100 uses all it gets, 200 nothing beyond 2 ways. */
static void curve_of(int pid, char *ret_text, size_t size)
{
	struct live live = {.pid = pid, .footprint = 16e6, .resolution = 1, .step = WAY, .n = 11};

	for (int i = 0; i < live.n; i++)
		live.misses[i] = pid == 100 || alike ? 1e6 - 9e4 * i : i ? 100 : 5e5;
	live_text(&live, ret_text, size);
}

static void answer_with(const char *question, char *ret_reply, size_t size)
{
	char text[16384];

	curve_of(strstr(question, "\"pid\":100") ? 100 : 200, text, sizeof(text));
	snprintf(ret_reply, size, "{\"parameters\":{\"curve\":%s}}", text);
}

static int partition(int n, const char *option, const char *other)
{
	char root[128], first[] = "100", second[] = "200";
	const char *words[] = {fake_mtld_start(directory, answer_with), root, option, other, NULL};
	char *operands[] = {first, second, NULL};
	struct options options;
	int code;

	snprintf(root, sizeof(root), "--root=%s", fake_mount);
	options = options_of(COMMAND_PARTITION, words);
	code = run_command(command_partition, &options, n, operands);
	fake_mtld_stop();
	options_done(&options);
	return code;
}

static void the_cache_is_what_resctrl_divides(void **state)
{
	struct json_object *object;

	(void)state;
	machine(11, 1, false);
	fake->resources[0].shareable = 0x600;
	fake_machine_ready();
	assert_int_equal(partition(2, "--json", NULL), MTL_DONE);
	object = answer();
	assert_int_equal(object_number(object, "ways"), 11);
	assert_int_equal(object_number(object, "size_bytes"), 11 * WAY);
	assert_int_equal(object_number(element(object, "groups", 0), "ways"), 9);
	assert_string_equal(object_text(element(object, "groups", 0), "mask"), "0x1ff");
	assert_string_equal(object_text(element(object, "groups", 1), "mask"), "0x600");
	assert_string_equal(object_text(element(object, "groups", 0), "resctrl_group"), "mtl.100");
	assert_string_equal(
	        object_text(element(object, "groups", 0), "schemata"), "L3:0=1ff;1=1ff\n");
	json_object_put(object);
	assert_int_equal(fake_group_find("mtl.100", -1), -1); /* shown, not made */
	assert_int_equal(partition(2, NULL, NULL), MTL_DONE);
	assert_true(is_said(output, "  mtl.200  L3:0=600;1=600\n"));
}

static void it_is_applied_and_reverted(void **state)
{
	struct memory before;

	(void)state;
	machine(11, 1, false);
	before = remember();
	assert_int_equal(partition(2, "--apply", "--json"), MTL_DONE);
	assert_true(is_said(errors, "applied, until `mtl partition --revert`: 4 threads moved"));
	is_in(102, "mtl.100", "");
	is_in(200, "mtl.200", "");
	json_object_put(answer());
	assert_int_equal(partition(2, "--apply", "--json"), MTL_FAILED);
	assert_string_equal(output, "");
	assert_int_equal(partition(0, "--revert", NULL), MTL_DONE);
	is_as(&before);
}

static void what_is_no_better_is_not_applied(void **state)
{
	struct memory before;
	int code;

	(void)state;
	machine(11, 1, false);
	before = remember();
	alike = true;
	code = partition(2, "--apply", NULL);
	alike = false;
	assert_int_equal(code, MTL_FAILED);
	assert_string_equal(output, "");
	assert_true(is_said(errors, "not applied: "));
	is_as(&before);
}

static void ways_of_exclusive_groups_are_not_divided(void **state)
{
	struct json_object *object;
	int group;

	(void)state;
	machine(11, 1, false);
	group = fake_group_add("theirs", -1);
	fake->groups[0].values[0][0] = fake->groups[0].values[0][1] = 0x7fc;
	fake->groups[group].values[0][0] = fake->groups[group].values[0][1] = 0x3;
	fake->groups[group].exclusive = true;
	assert_int_equal(partition(2, "--json", NULL), MTL_DONE);
	object = answer();
	assert_int_equal(object_number(object, "ways"), 9);
	assert_string_equal(object_text(element(object, "groups", 0), "mask"), "0x1fc");
	json_object_put(object);
}

static void two_bits_at_least_where_the_processor_says_so(void **state)
{
	struct json_object *object;

	(void)state;
	machine(11, 3, false);
	assert_int_equal(partition(2, "--json", NULL), MTL_DONE);
	object = answer();
	assert_int_equal(object_number(element(object, "groups", 1), "ways"), 3);
	json_object_put(object);
}

static void no_resctrl_is_said(void **state)
{
	(void)state;
	machine(11, 1, false);
	fake->absent = true;
	assert_int_equal(partition(2, "--apply", NULL), MTL_FAILED);
	assert_true(is_said(errors, "cannot --apply: this machine cannot divide its caches"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
	        TEST(the_cache_is_what_resctrl_divides),
	        TEST(it_is_applied_and_reverted),
	        TEST(what_is_no_better_is_not_applied),
	        TEST(ways_of_exclusive_groups_are_not_divided),
	        TEST(two_bits_at_least_where_the_processor_says_so),
	        TEST(no_resctrl_is_said),
	};

	fake_resctrl_serve(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}

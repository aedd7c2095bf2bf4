/* SPDX-License-Identifier: MIT */
/*
 * `mtl partition` of processes on a machine with resctrl that is not there: geometry and masks from
 * it, --apply and --revert.
 */

#include "resctrl_fixture.h"

#include <math.h>

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

static int partition_of(
        const char *one, const char *two, int n, const char *option, const char *other)
{
	char root[128];
	const char *words[] = {fake_mtld_start(directory, answer_with), root, option, other, NULL};
	char *operands[] = {(char *)one, (char *)two, NULL};
	struct options options;
	int code;

	snprintf(root, sizeof(root), "--root=%s", fake_mount);
	options = options_of(COMMAND_PARTITION, words);
	code = run_command(command_partition, &options, n, operands);
	fake_mtld_stop();
	options_done(&options);
	return code;
}

static int partition(int n, const char *option, const char *other)
{
	return partition_of("100", "200", n, option, other);
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
	assert_string_equal(errors, "mtl: reverted\n");
	is_as(&before);
	assert_int_equal(partition(0, "--revert", NULL), MTL_DONE);
	assert_string_equal(errors, "mtl: there is nothing to revert\n");
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

/* --- some caches only */

static void chosen_caches_are_divided_and_no_others(void **state)
{
	int group;

	(void)state;
	machine(11, 1, false);
	assert_int_equal(partition(2, "--domain=1", "--apply"), MTL_DONE);
	assert_true(is_said(output, "  mtl.200  L3:1=600\n"));
	group = fake_group_find("mtl.200", -1);
	assert_int_equal(fake->groups[group].values[0][1], 0x600);
	assert_int_equal(fake->groups[group].values[0][0], 0x7ff);
	assert_int_equal(partition(0, "--revert", NULL), MTL_DONE);
	assert_int_equal(partition(2, "--domain=0,1,1", "--json"), MTL_DONE);
	assert_true(is_said(output, "L3:0=1ff;1=1ff"));
}

static void wrong_caches_are_refused_with_those_there_are(void **state)
{
	(void)state;
	machine(11, 1, false);
	assert_int_equal(partition(2, "--domain=1,7", NULL), MTL_USAGE);
	assert_true(is_said(errors, "no L3 cache with id 7; those of this machine are 0, 1"));
	fake->absent = true;
	assert_int_equal(partition(2, "--domain=1", NULL), MTL_FAILED);
	assert_true(is_said(errors, "cannot choose a --domain: this machine cannot divide"));
}

/* A group in exclusive mode takes ways of one cache: the other still has all. */
static void ways_taken_in_one_cache_are_free_in_the_other(void **state)
{
	struct json_object *object;
	int group;

	(void)state;
	machine(11, 1, false);
	group = fake_group_add("theirs", -1);
	fake->groups[0].values[0][0] = 0x7fc;
	fake->groups[0].values[0][1] = 0x7ff;
	fake->groups[group].values[0][0] = 0x3;
	fake->groups[group].values[0][1] = 0;
	fake->groups[group].exclusive = true;
	assert_int_equal(partition(2, "--json", "--domain=1"), MTL_DONE);
	object = answer();
	assert_int_equal(object_number(object, "ways"), 11);
	json_object_put(object);
	assert_int_equal(partition(2, "--json", "--domain=0"), MTL_DONE);
	object = answer();
	assert_int_equal(object_number(object, "ways"), 9);
	json_object_put(object);
}

/* --- groups of resctrl */

static void groups_of_others_are_shown_and_left_alone(void **state)
{
	struct memory before;

	(void)state;
	machine(11, 1, false);
	fake_task(200)->group = fake_group_add("theirs", -1);
	fake->resources[0].num_closids = 3; /* the default one, theirs, and one for us */
	before = remember();
	assert_int_equal(partition_of("100", "resctrl:theirs", 2, NULL, NULL), MTL_DONE);
	assert_true(is_said(output, "  theirs   L3:0=600;1=600\n"));
	assert_true(is_said(output, "theirs 1 process"));
	assert_int_equal(partition_of("100", "resctrl:theirs", 2, "--apply", NULL), MTL_USAGE);
	assert_true(is_said(errors, "--apply never touches groups of others, and resctrl:theirs"));
	is_as(&before);
}

static void the_default_group_is_the_rest(void **state)
{
	struct json_object *object;

	(void)state;
	machine(11, 1, false);
	assert_int_equal(partition_of("100", "resctrl:/", 2, "--json", NULL), MTL_DONE);
	object = answer();
	assert_string_equal(object_text(element(object, "groups", 1), "name"), "/");
	assert_int_equal(object_number(element(object, "groups", 1), "processes"), 1);
	assert_string_equal(object_text(element(object, "groups", 1), "resctrl_group"), "/");
	json_object_put(object);
	assert_int_equal(partition_of("100", "resctrl:none", 2, NULL, NULL), MTL_FAILED);
	assert_true(is_said(errors, "there is no resctrl group \"none\""));
}

/* Threads of a monitoring group, and the group that a plan for it would make. */
static void monitoring_groups_have_members_too(void **state)
{
	int group;

	(void)state;
	machine(11, 1, false);
	group = fake_group_add("theirs", -1);
	fake_task(200)->group = group;
	fake_task(200)->monitor = fake_group_add("m", group);
	assert_int_equal(
	        partition_of("100", "resctrl:theirs/mon_groups/m", 2, NULL, NULL), MTL_DONE);
	assert_true(is_said(output, "mtl.theirs_mon_groups_m  L3:0=600;1=600\n"));
}

/* Its ways are not among those that are divided. Process 200 is in it. */
static void an_exclusive_group(void)
{
	int group;

	machine(11, 1, false);
	group = fake_group_add("theirs", -1);
	fake->groups[0].values[0][0] = fake->groups[0].values[0][1] = 0x7fc;
	fake->groups[group].values[0][0] = fake->groups[group].values[0][1] = 0x3;
	fake->groups[group].exclusive = true;
	fake_task(200)->group = group;
}

static void an_exclusive_group_is_no_operand(void **state)
{
	(void)state;
	an_exclusive_group();
	assert_int_equal(partition_of("100", "resctrl:theirs", 2, NULL, NULL), MTL_USAGE);
	assert_true(is_said(errors, "resctrl:theirs is in exclusive mode: its ways are its own"));
	assert_int_equal(partition_of("100", "resctrl:theirs", 2, "--watch", NULL), MTL_USAGE);
	assert_true(is_said(errors, "resctrl:theirs is in exclusive mode"));
	assert_int_equal(partition_of("100", "resctrl:theirs", 2, "--ways=4", "--size=4M"), 0);
}

static void who_would_leave_an_exclusive_group_is_told(void **state)
{
	(void)state;
	an_exclusive_group();
	assert_int_equal(partition(2, NULL, NULL), MTL_DONE);
	assert_true(is_said(output, "note: 200 runs in the resctrl group theirs, whose ways are"));
	assert_false(strstr(output, "note: 100 runs"));
	fake_task(200)->monitor = fake_group_add("m", fake_task(200)->group);
	assert_int_equal(
	        partition_of("100", "resctrl:theirs/mon_groups/m", 2, NULL, NULL), MTL_DONE);
	assert_true(is_said(output, " runs in the resctrl group theirs/mon_groups/m, whose"));
}

static void who_is_in_a_group_only_in_part_is_told(void **state)
{
	int group;

	(void)state;
	machine(11, 1, false);
	group = fake_group_add("theirs", -1);
	fake_task(101)->group = group;
	assert_int_equal(partition_of("200", "resctrl:theirs", 2, NULL, NULL), MTL_DONE);
	assert_true(is_said(output, "processes of theirs with threads in other groups of resctrl"));
	assert_int_equal(partition_of("resctrl:/", "resctrl:theirs", 2, NULL, NULL), MTL_DONE);
	assert_true(is_said(output, "processes of theirs with"));
	assert_false(strstr(output, "processes of / with")); /* it is not in there any more */
	for (int tid = 100; tid < 103; tid++)
		fake_task(tid)->group = group;
	fake_task(102)->monitor = fake_group_add("m", group);
	assert_int_equal(partition_of("200", "resctrl:theirs", 2, NULL, NULL), MTL_DONE);
	assert_false(strstr(output, "with threads in other groups"));
	assert_int_equal(
	        partition_of("200", "resctrl:theirs/mon_groups/m", 2, NULL, NULL), MTL_DONE);
	assert_true(is_said(output, "with threads in other groups"));
}

static void groups_of_ours_keep_their_names(void **state)
{
	struct json_object *object;

	(void)state;
	machine(11, 1, false);
	assert_int_equal(partition(2, "--apply", "--json"), MTL_DONE);
	assert_int_equal(
	        partition_of("resctrl:mtl.100", "resctrl:mtl.200", 2, "--json", NULL), MTL_DONE);
	object = answer();
	assert_string_equal(object_text(element(object, "groups", 0), "resctrl_group"), "mtl.100");
	json_object_put(object);
	assert_int_equal(partition(0, "--revert", NULL), MTL_DONE);
}

/* --- measured */

static int share_of(const char *one, const char *two, const char *option, const char *other)
{
	char root[128], *operands[] = {(char *)one, (char *)two};
	const char *words[] = {
	        fake_mtld_start(directory, answer_with), root, "--size=11M", option, other, NULL};
	struct options options;
	int code;

	snprintf(root, sizeof(root), "--root=%s", fake_mount);
	options = options_of(COMMAND_SHARE, words);
	code = run_command(command_share, &options, 2, operands);
	fake_mtld_stop();
	options_done(&options);
	return code;
}

static struct json_object *measured(struct json_object *object, const char *array, size_t i)
{
	struct json_object *member = NULL;

	assert_true(json_object_object_get_ex(element(object, array, i), "measured", &member));
	return member;
}

/* Counters of fake_resctrl_tree.c: 1000 a group, 100 a domain and the length of the name, 13. */
static void what_is_counted_stands_beside_what_is_predicted(void **state)
{
	struct json_object *object, *one;

	(void)state;
	machine(11, 1, false);
	fake->monitoring = true;
	fake_task(200)->group = fake_group_add("theirs", -1);
	fake_task_add(300, 300, 0, fake_task(200)->group, -1);
	assert_int_equal(share_of("100", "200", "--json", NULL), MTL_DONE);
	object = answer();
	one = measured(object, "programs", 0);
	assert_int_equal(object_number(one, "occupancy_bytes"), 100 + 2 * 13);
	assert_int_equal(object_number(one, "other_processes"), 0);
	assert_int_equal(object_number(one, "caches"), 2);
	assert_true(isnan(object_number(one, "bytes_per_second"))); /* takes time: not asked */
	assert_true(object_number(one, "predicted_occupancy_bytes") ==
	            object_number(element(object, "programs", 0), "occupancy_bytes"));
	assert_true(object_number(one, "predicted_bytes_per_second") ==
	            64 * object_number(element(object, "programs", 0), "misses_together"));
	one = measured(object, "programs", 1);
	assert_int_equal(
	        object_number(one, "occupancy_bytes"), 2000 * fake_task(200)->group + 100 + 2 * 13);
	assert_int_equal(object_number(one, "other_processes"), 1);
	json_object_put(object);
	assert_int_equal(share_of("100", "200", NULL, NULL), MTL_DONE);
	assert_true(is_said(output, "Measured by resctrl, in 2 caches together; predicted of one "
	                            "cache that all\nshare:"));
	assert_true(is_said(output, "note: 200 is in theirs of resctrl with 1 other process: what "
	                            "is measured is of\nall of them"));
}

static void bandwidth_is_measured_when_asked_for(void **state)
{
	struct json_object *object, *one;

	(void)state;
	machine(11, 1, false);
	fake->monitoring = true;
	fake->growth = 1000;
	assert_int_equal(partition(2, "--measure=0.05", "--json"), MTL_DONE);
	object = answer();
	one = measured(object, "groups", 0);
	assert_true(object_number(one, "bytes_per_second") > 0);
	assert_true(object_number(one, "bytes_per_second") < 1000 * 100 / 0.05);
	assert_true(object_number(one, "local_bytes_per_second") == 0);
	assert_true(object_number(one, "seconds") == 0.05);
	json_object_put(object);
	assert_int_equal(partition(2, "--measure=0.05", "--domain=1"), MTL_DONE);
	assert_true(is_said(output, "Measured by resctrl within 50 ms; predicted"));
	fake->growth = -1;
	assert_int_equal(partition(2, "--measure=0.05", NULL), MTL_DONE);
	assert_true(is_said(output, "mbm_total_bytes: it was reset in between"));
}

static void what_cannot_be_counted_is_unknown(void **state)
{
	struct json_object *object, *one;

	(void)state;
	machine(11, 1, false);
	fake->monitoring = true;
	strcpy(fake->counter, "Unavailable");
	assert_int_equal(share_of("100", "200", "--json", "--measure=0.01"), MTL_DONE);
	object = answer();
	one = measured(object, "programs", 0);
	assert_true(isnan(object_number(one, "occupancy_bytes")));
	assert_true(isnan(object_number(one, "bytes_per_second")));
	assert_string_equal(object_text(one, "unknown"),
	        "llc_occupancy: Unavailable; mbm_total_bytes: Unavailable; mbm_local_bytes: "
	        "Unavailable");
	json_object_put(object);
	strcpy(fake->counter, "Error");
	assert_int_equal(share_of("100", "200", "--measure=0.01", NULL), MTL_DONE);
	assert_true(is_said(output, "unknown"));
	assert_true(is_said(output, "llc_occupancy: Error"));
	fake->monitoring = false;
	assert_int_equal(share_of("100", "200", "--measure=0.01", NULL), MTL_DONE);
	assert_true(is_said(output, "this processor cannot count what a group\noccupies"));
	assert_int_equal(share_of("100", "200", NULL, NULL), MTL_DONE); /* nobody has asked */
	assert_null(strstr(output, "Measured"));
	fake->absent = true;
	assert_int_equal(share_of("100", "200", "--measure=0.01", "--json"), MTL_DONE);
	assert_true(is_said(output, "this machine cannot divide its caches"));
}

/* Threads of one process in a control group and in a monitoring group of it are counted once. */
static void no_group_is_counted_twice(void **state)
{
	struct json_object *object, *one;
	int group;

	(void)state;
	machine(11, 1, false);
	fake->monitoring = true;
	group = fake_group_add("theirs", -1);
	for (int tid = 100; tid <= 102; tid++)
		fake_task(tid)->group = group;
	fake_task(100)->monitor = fake_task(102)->monitor = fake_group_add("m", group);
	assert_int_equal(share_of("100", "200", "--json", NULL), MTL_DONE);
	object = answer();
	one = measured(object, "programs", 0);
	assert_int_equal(object_number(one, "occupancy_bytes"), 2000 * group + 126);
	assert_string_equal(json_object_get_string(element(one, "groups", 0)), "theirs");
	json_object_put(object);
}

static void saved_curves_are_not_measured(void **state)
{
	struct live live = {
	        .footprint = 800, .resolution = 1, .step = 100, .misses = {2, 1}, .n = 2};

	(void)state;
	machine(11, 1, false);
	assert_int_equal(share_of(live_file("a.json", &live), live_file("b.json", &live),
	                         "--measure=1", NULL),
	        MTL_USAGE);
	assert_true(is_said(errors, "a saved curve cannot be measured now"));
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
	        TEST(chosen_caches_are_divided_and_no_others),
	        TEST(wrong_caches_are_refused_with_those_there_are),
	        TEST(ways_taken_in_one_cache_are_free_in_the_other),
	        TEST(groups_of_others_are_shown_and_left_alone),
	        TEST(the_default_group_is_the_rest),
	        TEST(monitoring_groups_have_members_too),
	        TEST(an_exclusive_group_is_no_operand),
	        TEST(who_would_leave_an_exclusive_group_is_told),
	        TEST(who_is_in_a_group_only_in_part_is_told),
	        TEST(groups_of_ours_keep_their_names),
	        TEST(what_is_counted_stands_beside_what_is_predicted),
	        TEST(bandwidth_is_measured_when_asked_for),
	        TEST(what_cannot_be_counted_is_unknown),
	        TEST(no_group_is_counted_twice),
	        TEST(saved_curves_are_not_measured),
	};

	fake_resctrl_serve(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}

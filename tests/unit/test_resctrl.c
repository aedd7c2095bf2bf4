/* SPDX-License-Identifier: MIT */
/*
 * Partitions carried out on a fake resctrl: every refusal is shown with the kernel's words and
 * leaves nothing behind, tasks come and go meanwhile, and whenever a program is killed before one
 * of its changes, revert brings back exactly what was there.
 */
#include "resctrl_fixture.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define N(array) (sizeof(array) / sizeof(*(array)))

/* --- the kernel refuses */

static const struct wish two[] = {{"a", 4, 0, {100}}, {"b", 7, 0, {200}}};

/* The machine as most tests want it: others' groups, tasks everywhere. */
static void busy_machine(void)
{
	int theirs;

	machine(11, 1, false);
	fake_resource_add("MB", FAKE_BANDWIDTH, 0);
	fake_machine_ready();
	theirs = fake_group_add("theirs and more", -1);
	fake_group_add("watch", theirs);
	fake_group_add("root watch", 0);
	fake_task(101)->group = theirs;
	fake_task(102)->group = theirs;
	fake_task(102)->monitor = fake_group_find("watch", theirs);
	fake_task(200)->monitor = fake_group_find("root watch", 0);
	fake_task_add(300, 300, 0, theirs, -1);
}

static void limbo(void)
{
	fake->rmid_error = EBUSY;
}

static void no_rmids(void)
{
	fake->rmid_error = ENOSPC;
}

static void closids_gone(void)
{
	fake->resources[0].num_closids = 3;
}

static void not_root(void)
{
	fake->closed = true;
}

static void others_task(void)
{
	fake->uid = 1000;
	fake_task(100)->uid = 1000;
	fake_task(102)->uid = 1000;
}

static void all_exclusive(void)
{
	struct fake_group *theirs = &fake->groups[1];

	theirs->exclusive = true;
	for (int d = 0; d < 2; d++) {
		fake->groups[0].values[0][d] = 0;
		theirs->values[0][d] = 0x7ff;
	}
}

static void some_exclusive(void)
{
	struct fake_group *theirs = &fake->groups[1];

	theirs->exclusive = true;
	for (int d = 0; d < 2; d++) {
		fake->groups[0].values[0][d] = 0x3ff;
		theirs->values[0][d] = 0x400;
	}
}

static void fewer_bits(void)
{
	fake->resources[0].mask = 0xff;
}

static void more_min_bits(void)
{
	fake->resources[0].min_bits = 5;
}

static void no_l3(void)
{
	strcpy(fake->resources[0].name, "L2");
}

static void other_ids(void)
{
	fake->resources[0].ids[1] = 9;
}

static void old_group(void)
{
	fake_group_add("mtl.b", -1);
}

static void group_vanishes(void)
{
	fake->ends_at = 1;
	fake->ending = 101;
}

/* Something changes between plan and apply; the words are the kernel's. */
static void refusals_in_the_kernels_words(void **state)
{
	static const struct {
		void (*change)(void);
		int r;
		const char *words[2];
	} cases[] = {
	        {closids_gone, -ENOSPC, {"make the group mtl.b", "says: Out of CLOSIDs)"}},
	        {no_rmids, -ENOSPC, {"make the group mtl.a", "says: Out of RMIDs)"}},
	        {limbo, -EBUSY, {"says: Out of RMIDs)", "try again in a few seconds"}},
	        {all_exclusive, -ENOSPC, {"says: No space on L3:0)", "exclusive"}},
	        {some_exclusive, -EINVAL,
	                {"masks of mtl.b to L3:0=7f0;1=7f0",
	                        "says: Overlaps with exclusive group)"}},
	        {fewer_bits, -EINVAL, {"mtl.b", "says: Mask out of range)"}},
	        {more_min_bits, -EINVAL, {"mtl.a", "says: Need at least 5 bits in the mask)"}},
	        {no_l3, -EINVAL, {"mtl.a", "says: Unknown or unsupported resource name 'L3')"}},
	        {other_ids, -EINVAL, {"mtl.a", "Invalid argument"}},
	        {others_task, -EPERM,
	                {"move thread 101 of process 100 into mtl.a",
	                        "says: No permission to move task 101;Error while processing task "
	                        "101)"}},
	        {not_root, -EACCES, {"mtl", "run as root"}},
	        {old_group, -EEXIST, {"mtl.b", "mtl partition --revert"}},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct resctrl_plan *plan;
		struct memory before;

		busy_machine();
		plan = plan_for(two, 2);
		cases[i].change();
		before = remember();
		assert_int_equal(apply(plan), cases[i].r);
		said(cases[i].words[0]);
		said(cases[i].words[1]);
		fake->closed = false;
		is_as(&before);
		assert_int_equal(fake->rash, 0);
		resctrl_plan_free(plan);
	}
}

/* The double itself: what it refuses, in the kernel's order. */
static void the_double_refuses(void **state)
{
	static const struct {
		const char *text, *status;
	} cases[] = {
	        {"L3:0=f", "Missing ':'\n"}, /* of the command before */
	        {"L3\n", "Missing ':'\n"},
	        {"L3:\n", "Missing 'L3' value\n"},
	        {"L9:0=f\n", "Unknown or unsupported resource name 'L9'\n"},
	        {"L3:0\n", "Missing '=' or non-numeric domain\n"},
	        {"L3:x=f\n", "Missing '=' or non-numeric domain\n"},
	        {"L3:7=f\n", ""},
	        {"L3:0=xyz\n", "Non-hex character in the mask xyz\n"},
	        {"L3:0=0\n", "Mask out of range\n"},
	        {"L3:0=fff\n", "Mask out of range\n"},
	        {"L3:0=805\n", "Mask out of range\n"},
	        {"L3:0=5\n", "The mask 5 has non-consecutive 1-bits\n"},
	        {"L3:0=1\n", "Need at least 2 bits in the mask\n"},
	        {"L3:0=3;0=3\n", "Duplicate domain 0\n"},
	        {"L3:0=3\nL3:1=5\n", "The mask 5 has non-consecutive 1-bits\n"},
	};
	uint32_t before;

	(void)state;
	machine_in_memory(11, 2, false);
	strcpy(fake->status, "Missing ':'\n");
	before = fake->groups[0].values[0][0];
	for (size_t i = 0; i < N(cases); i++) {
		assert_int_equal(
		        fake_schemata_write(0, cases[i].text, (unsigned)strlen(cases[i].text)),
		        -EINVAL);
		assert_string_equal(fake->status, cases[i].status);
		assert_int_equal(fake->groups[0].values[0][0], before);
	}
	assert_int_equal(fake_schemata_write(0, "  L3 :1=0x3\n", 12), 0);
	assert_int_equal(fake->groups[0].values[0][1], 3);
	assert_int_equal(fake_tasks_write(0, "77\n", 3), -ESRCH);
	assert_string_equal(fake->status, "No task 77\nError while processing task 77\n");
}

/* --- applied */

static void tasks_move_and_return(void **state)
{
	struct resctrl_plan *plan;
	struct memory before;

	(void)state;
	busy_machine();
	before = remember();
	plan = plan_for(two, 2);
	must_apply(plan);
	assert_int_equal(report.moved, 4);
	for (int tid = 100; tid < 103; tid++)
		is_in(tid, "mtl.a", "");
	is_in(200, "mtl.b", "");
	is_in(300, "theirs and more", "");
	assert_true(journal_there());
	/* again: not before the first is undone */
	assert_int_equal(apply(plan), -EALREADY);
	said("mtl partition --revert");
	is_in(200, "mtl.b", "");
	must_revert();
	is_as(&before);
	must_revert(); /* nothing to do */
	is_as(&before);
	resctrl_plan_free(plan);
}

static void threads_come_and_go(void **state)
{
	(void)state;
	for (int at = 1; at <= 3; at++) {
		struct resctrl_plan *plan;

		busy_machine();
		plan = plan_for(two, 2);
		fake->starts_at = fake->ends_at = at;
		fake->forking = 102; /* is moved last: its new thread is outside first */
		fake->ending = 101;
		must_apply(plan);
		assert_null(fake_task(101));
		is_in(900, "mtl.a", "");
		is_in(102, "mtl.a", "");
		/* one born inside is not in the journal; its process is */
		fake_task_add(901, 100, 0, fake_task(100)->group, -1);
		/* a number that is another process's by now, elsewhere: let alone */
		fake_task(200)->pid = 201;
		fake_task(200)->tid = 201;
		fake_task_add(200, 200, 0, 1, -1);
		must_revert();
		is_in(100, "", "");
		is_in(102, "theirs and more", "watch");
		is_in(900, "theirs and more", "watch");
		is_in(901, "", "");
		is_in(201, "", "");
		is_in(200, "theirs and more", "");
		resctrl_plan_free(plan);
	}
}

static void processes_that_ended(void **state)
{
	static const struct wish wishes[] = {{"a", 4, 0, {100, 4000}}};
	struct resctrl_plan *plan;

	(void)state;
	busy_machine();
	plan = plan_for(wishes, 1);
	group_vanishes();
	must_apply(plan);
	noted("mtl.a: process 4000 has ended");
	assert_int_equal(report.moved, 2);
	assert_int_equal(report.ended, 1);
	resctrl_plan_free(plan);
}

static void former_group_is_gone(void **state)
{
	struct resctrl_plan *plan;

	(void)state;
	busy_machine();
	plan = plan_for(two, 2);
	must_apply(plan);
	fake_rmdir(fake_group_find("theirs and more", -1));
	must_revert();
	noted("task 101 cannot return to group \"theirs and more\"");
	is_in(101, "", "");
	is_in(200, "", "root watch");
	assert_int_equal(fake_group_find("mtl.a", -1), -1);
	resctrl_plan_free(plan);
}

static void ways_that_come_in_pairs(void **state)
{
	static const struct wish wishes[] = {{"a", 0, 0x400, {0}}, {"b", 2, 0, {0}}};
	struct resctrl_plan *plan;

	(void)state;
	machine(11, 1, false);
	fake->paired = 0x600;
	plan = plan_for(wishes, 2);
	must_apply(plan);
	noted("mtl.a: L3 cache 0: asked for 0x400, the processor made it 0x600");
	noted("mtl.a: L3 cache 1: asked");
	assert_null(strstr(report.notes, "mtl.b"));
	resctrl_plan_free(plan);
}

static void groups_without_a_journal(void **state)
{
	(void)state;
	busy_machine();
	fake_task(300)->group = fake_group_add("mtl.old", -1);
	must_revert();
	noted("removed mtl.old");
	is_in(300, "", "");
	is_in(101, "theirs and more", "");
}

static void the_lock_is_waited_for(void **state)
{
	struct resctrl_plan *plan;
	char path[128];
	int fd;

	(void)state;
	busy_machine();
	plan = plan_for(two, 2);
	snprintf(path, sizeof(path), "%s/sys/fs/resctrl", fake_mount);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	assert_int_equal(apply(plan), -EWOULDBLOCK);
	said("another program has held the lock");
	assert_int_equal(fake->changes, 0);
	close(fd);
	must_apply(plan);
	resctrl_plan_free(plan);
}

static void other_masks_for_the_same_groups(void **state)
{
	static const struct wish other[] = {{"a", 7, 0, {200}}, {"b", 4, 0, {100, 300}}};
	static const struct wish third[] = {{"a", 1, 0, {100}}};
	struct resctrl_plan *plan = NULL;
	struct memory before, first;

	(void)state;
	busy_machine();
	before = remember();
	plan = plan_for(other, 2);
	assert_int_equal(resctrl_retune(&place, plan, &report, error, sizeof(error)), -ENOENT);
	resctrl_plan_free(plan);
	plan = plan_for(two, 2);
	must_apply(plan);
	resctrl_plan_free(plan);
	first = remember();
	plan = plan_for(third, 1);
	assert_int_equal(resctrl_retune(&place, plan, &report, error, sizeof(error)), -ENOENT);
	said("other groups");
	resctrl_plan_free(plan);
	plan = plan_for(other, 2);
	some_exclusive(); /* mtl.a gets 07f, then mtl.b cannot have 780 */
	first.groups[0] = fake->groups[0];
	first.groups[1] = fake->groups[1];
	assert_int_equal(resctrl_retune(&place, plan, &report, error, sizeof(error)), -EINVAL);
	said("Overlaps with exclusive group");
	assert_memory_equal(first.groups, fake->groups, sizeof(fake->groups));
	fake->groups[0] = before.groups[0];
	fake->groups[1] = before.groups[1];
	assert_int_equal(resctrl_retune(&place, plan, &report, error, sizeof(error)), 0);
	assert_int_equal(report.moved, 5);
	is_in(300, "mtl.b", "");
	assert_int_equal(fake->groups[fake_group_find("mtl.a", -1)].values[0][0], 0x7f);
	assert_int_equal(fake->rash, 0);
	resctrl_plan_free(plan);
	must_revert();
	is_as(&before);
}

static void monitored(void **state)
{
	struct resctrl_reading *readings;
	size_t n;

	(void)state;
	machine(11, 1, false);
	fake->resources[0].ids[1] = 16;
	fake_group_add("mtl.a", -1);
	assert_int_equal(resctrl_monitor(&place, "mtl.a", &readings, &n, error, sizeof(error)), 0);
	assert_int_equal(n, 2);
	assert_int_equal(readings[1].domain, 16);
	assert_true(readings[1].occupancy.known && readings[1].total.known);
	assert_int_equal(readings[1].occupancy.bytes, 1000 + 1600 + 13);
	assert_int_equal(readings[0].local.bytes, 1000 + 15);
	free(readings);
	for (int i = 0; i < 3; i++) {
		strcpy(fake->counter, (const char *[]){"Unavailable", "Error", "12x"}[i]);
		assert_int_equal(
		        resctrl_monitor(&place, "", &readings, &n, error, sizeof(error)), 0);
		assert_false(readings[0].occupancy.known || readings[0].total.known);
		free(readings);
	}
	assert_int_equal(
	        resctrl_monitor(&place, "no", &readings, &n, error, sizeof(error)), -ENOENT);
	said("no resctrl group \"no\"");
	fake->monitoring = false;
	assert_int_equal(
	        resctrl_monitor(&place, "", &readings, &n, error, sizeof(error)), -EOPNOTSUPP);
	said("cannot count");
}

/* --- killed before each change */

enum action { APPLY, RETUNE, REVERT };

/* true: it was killed before change k; false: it came to its end, successfully. */
static bool killed_at(int k, enum action action, const struct resctrl_plan *plan)
{
	int status;
	pid_t pid;

	fake->changes = 0;
	fake->crash_at = k;
	pid = fork();
	if (pid == 0) {
		int r = action == APPLY ? apply(plan)
		        : action == RETUNE
		                ? resctrl_retune(&place, plan, &report, error, sizeof(error))
		                : resctrl_revert(&place, &report, error, sizeof(error));

		_exit(r == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	fake->crash_at = 0;
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return true;
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

static void killed_while_applying(void **state)
{
	int k = 1;

	(void)state;
	for (bool killed = true; killed; k++) {
		static struct resctrl_plan *plan; /* not lost to a killed copy */
		struct memory before;

		busy_machine();
		before = remember();
		plan = plan_for(two, 2);
		killed = killed_at(k, APPLY, plan);
		assert_int_equal(fake->rash, 0);
		must_revert();
		is_as(&before);
		resctrl_plan_free(plan);
	}
	assert_int_equal(k - 2, 11); /* journal 3, two groups 4, tasks 4 */
}

/* And revert itself, which is then done again. */
static void killed_while_reverting(void **state)
{
	int k = 1;

	(void)state;
	for (bool killed = true; killed; k++) {
		static struct resctrl_plan *plan; /* not lost to a killed copy */
		struct memory before;

		busy_machine();
		before = remember();
		plan = plan_for(two, 2);
		must_apply(plan);
		killed = killed_at(k, REVERT, plan);
		must_revert();
		is_as(&before);
		resctrl_plan_free(plan);
	}
	assert_true(k > 8);
}

static void killed_while_retuning(void **state)
{
	static const struct wish other[] = {{"a", 7, 0, {100}}, {"b", 4, 0, {200, 300}}};
	int k = 1;

	(void)state;
	for (bool killed = true; killed; k++) {
		static struct resctrl_plan *plan, *second; /* not lost to a killed copy */
		struct memory before;

		busy_machine();
		before = remember();
		plan = plan_for(two, 2);
		second = plan_for(other, 2);
		must_apply(plan);
		killed = killed_at(k, RETUNE, second);
		must_revert();
		is_as(&before);
		resctrl_plan_free(plan);
		resctrl_plan_free(second);
	}
	assert_int_equal(k - 2, 4);
}

/* A journal cut off within a line, anywhere; what it had no word of had not been done. */
static void torn_journal(void **state)
{
	struct fake_file *file;
	struct resctrl_plan *plan;

	(void)state;
	for (unsigned size = 0; size < 40; size += RUNNING_ON_VALGRIND ? 13 : 3) {
		busy_machine();
		plan = plan_for(two, 2);
		must_apply(plan);
		file = fake->files[0].directory ? &fake->files[1] : &fake->files[0];
		assert_true(file->there);
		file->size = size;
		must_revert();
		assert_false(journal_there());
		resctrl_plan_free(plan);
	}
	busy_machine();
	plan = plan_for(two, 2);
	must_apply(plan);
	memcpy(file->data, "something else", 14);
	assert_int_equal(resctrl_revert(&place, &report, error, sizeof(error)), -EPROTO);
	said("not one of mtl's");
	resctrl_plan_free(plan);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_double_refuses),
	        cmocka_unit_test(refusals_in_the_kernels_words),
	        cmocka_unit_test(tasks_move_and_return),
	        cmocka_unit_test(threads_come_and_go),
	        cmocka_unit_test(processes_that_ended),
	        cmocka_unit_test(former_group_is_gone),
	        cmocka_unit_test(ways_that_come_in_pairs),
	        cmocka_unit_test(groups_without_a_journal),
	        cmocka_unit_test(the_lock_is_waited_for),
	        cmocka_unit_test(other_masks_for_the_same_groups),
	        cmocka_unit_test(monitored),
	        cmocka_unit_test(killed_while_applying),
	        cmocka_unit_test(killed_while_reverting),
	        cmocka_unit_test(killed_while_retuning),
	        cmocka_unit_test(torn_journal),
	};

	fake_resctrl_serve(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}

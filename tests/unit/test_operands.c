/* SPDX-License-Identifier: MIT */
/*
 * What operands stand for, below a root with the control groups that docker, kubernetes and systemd
 * make; and groups of processes as `mtl share` sees them: what counts, what does not, what is said.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "cgroup.h"
#include "../../cli/operand.h"
#include "command_fixture.h"
#include "fake_mtld.h"
#include "fake_root.h"
#include "terminal.h"

#define ID "4b2f0ad2ab11b1a2c3e34f92a5e0bb0a84d8a3a9a8b1d3ea10a2f0c6b64d7e21"
#define POD "6ba4e1f5_8a3c_4ad1_b2d8_7f4f2b1f5c9e"

/* As recorded: `find /sys/fs/cgroup -name cgroup.procs` of four machines, `cat /proc/mounts`. */
static const char v2_mounts[] =
        "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0\n";
static const char v1_mounts[] =
        "tmpfs /sys/fs/cgroup tmpfs ro,nosuid,nodev,noexec,mode=755 0 0\n"
        "cgroup /sys/fs/cgroup/memory cgroup rw,nosuid,nodev,noexec,relatime,memory 0 0\n"
        "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid,nodev,noexec,relatime 0 0\n"
        "cgroup /sys/fs/cgroup/systemd cgroup rw,xattr,release_agent=x,name=systemd 0 0\n"
        "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,nodev,noexec,cpu,cpuacct 0 0\n";

static const char *const v2_groups[] = {
        "system.slice/redis-server.service",
        "system.slice/docker-" ID ".scope",
        "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD
        ".slice/cri-containerd-" ID ".scope",
        "user.slice/user-1000.slice/session-3.scope",
        "user.slice/user-1000.slice/user@1000.service/app.slice/"
        "app-gnome-firefox-4711.scope",
        "machine.slice/libpod-" ID ".scope/container",
};

static const char *const v1_groups[] = {
        "docker/" ID,
        "kubepods/burstable/pod6ba4e1f5-8a3c-4ad1-b2d8-7f4f2b1f5c9e/" ID,
        "system.slice/redis-server.service",
};

static int both_setup(void **state)
{
	return fake_root_new(state) ?: files_setup(state);
}

static int both_teardown(void **state)
{
	return fake_root_free(state) | files_teardown(state);
}

static void group(const char *hierarchy, const char *path, const char *processes)
{
	char name[400];

	snprintf(name, sizeof(name), "sys/fs/cgroup/%s%s/cgroup.procs", hierarchy, path);
	assert_int_equal(fake_file(name, processes), 0);
}

static void has(const char *name, const int *pids, size_t n)
{
	_cleanup_(pid_set_done) struct pid_set set = {0};
	char path[PATH_MAX];
	size_t hidden;

	if (cgroup_find(fake_root, name, path) < 0)
		fail_msg("%s is not found", name);
	assert_int_equal(cgroup_processes(path, &set, &hidden), 0);
	assert_int_equal(set.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(set.pids[i], pids[i]);
}

/* --- control groups */

static void recorded_paths_of_v2(void **state)
{
	char name[400], processes[16];

	(void)state;
	assert_int_equal(fake_file("proc/mounts", v2_mounts), 0);
	group("", "", "1\n");
	for (size_t i = 0; i < sizeof(v2_groups) / sizeof(*v2_groups); i++) {
		int pid = 100 + (int)i;

		snprintf(processes, sizeof(processes), "%d\n", pid);
		group("", v2_groups[i], processes);
		has(v2_groups[i], &pid, 1); /* as people write it */
		snprintf(name, sizeof(name), "/%s/", v2_groups[i]);
		has(name, &pid, 1); /* as /proc/PID/cgroup has it */
		snprintf(name, sizeof(name), "/sys/fs/cgroup/%s", v2_groups[i]);
		has(name, &pid, 1); /* as a shell completes it */
	}
	group("", "user.slice", "");
	has("user.slice", (const int[]){103, 104}, 2);
	has("/", (const int[]){1, 100, 101, 102, 103, 104, 105}, 7);
}

static void recorded_paths_of_v1(void **state)
{
	const int pids[] = {7, 8, 9};

	(void)state;
	assert_int_equal(fake_file("proc/mounts", v1_mounts), 0);
	group("memory/", "", "1\n");
	group("unified/", "", "1\n");
	group("memory/", v1_groups[0], "7\n");
	group("cpu,cpuacct/", v1_groups[1], "8\n");
	group("memory/", v1_groups[2], "5\n");
	group("systemd/", v1_groups[2], "9\n"); /* the one that is asked first */
	for (int i = 0; i < 3; i++)
		has(v1_groups[i], &pids[i], 1);
	has("/sys/fs/cgroup/memory/system.slice/redis-server.service", (const int[]){5}, 1);
}

static void lists_are_unordered_with_repeats_and_strangers(void **state)
{
	_cleanup_(pid_set_done) struct pid_set set = {0};
	char path[PATH_MAX];
	size_t hidden;

	(void)state;
	group("", "a.slice", "30\n0\n10\n");
	group("", "a.slice/b.scope", "20\n10\n0\n");
	group("", "a.slice/empty.scope", "");
	assert_int_equal(cgroup_find(fake_root, "a.slice", path), 0); /* without /proc/mounts */
	assert_int_equal(cgroup_processes(path, &set, &hidden), 0);
	assert_int_equal(hidden, 2);
	has("a.slice", (const int[]){10, 20, 30}, 3);
	assert_int_equal(cgroup_find(fake_root, "b.scope", path), -ENOENT);
}

static void many_processes_are_all_there(void **state)
{
	char list[20000], *at = list;
	int pids[2000];

	(void)state;
	for (int i = 2000; i > 0; i--) {
		at += sprintf(at, "%d\n", i);
		pids[i - 1] = i;
	}
	group("", "many", list);
	has("many", pids, 2000);
}

/* --- which of all that could be called so */

static void resolves(const char *text, enum demand_kind kind, const char *name)
{
	const struct options options = {.root = fake_root};
	char *texts[] = {(char *)text, (char *)"99999"};
	struct operand_list list;

	assert_int_equal(operands_new("share", &options, 2, texts, &list), MTL_DONE);
	if (list.operands[0].kind != kind || strcmp(list.operands[0].name, name) != 0)
		fail_msg("%s is %d %s", text, list.operands[0].kind, list.operands[0].name);
	operands_done(&list);
}

static void what_could_be_several_things(void **state)
{
	char here[PATH_MAX], file[] = "12";

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(directory), 0);
	group("", "12", "5\n");
	group("", "both", "6\n");
	group("", "a.slice/b.service", "7\n");
	file_with(file, "{}");
	file_with("both", "{}");
	resolves("12", DEMAND_PROCESS, "12");
	resolves("./12", DEMAND_FILE, "12");
	resolves("cgroup:12", DEMAND_CGROUP, "12");
	resolves("both", DEMAND_FILE, "both");
	resolves("cgroup:both", DEMAND_CGROUP, "both");
	resolves("/both", DEMAND_CGROUP, "both");
	resolves("a.slice/b.service", DEMAND_CGROUP, "b.service");
	resolves("/sys/fs/cgroup/a.slice/b.service/", DEMAND_CGROUP, "b.service");
	resolves("none/x.json", DEMAND_FILE, "x");
	resolves("resctrl:/", DEMAND_RESCTRL, "/");
	resolves("resctrl:theirs", DEMAND_RESCTRL, "theirs");
	resolves("resctrl:theirs/mon_groups/m", DEMAND_RESCTRL, "theirs/mon_groups/m");
	resolves("resctrl:/mtl.a/", DEMAND_RESCTRL, "mtl.a");
	assert_int_equal(chdir(here), 0);
}

static void groups_that_end_alike_are_called_by_their_paths(void **state)
{
	const struct options options = {.root = fake_root};
	char one[] = "a.slice/x.service", other[] = "cgroup:b.slice/x.service", third[] = "a.slice";
	char *texts[] = {one, other, third};
	struct operand_list list;

	(void)state;
	group("", "a.slice", "");
	group("", "a.slice/x.service", "5\n");
	group("", "b.slice/x.service", "6\n");
	assert_int_equal(operands_new("share", &options, 3, texts, &list), MTL_DONE);
	assert_string_equal(list.operands[0].name, "a.slice/x.service");
	assert_string_equal(list.operands[1].name, "b.slice/x.service");
	assert_string_equal(list.operands[2].name, "a.slice");
	operands_done(&list);
}

/* --- groups as demands */

/* The tens are a curve, 12 and 13 idle, 14 forbidden, 15 gone, 16 a kernel thread, 17 too young, 18
 * one too many. */
static const struct {
	int pid;
	const char *error;
} failures[] = {{12, "NotEnoughObservations"}, {13, "NotEnoughObservations"},
        {14, "PermissionDenied"}, {15, "NoSuchProcess"}, {16, "KernelThread"},
        {17, "NotEnoughObservations"}, {18, "TooManyProcesses"}};

static char order[256];

static void answer_with(const char *question, char *ret_reply, size_t size)
{
	struct live live = {.footprint = 800,
	        .resolution = 1,
	        .step = 100,
	        .misses = {1000, 800, 600, 400, 300, 200, 100, 0},
	        .n = 8};
	const char *at = strstr(question, "\"pid\":");
	char text[16384];

	live.pid = at ? atoi(at + 6) : 0;
	if (strstr(question, "io.mtld.List")) {
		snprintf(ret_reply, size,
		        "{\"parameters\":{\"processes\":["
		        "{\"pid\":12,\"state\":\"sampling\",\"cpu_seconds\":0,\"wall_seconds\":9},"
		        "{\"pid\":13,\"state\":\"sampling\",\"cpu_seconds\":0.002,\"wall_seconds\":"
		        "10},"
		        "{\"pid\":17,\"state\":\"sampling\",\"cpu_seconds\":0,\"wall_seconds\":1},"
		        "{\"pid\":4,\"state\":\"sampling\",\"cpu_seconds\":0,\"wall_seconds\":9}"
		        "]}}");
		return;
	}
	text_append(order, sizeof(order), "%d ", live.pid);
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		if (failures[i].pid != live.pid)
			continue;
		snprintf(ret_reply, size, "{\"error\":\"io.mtld.%s\",\"parameters\":{\"pid\":%d}}",
		        failures[i].error, live.pid);
		return;
	}
	live_text(&live, text, sizeof(text));
	snprintf(ret_reply, size, "{\"parameters\":{\"curve\":%s}}", text);
}

/* Of /proc/PID/stat: CPU time in ticks, pages. */
static void process(int pid, int ticks, int pages)
{
	char name[64], text[256];

	snprintf(name, sizeof(name), "proc/%d/stat", pid);
	snprintf(text, sizeof(text),
	        "%d (a) b (c) S 1 2 3 4 5 6 7 8 9 10 %d 0 13 14 15 16 17 18 19 20 %d 22\n", pid,
	        ticks, pages);
	assert_int_equal(fake_file(name, text), 0);
}

static int share(const char *one, const char *other, const char *option)
{
	char root[128], *operands[] = {(char *)one, (char *)other};
	const char *words[] = {fake_mtld_start(directory, answer_with), root, "--size=400",
	        "--wait=0", option, NULL};
	struct options options;
	int code;

	snprintf(root, sizeof(root), "--root=%s", fake_root);
	options = options_of(COMMAND_SHARE, words);
	order[0] = '\0';
	code = run_command(command_share, &options, 2, operands);
	fake_mtld_stop();
	options_done(&options);
	return code;
}

static void near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= 1e-6 * fmax(1, fabs(wanted))))
		fail_msg("%.17g is not %.17g", value, wanted);
}

/* Two of one curve beside one of it: a third of 400 each, 133.3, where one misses 1000 a CPU second
 * less 2 a byte, half of which on the wall clock. */
static void a_group_is_its_processes_together(void **state)
{
	struct json_object *object, *program;

	(void)state;
	group("", "two.slice", "10\n");
	group("", "two.slice/x", "20\n");
	process(10, 100, 10);
	process(20, 300, 10);
	assert_int_equal(share("two.slice", "30", "--json"), MTL_DONE);
	object = answer();
	program = element(object, "programs", 0);
	assert_string_equal(object_text(program, "name"), "two.slice");
	assert_string_equal(object_text(program, "kind"), "cgroup");
	assert_int_equal(object_number(program, "processes"), 2);
	assert_int_equal(object_number(program, "processes_without_curve"), 0);
	near(object_number(program, "cpu_covered"), 1);
	near(object_number(program, "occupancy_bytes"), 800.0 / 3);
	near(object_number(program, "misses_together"), 1000 - 2 * 400 / 3.0 + 200);
	near(object_number(program, "footprint_bytes"), 1600);
	near(object_number(element(object, "programs", 1), "misses_together"),
	        500 - 400 / 3.0 + 100);
	json_object_put(object);
	assert_int_equal(strncmp(order, "20 10 30 ", 9), 0); /* those that use most first */
	assert_int_equal(share("two.slice", "30", NULL), MTL_DONE);
	assert_true(is_said(output, "two.slice 2 processes"));
}

static void whoever_is_missing_is_said(void **state)
{
	struct json_object *object, *program;

	(void)state;
	group("", "mixed", "10\n12\n13\n14\n15\n16\n17\n18\n0\n");
	process(10, 500, 50);
	process(12, 100, 20);
	process(14, 100, 10);
	process(16, 900, 0);
	process(17, 300, 20);
	assert_int_equal(share("mixed", "30", "--json"), MTL_DONE);
	object = answer();
	program = element(object, "programs", 0);
	assert_int_equal(object_number(program, "processes"), 7);
	assert_int_equal(object_number(program, "processes_without_curve"), 4);
	assert_int_equal(object_number(program, "processes_idle"), 2);
	near(object_number(program, "cpu_covered"), 0.6);
	near(object_number(program, "resident_covered"), 0.7);
	near(object_number(program, "footprint_bytes"), 800);
	json_object_put(object);
	assert_true(is_said(output, "4 of the 7 processes of mixed have no curve (1 with too few "
	                            "observations yet, 1 ended, 1 not permitted, 1 beyond "
	                            "max_processes of mtld.conf); the others account for 60 % of "
	                            "its CPU time so far and 70 % of its resident memory: it asks "
	                            "for more than is shown"));
	assert_true(is_said(output, "2 of the 7 processes of mixed hardly run (together 0.02 % of "
	                            "a CPU): they count as no demand"));
	assert_true(is_said(
	        output, "kernel threads of mixed left out, which have no memory of their own: 1"));
	assert_true(is_said(output,
	        "processes of mixed in another pid namespace, which are not in what is shown: 1"));
}

static void what_is_covered_well_is_no_alarm(void **state)
{
	(void)state;
	group("", "mixed", "10\n17\n");
	process(10, 950, 95);
	process(17, 50, 5);
	assert_int_equal(share("mixed", "30", "--json"), MTL_DONE);
	assert_true(is_said(output, "95 % of its resident memory\""));
	assert_null(strstr(output, "more than is shown"));
}

static void groups_of_which_nothing_is_known(void **state)
{
	(void)state;
	group("", "idle", "12\n13\n");
	group("", "young", "17\n12\n14\n");
	group("", "empty", "");
	group("", "kernel", "16\n");
	assert_int_equal(share("30", "idle", NULL), MTL_NOT_ENOUGH);
	assert_true(is_said(errors, "no process of idle runs"));
	assert_int_equal(share("30", "young", NULL), MTL_NOT_ENOUGH);
	assert_true(is_said(errors, "not one of the 3 processes of young has a curve (1 with too "
	                            "few observations yet, 1 not permitted, others hardly run)"));
	assert_int_equal(share("30", "empty", NULL), MTL_FAILED);
	assert_true(is_said(errors, "empty has no process"));
	assert_int_equal(share("30", "kernel", NULL), MTL_FAILED);
	assert_true(is_said(errors, "kernel has no process but kernel threads"));
	assert_string_equal(output, "");
}

static void a_process_is_in_one_group_only(void **state)
{
	(void)state;
	group("", "a.slice", "");
	group("", "a.slice/b", "10\n20\n");
	assert_int_equal(share("20", "a.slice", NULL), MTL_USAGE);
	assert_true(is_said(errors, "process 20 is in 20 and in a.slice"));
	assert_int_equal(share("a.slice/b", "a.slice", NULL), MTL_USAGE);
	assert_true(is_said(errors, "process 10 is in b and in a.slice"));
}

static void what_is_nowhere_is_said_so(void **state)
{
	(void)state;
	assert_int_equal(share("30", "cgroup:none", NULL), MTL_FAILED);
	assert_true(is_said(errors, "there is no control group none below a mount of cgroup"));
	assert_int_equal(share("30", "none", NULL), MTL_FAILED);
	assert_true(is_said(errors, "none: No such file or directory; nor is there a control group "
	                            "of that name"));
	assert_int_equal(share("30", "resctrl:a/../b", NULL), MTL_USAGE);
	assert_true(is_said(errors, "resctrl:a/../b names no group of resctrl"));
	assert_int_equal(share("30", "resctrl:a", NULL), MTL_FAILED);
	assert_true(is_said(errors, "this machine cannot divide its caches"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, both_setup, both_teardown)
	        TEST(recorded_paths_of_v2),
	        TEST(recorded_paths_of_v1),
	        TEST(lists_are_unordered_with_repeats_and_strangers),
	        TEST(many_processes_are_all_there),
	        TEST(what_could_be_several_things),
	        TEST(groups_that_end_alike_are_called_by_their_paths),
	        TEST(a_group_is_its_processes_together),
	        TEST(whoever_is_missing_is_said),
	        TEST(what_is_covered_well_is_no_alarm),
	        TEST(groups_of_which_nothing_is_known),
	        TEST(a_process_is_in_one_group_only),
	        TEST(what_is_nowhere_is_said_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

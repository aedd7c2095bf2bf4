/* SPDX-License-Identifier: MIT */
/*
 * `mtl partition --watch` on a machine with resctrl that is not there, with curves and a clock that
 * the test sets between rounds; then as a process of its own that is ended and killed.
 */

#include "resctrl_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include "../../cli/in_force.h"
#include "../../cli/partition_watch.h"
#include "command_fixture.h"
#include "fake_mtld.h"

#define WAY (1 << 20) /* of the fake machine */
#define LINES 16
#define INTERVAL 10

/* What the curves are like now. */
static enum curves {
	FIRST,     /* 100 uses all it gets, 200 nothing beyond 2 ways: 9 and 2 are best */
	SECOND,    /* the other way round: 2 and 9 */
	NEARLY,    /* as FIRST, but 8 and 3 have 2.7 % fewer misses */
	UNCERTAIN, /* as SECOND, more or less by 80 % */
	ALIKE,     /* undivided is best */
	NONE,      /* not enough observations */
} curves;

static double misses_of(int pid, int i)
{
	double greedy = 1e6 - 9e4 * i, modest = i ? 100 : 5e5;

	if (curves == ALIKE)
		return 1e6 / (i + 1);
	if (curves == NEARLY && pid != 100)
		return i > 1 ? 0 : i ? 1e5 : 5e5;
	return (pid == 100) == (curves == FIRST || curves == NEARLY) ? greedy : modest;
}

static void answer_with(const char *question, char *ret_reply, size_t size)
{
	const char *pid_text = strstr(question, "\"pid\":");
	int pid = pid_text ? atoi(pid_text + 6) : 0;
	struct live live = {.pid = pid,
	        .footprint = 16e6,
	        .resolution = 1,
	        .step = WAY,
	        .width = curves == UNCERTAIN ? 0.8 : 0,
	        .n = 11};
	char text[16384];

	for (int i = 0; i < live.n; i++)
		live.misses[i] = misses_of(pid, i);
	live_text(&live, text, sizeof(text));
	if (curves == NONE)
		snprintf(ret_reply, size,
		        "{\"error\":\"io.mtld.NotEnoughObservations\",\"parameters\":{\"pid\":%d,"
		        "\"observations\":3,\"needed\":50}}",
		        pid);
	else
		snprintf(ret_reply, size, "{\"parameters\":{\"curve\":%s}}", text);
}

/* --- rounds */

static struct {
	double time;
	int round, rounds;
	void (*between)(int round); /* after so many rounds */
} script;

static double script_now(void *data)
{
	(void)data;
	return script.time;
}

static bool script_pause(void *data, double seconds)
{
	(void)data;
	assert_true(seconds == INTERVAL);
	script.time += seconds;
	script.round++;
	if (script.between)
		script.between(script.round);
	return script.round < script.rounds;
}

static int scripted(const struct options *options, int n, char **operands)
{
	static const struct watch_world world = {script_now, script_pause, NULL};

	return partition_watch_in(options, n, operands, &world);
}

static struct json_object *lines[LINES];
static int n_lines;

static void forget_lines(void)
{
	for (int i = 0; i < n_lines; i++)
		json_object_put(lines[i]);
	n_lines = 0;
}

static void parse_lines(void)
{
	char copy[OUTPUT], *rest = copy, *line;

	forget_lines();
	strcpy(copy, output);
	while ((line = strsep(&rest, "\n")) && *line) {
		assert_true(n_lines < LINES);
		lines[n_lines] = json_tokener_parse(line);
		assert_non_null(lines[n_lines]);
		n_lines++;
	}
}

static int run_watch(command_function *command, int n, const char *const *extra)
{
	char root[128], *operands[] = {(char *)"100", (char *)"200", (char *)"300", NULL};
	const char *words[16] = {
	        fake_mtld_start(directory, answer_with), root, "--watch", "--rounds=1"};
	struct options options;
	int code;

	for (int i = 4; *extra; i++)
		words[i] = *extra++;
	snprintf(root, sizeof(root), "--root=%s", fake_mount);
	options = options_of(COMMAND_PARTITION, words);
	code = run_command(command, &options, n, operands);
	fake_mtld_stop();
	options_done(&options);
	return code;
}

#define WATCH(rounds_, between_, ...)                                                              \
	watch_of(2, rounds_, between_, (const char *[]){"--json", ##__VA_ARGS__, NULL})

static int watch_of(int n, int rounds, void (*between)(int round), const char *const *extra)
{
	int code;

	script.time = 0;
	script.round = 0;
	script.rounds = rounds;
	script.between = between;
	code = run_watch(scripted, n, extra);
	parse_lines();
	return code;
}

static void line_is(int i, const char *event, const char *decision)
{
	assert_true(i < n_lines);
	if (strcmp(object_text(lines[i], "event"), event) != 0 ||
	        (decision && strcmp(object_text(lines[i], "decision"), decision) != 0))
		fail_msg("line %d is not %s %s: %s", i, event, decision ?: "",
		        json_object_to_json_string(lines[i]));
}

static uint32_t mask_of(const char *group)
{
	int g = fake_group_find(group, -1);

	return g < 0 ? 0 : fake->groups[g].values[0][1];
}

static int setup_machine(void **state)
{
	curves = FIRST;
	return files_setup(state);
}

static int teardown_machine(void **state)
{
	forget_lines();
	return files_teardown(state);
}

static void a_machine(struct memory *ret_before)
{
	machine(11, 1, false);
	*ret_before = remember();
}

/* --- */

static void nothing_is_there(int round)
{
	(void)round;
	assert_int_equal(fake->changes, 0);
}

static void a_dry_run_writes_nothing(void **state)
{
	struct memory before;

	(void)state;
	a_machine(&before);
	assert_int_equal(WATCH(3, nothing_is_there), MTL_DONE);
	assert_int_equal(n_lines, 4);
	line_is(0, "decision", "change");
	assert_true(object_number(lines[0], "dry_run") && !object_number(lines[0], "applied"));
	assert_true(object_number(lines[0], "gain") > 0 && object_number(lines[0], "low") > 0);
	assert_string_equal(object_text(lines[0], "in_force"), "-");
	assert_int_equal(object_number(element(lines[0], "best", 0), "ways"), 9);
	line_is(1, "decision", "same"); /* as if it had been done */
	assert_int_equal(object_number(element(lines[1], "in_force", 1), "ways"), 2);
	line_is(2, "decision", "same");
	line_is(3, "ended", NULL);
	assert_int_equal(fake->changes, 0);
	is_as(&before);
}

static int former_group;

static void curves_change(int round)
{
	if (round == 1) {
		is_in(102, "mtl.100", "");
		assert_int_equal(mask_of("mtl.100"), 0x1ff);
		former_group = fake_group_find("mtl.200", -1);
		curves = SECOND;
	} else {
		assert_int_equal(mask_of("mtl.100"), 0x3);
		assert_int_equal(mask_of("mtl.200"), 0x7fc);
		assert_int_equal(fake_group_find("mtl.200", -1), former_group);
	}
}

static void a_change_follows_the_curves_and_is_undone(void **state)
{
	struct memory before;

	(void)state;
	a_machine(&before);
	assert_int_equal(WATCH(3, curves_change, "--apply", "--pause=0"), MTL_DONE);
	line_is(0, "decision", "change");
	assert_true(object_number(lines[0], "applied"));
	line_is(1, "outcome", NULL);
	assert_true(is_said(object_text(lines[1], "reason"), "another change came before"));
	line_is(2, "decision", "change");
	line_is(3, "decision", "same");
	line_is(4, "ended", NULL);
	assert_true(
	        is_said(object_text(lines[4], "reason"), "asked to end; the division is undone"));
	is_as(&before);
}

static void words_for_people(void **state)
{
	struct memory before;

	(void)state;
	a_machine(&before);
	script.time = 0;
	script.round = 0;
	script.rounds = 2;
	script.between = NULL;
	assert_int_equal(run_watch(scripted, 2, (const char *[]){"--apply", NULL}), MTL_DONE);
	assert_true(is_said(output, "  undivided; best 100 9, 200 2 ways, "));
	assert_true(is_said(output, " misses/s fewer ("));
	assert_true(is_said(output, "): changed, 4 threads moved\n"));
	assert_true(is_said(output, "  100 9, 200 2 ways: the best\n"));
	assert_true(is_said(output, "  ended: asked to end; the division is undone"));
}

static int changes_before;

static void nearly(int round)
{
	curves = NEARLY;
	if (round == 1)
		changes_before = fake->changes;
	assert_int_equal(fake->changes, changes_before);
}

static void hysteresis_holds(void **state)
{
	struct memory before;

	(void)state;
	a_machine(&before);
	assert_int_equal(WATCH(3, nearly, "--apply", "--pause=0"), MTL_DONE);
	line_is(1, "decision", "within_hysteresis");
	assert_true(object_number(lines[1], "fraction") > 0.01);
	line_is(3, "decision", "within_hysteresis");
	assert_int_equal(WATCH(2, NULL, "--apply", "--gain=0.01"), MTL_DONE);
	assert_int_equal(object_number(element(lines[0], "best", 0), "ways"), 8);
}

static void second(int round)
{
	(void)round;
	curves = SECOND;
}

static void changes_are_apart(void **state)
{
	struct memory before;

	(void)state;
	a_machine(&before);
	assert_int_equal(WATCH(4, second, "--apply", "--pause=25"), MTL_DONE);
	line_is(0, "decision", "change");
	line_is(1, "decision", "too_soon");
	line_is(2, "outcome", NULL);
	line_is(3, "decision", "too_soon");
	line_is(4, "decision", "change");
	line_is(5, "ended", NULL);
}

static void uncertain_then_none(int round)
{
	curves = round == 1 ? UNCERTAIN : NONE;
}

static void uncertain_curves_change_nothing(void **state)
{
	struct memory before;

	(void)state;
	a_machine(&before);
	assert_int_equal(WATCH(3, uncertain_then_none, "--apply", "--pause=0"), MTL_DONE);
	line_is(1, "decision", "too_uncertain");
	assert_true(object_number(lines[1], "low") < 0 && object_number(lines[1], "high") > 0);
	line_is(2, "skipped", NULL);
	assert_true(is_said(object_text(lines[2], "reason"), "this was process 100"));
	line_is(3, "ended", NULL);
	is_as(&before);
}

static void alike(int round)
{
	curves = ALIKE;
	if (round == 2)
		assert_int_equal(fake_group_find("mtl.100", -1), -1);
}

static void where_undivided_is_best_it_is_undone(void **state)
{
	struct memory before;

	(void)state;
	a_machine(&before);
	assert_int_equal(WATCH(3, alike, "--apply", "--pause=0", "--gain=0"), MTL_DONE);
	line_is(2, "decision", "change");
	assert_string_equal(object_text(lines[2], "best"), "-");
	line_is(3, "decision", "same");
	is_as(&before);
}

static void third_ends(int round)
{
	if (round == 1)
		assert_true(mask_of("mtl.300"));
	fake_task(300) ? fake_task(300)->tid = 0 : 0;
}

static void who_has_ended_is_dropped(void **state)
{
	const char *const extra[] = {"--json", "--apply", "--pause=0", "--weight=300=2", NULL};

	(void)state;
	machine(11, 1, false);
	fake_task_add(300, 300, 0, 0, -1);
	curves = FIRST;
	assert_int_equal(watch_of(3, 3, third_ends, extra), MTL_DONE);
	line_is(1, "dropped", NULL);
	assert_string_equal(object_text(lines[1], "name"), "300");
	line_is(2, "outcome", NULL);
	line_is(3, "decision", "change");
	assert_int_equal(object_number(element(lines[3], "best", 0), "ways"), 9);
	line_is(4, "decision", "same");
	assert_false(journal_there());
}

static void second_ends(int round)
{
	(void)round;
	fake_task(200)->tid = 0;
}

static void one_alone_needs_no_division(void **state)
{
	(void)state;
	machine(11, 1, false);
	assert_int_equal(WATCH(9, second_ends, "--apply"), MTL_DONE);
	line_is(1, "dropped", NULL);
	line_is(2, "ended", NULL);
	is_in(100, "", "");
	assert_int_equal(fake_group_find("mtl.200", -1), -1);
}

static void others_change(int round)
{
	(void)round;
	fake->groups[fake_group_find("mtl.100", -1)].values[0][0] = 0x1;
}

static void others_remove(int round)
{
	(void)round;
	fake_rmdir(fake_group_find("mtl.100", -1));
}

static void others_end_it(void **state)
{
	struct memory before;

	(void)state;
	a_machine(&before);
	assert_int_equal(WATCH(9, others_change, "--apply"), MTL_FAILED);
	line_is(1, "ended", NULL);
	assert_true(is_said(object_text(lines[1], "reason"),
	        "others changed the resctrl group mtl.100: it has L3:0=00001;1=001ff now; the "
	        "division is undone"));
	is_as(&before);
	assert_int_equal(WATCH(9, others_remove, "--apply"), MTL_FAILED);
	assert_true(is_said(errors, "the resctrl group mtl.100 is gone"));
	assert_int_equal(fake_group_find("mtl.200", -1), -1);
	assert_false(journal_there());
}

/* Of 2 groups in 2 caches: 400 B/s up to the change in round 4, 200 B/s from round 5 on. */
static void counters_run(int round)
{
	static const int counts[] = {0, 1000, 2000, 3000, 4000, 4500, 5000};

	curves = round < 3 ? FIRST : SECOND;
	sprintf(fake->counter, "%d", counts[round]);
}

static void the_outcome_is_measured(void **state)
{
	struct json_object *before, *after;

	(void)state;
	machine(11, 1, false);
	fake->monitoring = true;
	sprintf(fake->counter, "0");
	assert_int_equal(WATCH(6, counters_run, "--apply", "--pause=0"), MTL_DONE);
	line_is(2, "outcome", NULL); /* of the first one */
	assert_true(is_said(object_text(lines[2], "reason"), "no groups to count"));
	line_is(4, "decision", "change");
	line_is(6, "outcome", NULL);
	assert_string_equal(object_text(lines[6], "reason"), "-");
	assert_true(json_object_object_get_ex(lines[6], "before", &before));
	assert_true(json_object_object_get_ex(lines[6], "after", &after));
	assert_true(object_number(before, "bytes_per_second") == 400);
	assert_true(object_number(after, "bytes_per_second") == 200);
	assert_true(object_number(after, "occupancy_bytes") == 4 * 4500 ||
	            object_number(after, "occupancy_bytes") == 4 * 5000);
	assert_true(object_number(element(after, "groups", 1), "bytes_per_second") == 100);
	assert_true(object_number(lines[6], "expected_fraction") > 0.5);
	assert_true(
	        object_number(lines[6], "gain_now") == object_number(lines[6], "expected_gain"));
}

static void unavailable(int round)
{
	(void)round;
	strcpy(fake->counter, "Unavailable");
}

static void counters_that_cannot_be_read_are_unknown(void **state)
{
	struct json_object *after;

	(void)state;
	machine(11, 1, false);
	fake->monitoring = true;
	assert_int_equal(WATCH(3, unavailable, "--apply"), MTL_DONE);
	line_is(2, "outcome", NULL);
	assert_true(json_object_object_get_ex(lines[2], "after", &after));
	assert_string_equal(object_text(after, "bytes_per_second"), "-");
	assert_string_equal(object_text(element(after, "groups", 0), "bytes_per_second"), "-");
}

static void what_is_in_force_already_stays(void **state)
{
	struct memory before, kept;

	(void)state;
	a_machine(&before);
	assert_int_equal(WATCH(1, NULL, "--apply", "--keep"), MTL_DONE);
	assert_true(is_said(object_text(lines[1], "reason"), "stays in force"));
	is_in(100, "mtl.100", "");
	kept = remember();
	assert_int_equal(WATCH(1, NULL), MTL_DONE);
	assert_true(is_said(errors, "a partition is in force: this dry run begins as if"));
	assert_int_equal(WATCH(1, NULL, "--apply"), MTL_FAILED);
	assert_true(is_said(errors, "a partition is in force"));
	assert_memory_equal(&kept.groups, fake->groups, sizeof(kept.groups));
	must_revert();
	is_as(&before);
}

/* --- processes that come later, as in a control group */

static void who_comes_later_is_gathered(void **state)
{
	char root[128], *operands[] = {(char *)"100", (char *)"200"};
	const char *words[] = {fake_mtld_start(directory, answer_with), root, "--apply", NULL};
	struct cache_partition *partition = calloc(1, sizeof(*partition));
	struct in_force in_force = {0}, former = {0};
	struct demand_operand *first;
	struct options options;
	struct memory before;

	(void)state;
	a_machine(&before);
	snprintf(root, sizeof(root), "--root=%s", fake_mount);
	options = options_of(COMMAND_PARTITION, words);
	assert_int_equal(cache_partition_new(&options, 2, operands, partition), MTL_DONE);
	assert_int_equal(cache_partition_plan(partition), MTL_DONE);
	assert_int_equal(
	        in_force_change(&in_force, partition, &place, &former, &report, error, 99), 0);
	assert_int_equal(
	        in_force_gather(&in_force, &partition->list, &place, &report, error, 99), 0);
	fake_task_add(103, 103, 0, 0, -1);
	first = &partition->list.operands[0];
	first->pids = realloc(first->pids, 2 * sizeof(int));
	first->pids[1] = 103;
	first->n_pids = 2;
	assert_int_equal(
	        in_force_gather(&in_force, &partition->list, &place, &report, error, 99), 1);
	is_in(103, "mtl.100", "");
	assert_int_equal(report.moved, 1);
	assert_int_equal(in_force_check(&in_force, &place, error, 99), 0);
	in_force_done(&in_force);
	in_force_done(&former);
	options_done(&options);
	fake_mtld_stop();
	must_revert();
	is_in(103, "", "");
}

/* --- nobody reads */

static int into_a_closed_pipe(const struct options *options, int n, char **operands)
{
	int ends[2], saved = dup(STDOUT_FILENO), code;
	void (*former)(int) = signal(SIGPIPE, SIG_IGN);

	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	code = scripted(options, n, operands);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	signal(SIGPIPE, former);
	return code;
}

static void a_closed_pipe_stops_a_dry_run_only(void **state)
{
	struct memory before;

	(void)state;
	a_machine(&before);
	script.between = NULL;
	script.round = 0;
	script.rounds = 5;
	assert_int_equal(
	        run_watch(into_a_closed_pipe, 2, (const char *[]){"--apply", NULL}), MTL_DONE);
	assert_int_equal(script.round, 5);
	assert_true(is_said(errors, "Broken pipe; going on without it\n"));
	assert_ptr_equal(strstr(errors, "Broken"), strrchr(errors, 'B'));
	is_as(&before);
	script.round = 0;
	assert_int_equal(run_watch(into_a_closed_pipe, 2, (const char *[]){NULL}), MTL_FAILED);
	assert_int_equal(script.round, 0);
}

/* --- a process of its own */

/* Until its first change has been said. */
static pid_t started(void)
{
	char root[128], first[] = "100", second_[] = "200", *operands[] = {first, second_, NULL};
	const char *words[] = {fake_mtld_start(directory, answer_with), root, "--watch",
	        "--rounds=1", "--apply", "--interval=0.01", NULL};
	struct options options;
	char text[4096] = "";
	int ends[2];
	pid_t pid;

	snprintf(root, sizeof(root), "--root=%s", fake_mount);
	options = options_of(COMMAND_PARTITION, words);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		_exit(command_partition(&options, 2, operands));
	}
	close(ends[1]);
	for (size_t n = 0; n + 1 < sizeof(text) && !strstr(text, "threads moved");)
		if (read(ends[0], text + n++, 1) != 1)
			fail_msg("no change: %s", text);
	close(ends[0]); /* and from here on nobody reads */
	options_done(&options);
	return pid;
}

static int ended(pid_t pid, int sent)
{
	int status;

	kill(pid, sent);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	fake_mtld_stop();
	return status;
}

static void sigterm_restores_everything(void **state)
{
	struct memory before;
	pid_t pid;

	(void)state;
	a_machine(&before);
	pid = started();
	is_in(101, "mtl.100", "");
	assert_int_equal(ended(pid, SIGTERM), 0);
	is_as(&before);
	pid = started();
	assert_int_equal(ended(pid, SIGINT), 0);
	is_as(&before);
}

static void what_a_kill_leaves_is_reverted(void **state)
{
	struct memory before;
	pid_t pid;

	(void)state;
	a_machine(&before);
	pid = started();
	assert_true(WIFSIGNALED(ended(pid, SIGKILL)));
	is_in(101, "mtl.100", "");
	assert_true(journal_there());
	must_revert();
	is_as(&before);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_machine, teardown_machine)
	        TEST(a_dry_run_writes_nothing),
	        TEST(a_change_follows_the_curves_and_is_undone),
	        TEST(words_for_people),
	        TEST(hysteresis_holds),
	        TEST(changes_are_apart),
	        TEST(uncertain_curves_change_nothing),
	        TEST(where_undivided_is_best_it_is_undone),
	        TEST(who_has_ended_is_dropped),
	        TEST(one_alone_needs_no_division),
	        TEST(others_end_it),
	        TEST(the_outcome_is_measured),
	        TEST(counters_that_cannot_be_read_are_unknown),
	        TEST(what_is_in_force_already_stays),
	        TEST(who_comes_later_is_gathered),
	        TEST(a_closed_pipe_stops_a_dry_run_only),
	        TEST(sigterm_restores_everything),
	        TEST(what_a_kill_leaves_is_reverted),
	};

	fake_resctrl_serve(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}

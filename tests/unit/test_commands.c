/* SPDX-License-Identifier: MIT */
/*
 * The commands that ask a daemon, against one that follows a script: what they ask, what they print
 * where, and with which status they end.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../../cli/options.h"
#include "cleanup.h"

#define TEXT 16384
#define STEPS_MAX 8

/* A question that must come, and what is said to it; answer NULL: hang up. */
struct step {
	const char *question, *answer;
};

struct fixture {
	char directory[32], socket[64];
	int listener;
	pthread_t thread;
	const struct step *script;
	char wrong[512]; /* what came instead of the question */
	char output[TEXT], errors[TEXT];
};

#define POINT(size, misses)                                                                        \
	"{\"size_bytes\":" size ",\"fill_time_seconds\":1e-4,\"misses_per_second\":" misses        \
	",\"low\":" misses ",\"high\":" misses ",\"miss_ratio\":null,\"relative_miss_ratio\":1.0," \
	"\"below_resolution\":false}"

#define CURVE                                                                                      \
	"{\"pid\":7,\"comm\":\"prog\",\"method\":\"residual\",\"rung\":\"watchpoints\","           \
	"\"clock\":\"cpu\",\"window_seconds\":30.0,\"wall_seconds\":41.2,\"observations\":881,"    \
	"\"effective_observations\":700.0,\"lost\":0,\"resident_bytes\":17825792,"                 \
	"\"footprint_bytes\":16777216,\"footprint_window_seconds\":1.5,\"resolution_bytes\":"      \
	"1048576,\"resolution_seconds\":5e-05,"                                                    \
	"\"cpu_seconds\":29.8,\"accesses_per_second\":null,\"reference_bytes\":1048576,"           \
	"\"overhead\":{\"target\":0.004,\"daemon\":null},\"note\":null,\"points\":[" POINT(        \
	        "4194304", "1000.0") "," POINT("8388608",                                          \
	        "10.0") "],\"footprint\":[{\"window_seconds\":0.001,\"bytes\":4194304,"            \
	                "\"low\":4000000,\"high\":4400000}]}"

#define CURVE_REPLY "{\"parameters\":{\"curve\":" CURVE "}}"
#define ASK_CURVE "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":7}}"
#define ASK_LIST "{\"method\":\"io.mtld.List\",\"parameters\":{}}"
#define NOT_ENOUGH                                                                                 \
	"{\"error\":\"io.mtld.NotEnoughObservations\",\"parameters\":{\"pid\":7,"                  \
	"\"observations\":12,\"needed\":60}}"

static bool read_question(int fd, char *ret_text, size_t size)
{
	size_t length = 0;

	while (length < size && read(fd, ret_text + length, 1) == 1) {
		if (ret_text[length++] == '\0')
			return true;
	}
	return false;
}

static void *serve(void *argument)
{
	struct fixture *fixture = argument;
	_cleanup_close_ int fd = accept(fixture->listener, NULL, NULL);
	char question[512];

	for (const struct step *step = fixture->script; step->question; step++) {
		if (!read_question(fd, question, sizeof(question)))
			strcpy(question, "nothing");
		if (strcmp(question, step->question) != 0) {
			strcpy(fixture->wrong, question);
			break;
		}
		if (!step->answer)
			break;
		for (const char *a = step->answer; *a; a += strlen(a) + 1) {
			if (send(fd, a, strlen(a) + 1, MSG_NOSIGNAL) < 0)
				break;
		}
	}
	return NULL;
}

static int setup(void **state)
{
	static struct fixture fixture;
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	fixture = (struct fixture){.directory = "/tmp/test-commands-XXXXXX"};
	if (!mkdtemp(fixture.directory))
		return -1;
	snprintf(fixture.socket, sizeof(fixture.socket), "%s/io.mtld", fixture.directory);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fixture.socket);
	fixture.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	*state = &fixture;
	if (bind(fixture.listener, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return listen(fixture.listener, 1);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->listener);
	unlink(fixture->socket);
	return rmdir(fixture->directory);
}

static FILE *redirect(int fd, int *ret_saved)
{
	FILE *file = tmpfile();

	*ret_saved = dup(fd);
	dup2(fileno(file), fd);
	return file;
}

static void restore(int fd, int saved, FILE *file, char *ret_text)
{
	dup2(saved, fd);
	close(saved);
	rewind(file);
	ret_text[fread(ret_text, 1, TEXT - 1, file)] = '\0';
	fclose(file);
}

typedef int command_function(const struct options *options, int n_operands, char **operands);

/* Runs a command against the script; what it writes is left in the fixture. */
static int run_of(const char *operand, struct fixture *fixture, const struct step *script,
        command_function *command, struct options *options)
{
	char *operands[] = {(char *)operand, NULL};
	int saved_out, saved_err, code;
	FILE *out, *err;

	fixture->script = script;
	options->socket = fixture->socket;
	options->root = fixture->directory; /* where no process is */
	assert_int_equal(pthread_create(&fixture->thread, NULL, serve, fixture), 0);
	fflush(stdout);
	out = redirect(STDOUT_FILENO, &saved_out);
	err = redirect(STDERR_FILENO, &saved_err);
	code = command(options, 1, operands);
	fflush(stdout);
	restore(STDERR_FILENO, saved_err, err, fixture->errors);
	restore(STDOUT_FILENO, saved_out, out, fixture->output);
	pthread_join(fixture->thread, NULL);
	assert_string_equal(fixture->wrong, "");
	return code;
}

static int run(struct fixture *fixture, const struct step *script, command_function *command,
        struct options *options)
{
	return run_of("7", fixture, script, command, options);
}

static struct options plain_options(void)
{
	struct options options;

	options_init(&options);
	return options;
}

static void json_is_the_curve_and_nothing_else(void **state)
{
	static const struct step script[] = {{ASK_CURVE, CURVE_REPLY "\0"}, {NULL, NULL}};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	options.json = true;
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_DONE);
	assert_string_equal(fixture->output, CURVE "\n");
	assert_string_equal(fixture->errors, "");
}

static void a_curve_is_told_to_people(void **state)
{
	static const struct step script[] = {{ASK_CURVE, CURVE_REPLY "\0"}, {NULL, NULL}};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	assert_int_equal(run(fixture, script, command_curve, &options), MTL_DONE);
	assert_non_null(strstr(fixture->output, "prog (pid 7)"));
	assert_non_null(strstr(fixture->output, "8M holds its working set"));
	assert_string_equal(fixture->errors, "");
}

#define LISTED(state)                                                                              \
	"{\"parameters\":{\"processes\":[{\"pid\":6,\"state\":\"exited\"},{\"pid\":7,\"state\":"   \
	"\"" state "\"}]}}\0"

/* mtld keeps the last curve of a process for a while. */
static void a_curve_of_one_that_has_ended_says_so(void **state)
{
	static const struct step ended[] = {
	        {ASK_CURVE, CURVE_REPLY "\0"}, {ASK_LIST, LISTED("exited")}, {NULL, NULL}};
	static const struct step runs[] = {
	        {ASK_CURVE, CURVE_REPLY "\0"}, {ASK_LIST, LISTED("sampling")}, {NULL, NULL}};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	assert_int_equal(run(fixture, ended, command_curve, &options), MTL_DONE);
	assert_non_null(strstr(fixture->output, "\nit has ended: this is its last curve\n"));
	assert_int_equal(run(fixture, runs, command_curve, &options), MTL_DONE);
	assert_null(strstr(fixture->output, "ended"));
}

static void sizes_are_passed_on(void **state)
{
	static const struct step script[] = {
	        {"{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":7,\"sizes\":[4194304.0,"
	         "8388608.0],\"windows\":[0.001],\"reference\":1048576.0}}",
	                CURVE_REPLY "\0"},
	        {NULL, NULL},
	};
	double sizes[] = {4194304, 8388608}, windows[] = {0.001};
	struct options options = plain_options();

	options.csv = true;
	options.sizes = (struct number_list){sizes, 2};
	options.windows = (struct number_list){windows, 1};
	options.reference = 1048576;
	assert_int_equal(run(*state, script, command_curve, &options), MTL_DONE);
}

static void what_is_not_tracked_is_tracked_and_waited_for(void **state)
{
	static const struct step script[] = {
	        {ASK_CURVE, "{\"error\":\"io.mtld.NotTracked\",\"parameters\":{\"pid\":7}}\0"},
	        {"{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":7,\"idle_seconds\":60.0}}",
	                "{\"parameters\":{}}\0"},
	        {ASK_CURVE, NOT_ENOUGH "\0"},
	        {ASK_CURVE, CURVE_REPLY "\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	options.json = true;
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_DONE);
	assert_string_equal(fixture->output, CURVE "\n");
	assert_non_null(strstr(fixture->errors, "60 s after the last question"));
}

static void too_few_observations_are_status_3(void **state)
{
	static const struct step script[] = {{ASK_CURVE, NOT_ENOUGH "\0"}, {NULL, NULL}};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	options.wait = 0;
	options.json = true;
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_NOT_ENOUGH);
	assert_string_equal(fixture->output, "");
	assert_string_equal(fixture->errors, "mtl: not enough yet: 12 of about 60 observations\n");
}

static void too_few_observations_tell_how_much_it_ran(void **state)
{
	static const struct step script[] = {
	        {ASK_CURVE, NOT_ENOUGH "\0"},
	        {ASK_LIST, "{\"parameters\":{\"processes\":[{\"pid\":6,\"cpu_seconds\":9.0,"
	                   "\"state\":\"sampling\"},{\"pid\":7,\"cpu_seconds\":0.012,"
	                   "\"state\":\"sampling\"}]}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	options.wait = 0;
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_NOT_ENOUGH);
	assert_string_equal(fixture->errors, "mtl: not enough yet: 12 of about 60 observations (it "
	                                     "has used 12 ms of CPU time so far)\n");
}

#define ASK_HISTORY "{\"method\":\"io.mtld.History\",\"parameters\":{\"pid\":7}}"
#define HISTORY(footprint, misses)                                                                 \
	"{\"parameters\":{\"history\":{\"pid\":7,\"comm\":\"prog\",\"window_seconds\":30.0,"       \
	"\"sizes\":["                                                                              \
	"4194304.0],\"entries\":[{\"seconds_ago\":10.0,\"wall_seconds\":10.0,\"cpu_seconds\":1.0," \
	"\"changed\":false,\"reason\":\"too few observations\",\"footprint_bytes\":" footprint     \
	",\"footprint_low\":" footprint ",\"footprint_high\":" footprint                           \
	",\"misses\":[{\"misses_per_second\":" misses ",\"low\":" misses ",\"high\":" misses       \
	"}]}]}}}"

static void a_history_draws_only_what_is_known(void **state)
{
	static const struct step unknown[] = {
	        {ASK_HISTORY, HISTORY("null", "null") "\0"}, {NULL, NULL}};
	static const struct step known[] = {
	        {ASK_HISTORY, HISTORY("1048576.0", "null") "\0"}, {NULL, NULL}};
	static const struct step none[] = {
	        {ASK_HISTORY, HISTORY("1048576.0", "0.0") "\0"}, {NULL, NULL}};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	options.history = true;
	assert_int_equal(run(fixture, unknown, command_curve, &options), MTL_DONE);
	assert_non_null(strstr(fixture->output, "too few observations"));
	assert_non_null(strstr(fixture->output, "\n\nnothing to draw: in none of these times was "
	                                        "there a curve\n"));
	assert_null(strstr(fixture->output, "before now"));
	assert_int_equal(run(fixture, known, command_curve, &options), MTL_DONE);
	assert_non_null(strstr(fixture->output, "footprint (seconds before now)"));
	assert_non_null(strstr(fixture->output, "-10 s"));
	assert_null(strstr(fixture->output, " min"));
	assert_null(strstr(fixture->output, "misses per second of CPU time at"));
	assert_null(strstr(fixture->output, "nothing to draw"));
	assert_int_equal(run(fixture, none, command_curve, &options), MTL_DONE);
	assert_non_null(strstr(fixture->output, "CPU time at 4M: none in all of these times\n"));
}

/* There will be no more, so nobody waits for them, whatever --wait says. */
static void too_few_of_a_process_that_has_ended_are_said_at_once(void **state)
{
	static const struct step script[] = {
	        {ASK_CURVE,
	                "{\"error\":\"io.mtld.NotEnoughObservations\",\"parameters\":{\"pid\":7,"
	                "\"observations\":12,\"needed\":60,\"reason\":\"the process has ended\","
	                "\"state\":\"exited\"}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	options.wait = 1000;
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_NOT_ENOUGH);
	assert_string_equal(fixture->errors,
	        "mtl: not enough yet: 12 of about 60 observations (the process has ended)\n");
}

static void what_is_not_tracked_cannot_be_untracked(void **state)
{
	static const struct step script[] = {
	        {"{\"method\":\"io.mtld.Untrack\",\"parameters\":{\"pid\":7}}",
	                "{\"error\":\"io.mtld.NotTracked\",\"parameters\":{\"pid\":7}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	assert_int_equal(run(fixture, script, command_untrack, &options), MTL_FAILED);
	assert_string_equal(fixture->errors, "mtl: process 7 is not tracked\n");
}

static void watching_on_a_pipe_sets_curves_apart(void **state)
{
	static const struct step script[] = {
	        {ASK_CURVE, CURVE_REPLY "\0"},
	        {"{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":7},\"more\":true}",
	                "{\"parameters\":{\"curve\":" CURVE "},\"continues\":true}\0"
	                "{\"parameters\":{\"curve\":" CURVE "}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();
	const char *second;

	options.watch = true;
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_DONE);
	assert_int_equal(strspn(fixture->output, "0123456789-: "), strlen("2026-01-31 12:34:56"));
	second = strstr(fixture->output, ".\n\n20");
	assert_non_null(second);
	assert_non_null(strstr(second, "prog (pid 7)"));
	assert_non_null(strstr(second, "it has ended"));
	assert_ptr_equal(strstr(fixture->output, "it has ended"), strstr(second, "it has ended"));
}

static void a_process_that_is_not_there_is_said(void **state)
{
	static const struct step script[] = {
	        {ASK_CURVE, "{\"error\":\"io.mtld.NotTracked\",\"parameters\":{\"pid\":7}}\0"},
	        {"{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":7,\"idle_seconds\":60.0}}",
	                "{\"error\":\"io.mtld.NoSuchProcess\",\"parameters\":{\"pid\":7}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	assert_int_equal(run(fixture, script, command_curve, &options), MTL_FAILED);
	assert_non_null(strstr(fixture->errors, "there is no process 7"));
}

static void sampling_impossible_is_status_4(void **state)
{
	static const struct step script[] = {
	        {"{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":7}}",
	                "{\"error\":\"io.mtld.SamplingImpossible\",\"parameters\":{\"reason\":"
	                "\"a\","
	                "\"fix\":\"b\"}}\0"},
	        {NULL, NULL},
	};
	struct options options = plain_options();

	assert_int_equal(run(*state, script, command_track, &options), MTL_IMPOSSIBLE);
}

static void a_daemon_that_hangs_up_is_said(void **state)
{
	static const struct step script[] = {{ASK_CURVE, NULL}, {NULL, NULL}};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	assert_int_equal(run(fixture, script, command_curve, &options), MTL_FAILED);
	assert_non_null(strstr(fixture->errors, "closed the connection"));
}

static void a_curve_out_of_shape_is_refused(void **state)
{
	static const struct step script[] = {
	        {ASK_CURVE, "{\"parameters\":{\"curve\":{\"pid\":7,\"points\":[]}}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	assert_int_equal(run(fixture, script, command_curve, &options), MTL_FAILED);
	assert_string_equal(fixture->output, "");
	assert_non_null(strstr(fixture->errors, "cannot be read"));
}

static void watching_prints_one_object_a_line(void **state)
{
	static const struct step script[] = {
	        {ASK_CURVE, CURVE_REPLY "\0"},
	        {"{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":7},\"more\":true}",
	                "{\"parameters\":{\"curve\":" CURVE "},\"continues\":true}\0"
	                "{\"parameters\":{\"curve\":" CURVE "}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	options.json = options.watch = true;
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_DONE);
	assert_string_equal(fixture->output, CURVE "\n" CURVE "\n");
}

static void watching_survives_a_change_of_phase(void **state)
{
	static const char stream[] =
	        "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":7},\"more\":true}";
	static const struct step script[] = {
	        {ASK_CURVE, CURVE_REPLY "\0"},
	        {stream, "{\"parameters\":{\"curve\":" CURVE "},\"continues\":true}\0" NOT_ENOUGH
	                 "\0"},
	        {ASK_CURVE, NOT_ENOUGH "\0"},
	        {ASK_CURVE, CURVE_REPLY "\0"},
	        {stream, CURVE_REPLY "\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	options.json = options.watch = true;
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_DONE);
	assert_string_equal(fixture->output, CURVE "\n" CURVE "\n");
	assert_string_equal(fixture->errors, "");
}

static void a_record_is_saved(void **state)
{
	static const struct step script[] = {
	        {ASK_CURVE, CURVE_REPLY "\0"},
	        {"{\"method\":\"io.mtld.Observations\",\"parameters\":{\"pid\":7}}",
	                "{\"parameters\":{\"record\":{\"a\":[1,2.50]}}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();
	char file[] = "/tmp/test-commands-XXXXXX", text[64] = "";
	int fd = mkstemp(file);

	options.json = true;
	options.record = file;
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_DONE);
	assert_string_equal(fixture->errors, "");
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "{\"a\":[1,2.50]}\n");
	options.json = false;
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_DONE);
	assert_non_null(strstr(fixture->errors, "saved: `mtl curve --from /tmp/test-commands-"));
	close(fd);
	unlink(file);
}

static void a_record_that_cannot_be_saved_is_a_failure(void **state)
{
	static const struct step script[] = {
	        {ASK_CURVE, CURVE_REPLY "\0"},
	        {"{\"method\":\"io.mtld.Observations\",\"parameters\":{\"pid\":7}}",
	                "{\"parameters\":{\"record\":{}}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	options.json = true;
	options.record = "/nonexistent/file";
	assert_int_equal(run(fixture, script, command_curve, &options), MTL_FAILED);
	assert_string_equal(fixture->output, CURVE "\n");
	assert_non_null(strstr(fixture->errors, "cannot write /nonexistent/file: No such file"));
}

static void a_list_is_told_to_people(void **state)
{
	static const struct step script[] = {
	        {"{\"method\":\"io.mtld.List\",\"parameters\":{}}",
	                "{\"parameters\":{\"processes\":[{\"pid\":7,\"comm\":\"prog\","
	                "\"state\":\"sampling\",\"reason\":null,\"threads\":2,\"observations\":12,"
	                "\"observations_needed\":60,\"births\":0,\"lost\":0,"
	                "\"resident_bytes\":1048576,\"cpu_seconds\":1.5,\"wall_seconds\":2.0,"
	                "\"overhead_target\":null,\"observations_per_second\":41.25}]}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	assert_int_equal(run(fixture, script, command_list, &options), MTL_DONE);
	assert_non_null(strstr(fixture->output, "12 of 60"));
	assert_null(strstr(fixture->output, " \n"));
	assert_null(strstr(fixture->output, "REASON"));
	assert_non_null(strstr(fixture->output, "1.5 s"));
	assert_non_null(strstr(fixture->output, "41.2"));
}

static void an_empty_list_says_what_to_do(void **state)
{
	static const struct step script[] = {
	        {"{\"method\":\"io.mtld.List\",\"parameters\":{}}",
	                "{\"parameters\":{\"processes\":[]}}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	assert_int_equal(run(fixture, script, command_list, &options), MTL_DONE);
	assert_non_null(strstr(fixture->output, "mtl track PID"));
}

#define EVENT(name, period)                                                                        \
	"{\"event\":\"" name "\",\"period\":" period                                               \
	",\"samples\":9,\"delivered\":8,\"foreign\":0,"                                            \
	"\"lost\":1,\"unseen\":0,\"throttled\":0,\"starved\":0}"
#define STATUS                                                                                     \
	"{\"version\":\"1\",\"pid\":5,\"uptime_seconds\":1040000,\"rung\":\"none\","               \
	"\"reason\":\"no CAP_BPF\",\"calibration\":null,\"max_overhead\":0.01,"                    \
	"\"max_daemon_cpu\":0.01,\"daemon_cpu\":null,\"processes\":0,\"max_processes\":64,"        \
	"\"cgroups\":[{\"cgroup\":\"/a.slice\",\"members\":5,\"tracked\":3,\"reason\":"            \
	"\"max_processes (3) are tracked\"},{\"cgroup\":\"/b\",\"members\":0,\"tracked\":0,"       \
	"\"reason\":null}],"                                                                       \
	"\"address_samples\":[" EVENT("task-clock", "20000003") "," EVENT(                         \
	        "page-faults", "101") "],\"lost\":0,\"clients\":1}"

static void a_status_without_calibration_is_told(void **state)
{
	static const struct step script[] = {
	        {"{\"method\":\"io.mtld.Status\",\"parameters\":{}}",
	                "{\"parameters\":" STATUS "}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	assert_int_equal(run(fixture, script, command_status, &options), MTL_DONE);
	assert_non_null(strstr(fixture->output, "no CAP_BPF"));
	assert_non_null(strstr(fixture->output, "12 d 1 h"));
	assert_non_null(strstr(fixture->output, "8 of 9 used, 1 lost, 0 unseen; one in 20 ms\n"));
	assert_non_null(strstr(fixture->output, "unseen; one in 101\n"));
	assert_non_null(strstr(fixture->output, "1 % of a target's CPU time"));
	assert_null(strstr(fixture->output, "trap"));
	assert_non_null(strstr(fixture->output,
	        "/a.slice: 3 of 5 members are tracked (max_processes (3) are tracked)\n"));
	assert_non_null(strstr(fixture->output, "/b: 0 of 0 members are tracked\n"));
}

static void a_status_as_json_is_the_reply(void **state)
{
	static const struct step script[] = {
	        {"{\"method\":\"io.mtld.Status\",\"parameters\":{}}",
	                "{\"parameters\":" STATUS "}\0"},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	options.json = true;
	assert_int_equal(run(fixture, script, command_status, &options), MTL_DONE);
	assert_string_equal(fixture->output, STATUS "\n");
}

static void tracking_passes_the_idle_time(void **state)
{
	static const struct step script[] = {
	        {"{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":7,\"idle_seconds\":2.5}}",
	                "{}\0"},
	        {NULL, NULL},
	};
	struct options options = plain_options();

	options.idle = 2.5;
	assert_int_equal(run(*state, script, command_track, &options), MTL_DONE);
}

static void untracking_what_is_not_tracked_fails(void **state)
{
	static const struct step script[] = {
	        {"{\"method\":\"io.mtld.Untrack\",\"parameters\":{\"pid\":7}}",
	                "{\"error\":\"io.mtld.NotTracked\",\"parameters\":{\"pid\":7}}\0"},
	        {NULL, NULL},
	};
	struct options options = plain_options();

	assert_int_equal(run(*state, script, command_untrack, &options), MTL_FAILED);
}

static void a_cgroup_that_is_not_there_is_said(void **state)
{
#define NO_CGROUP "{\"error\":\"io.mtld.NoSuchCgroup\",\"parameters\":{\"cgroup\":\"/nothere\"}}\0"
	static const struct step track[] = {
	        {"{\"method\":\"io.mtld.TrackCgroup\",\"parameters\":{\"cgroup\":\"/nothere\"}}",
	                NO_CGROUP},
	        {NULL, NULL},
	};
	static const struct step untrack[] = {
	        {"{\"method\":\"io.mtld.UntrackCgroup\",\"parameters\":{\"cgroup\":\"/nothere\"}}",
	                NO_CGROUP},
	        {NULL, NULL},
	};
	struct fixture *fixture = *state;
	struct options options = plain_options();

	assert_int_equal(
	        run_of("cgroup:/nothere", fixture, track, command_track, &options), MTL_FAILED);
	assert_non_null(strstr(fixture->errors, "there is no control group /nothere"));
	assert_non_null(strstr(fixture->errors, "systemd-cgls"));
	assert_int_equal(
	        run_of("cgroup:/nothere", fixture, untrack, command_untrack, &options), MTL_FAILED);
	assert_non_null(strstr(fixture->errors, "/nothere is not followed: `mtl status`"));
}

#define SOCKET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        SOCKET_TEST(json_is_the_curve_and_nothing_else),
	        SOCKET_TEST(a_curve_is_told_to_people),
	        SOCKET_TEST(a_curve_of_one_that_has_ended_says_so),
	        SOCKET_TEST(sizes_are_passed_on),
	        SOCKET_TEST(what_is_not_tracked_is_tracked_and_waited_for),
	        SOCKET_TEST(too_few_observations_are_status_3),
	        SOCKET_TEST(too_few_observations_tell_how_much_it_ran),
	        SOCKET_TEST(a_history_draws_only_what_is_known),
	        SOCKET_TEST(too_few_of_a_process_that_has_ended_are_said_at_once),
	        SOCKET_TEST(what_is_not_tracked_cannot_be_untracked),
	        SOCKET_TEST(watching_on_a_pipe_sets_curves_apart),
	        SOCKET_TEST(a_process_that_is_not_there_is_said),
	        SOCKET_TEST(sampling_impossible_is_status_4),
	        SOCKET_TEST(a_daemon_that_hangs_up_is_said),
	        SOCKET_TEST(a_curve_out_of_shape_is_refused),
	        SOCKET_TEST(watching_prints_one_object_a_line),
	        SOCKET_TEST(watching_survives_a_change_of_phase),
	        SOCKET_TEST(a_record_is_saved),
	        SOCKET_TEST(a_record_that_cannot_be_saved_is_a_failure),
	        SOCKET_TEST(a_list_is_told_to_people),
	        SOCKET_TEST(an_empty_list_says_what_to_do),
	        SOCKET_TEST(a_status_without_calibration_is_told),
	        SOCKET_TEST(a_status_as_json_is_the_reply),
	        SOCKET_TEST(tracking_passes_the_idle_time),
	        SOCKET_TEST(untracking_what_is_not_tracked_fails),
	        SOCKET_TEST(a_cgroup_that_is_not_there_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

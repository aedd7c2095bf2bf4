/* SPDX-License-Identifier: MIT */
/*
 * `mtl export` without HTTP: what it asks mtld, how often, and what becomes of the answers in
 * metrics and in what the page draws.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../cli/export_ask.h"
#include "../../cli/monotonic.h"
#include <errno.h>

#include "command_fixture.h"
#include "fake_mtld.h"

#define STATUS                                                                                     \
	"{\"parameters\":{\"version\":\"1.2\",\"pid\":1,\"uptime_seconds\":10,\"rung\":"           \
	"\"watchpoints\",\"reason\":\"\",\"calibration\":null,\"max_overhead\":0.01,"              \
	"\"max_daemon_cpu\":0.01,\"daemon_cpu\":null,\"processes\":3,\"max_processes\":64,"        \
	"\"lost\":7,\"clients\":1}}"

static char asked[4096];   /* methods, and pids of curves */
static char listed[16384]; /* the answer to List */
static int hang_ups;       /* so many questions are not answered */

/* Curves have a point at each size that is asked for, which is how many misses it has. */
static void curve_answer(const char *question, char *ret_reply, size_t size)
{
	struct json_object *call = json_tokener_parse(question), *parameters = NULL, *sizes = NULL;
	int at, pid;

	json_object_object_get_ex(call, "parameters", &parameters);
	pid = (int)object_number(parameters, "pid");
	assert_non_null(strstr(question, "\"aside\":true"));
	assert_true(json_object_object_get_ex(parameters, "sizes", &sizes));
	if (pid == 33)
		snprintf(ret_reply, size,
		        "{\"error\":\"io.mtld.NotEnoughObservations\",\"parameters\":{\"pid\":33,"
		        "\"observations\":12,\"needed\":60}}");
	at = pid == 33 ? 0
	               : snprintf(ret_reply, size,
	                         "{\"parameters\":{\"curve\":{\"pid\":%d,\"footprint_bytes\":1e6,"
	                         "\"resolution_bytes\":300000,\"resolution_seconds\":null,"
	                         "\"points\":[",
	                         pid);
	for (size_t i = 0; at && i < json_object_array_length(sizes); i++) {
		double bytes = json_object_get_double(json_object_array_get_idx(sizes, i));

		at += snprintf(ret_reply + at, size - (size_t)at,
		        "%s{\"size_bytes\":%.0f,\"misses_per_second\":%.0f,\"low\":1,\"high\":2,"
		        "\"miss_ratio\":null,\"fill_time_seconds\":null,\"below_resolution\":%s}",
		        i ? "," : "", bytes, bytes, bytes < 300000 ? "true" : "false");
	}
	if (at)
		snprintf(ret_reply + at, size - (size_t)at, "]}}}");
	json_object_put(call);
}

static void answers(const char *question, char *ret_reply, size_t size)
{
	struct json_object *call = json_tokener_parse(question), *parameters = NULL;
	const char *method = object_text(call, "method") + strlen("io.mtld.");
	size_t used = strlen(asked);

	if (hang_ups > 0) {
		hang_ups--;
		*ret_reply = '\0';
		json_object_put(call);
		return;
	}
	json_object_object_get_ex(call, "parameters", &parameters);
	used += (size_t)snprintf(asked + used, sizeof(asked) - used, "%s ", method);
	if (strcmp(method, "Curve") == 0) {
		snprintf(asked + used - 1, sizeof(asked) - used, ":%.0f ",
		        object_number(parameters, "pid"));
		curve_answer(question, ret_reply, size);
	} else {
		snprintf(ret_reply, size, "%s", *method == 'S' ? STATUS : listed);
	}
	json_object_put(call);
}

/* "PID COMM CPU-SECONDS STATE", one a line; wall_seconds are 100. */
static void list_of(const char *lines)
{
	int at = snprintf(listed, sizeof(listed), "{\"parameters\":{\"processes\":["), used;
	char comm[64], state[16];
	int pid, n = 0;
	double cpu;

	for (; sscanf(lines, "%d %63s %lf %15s%n", &pid, comm, &cpu, state, &used) == 4;
	        lines += used)
		at += snprintf(listed + at, sizeof(listed) - (size_t)at,
		        "%s{\"pid\":%d,\"comm\":\"%s\",\"state\":\"%s\",\"threads\":2,"
		        "\"observations\":70,\"observations_needed\":60,\"births\":1,\"lost\":0,"
		        "\"resident_bytes\":4096,\"cpu_seconds\":%g,\"wall_seconds\":100,"
		        "\"overhead_target\":null,\"llc_misses_per_second\":5}",
		        n++ ? "," : "", pid, comm, state, cpu);
	snprintf(listed + at, sizeof(listed) - (size_t)at, "]}}");
}

#define THREE "7 a 50 sampling 8 b\\\"c\\\\ 90 sampling 33 few 1 starting "

struct fixture {
	struct options options;
	struct asker *asker;
};

static int setup(void **state)
{
	static struct fixture fixture;
	const char *words[] = {NULL, "--sizes=64K,1M,2M", "--root=/nonexistent", NULL};

	files_setup(state);
	*asked = '\0';
	hang_ups = 0;
	words[0] = fake_mtld_start(directory, answers);
	fixture.options = options_of(COMMAND_EXPORT, words);
	*state = &fixture;
	return asker_new(&fixture.options, &fixture.asker);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	asker_free(fixture->asker);
	fake_mtld_stop();
	options_done(&fixture->options);
	return files_teardown(state);
}

static const char *metrics_of(const struct export_state *state, bool openmetrics)
{
	static char *text;
	size_t length;

	free(text);
	text = NULL;
	if (!state)
		return NULL;
	assert_int_equal(export_metrics(state, openmetrics, &text, &length), 0);
	assert_int_equal(strlen(text), length);
	return text;
}

static void the_busiest_come_first_with_their_curves(void **state)
{
	struct fixture *fixture = *state;
	const struct export_state *now;

	list_of(THREE);
	now = asker_ask(fixture->asker);
	assert_true(now->up);
	assert_int_equal(now->n, 3);
	assert_int_equal(now->processes[0].pid, 8);
	assert_int_equal(now->processes[1].pid, 7);
	assert_non_null(export_point(&now->processes[0], 1 << 20));
	assert_null(export_point(&now->processes[0], (1 << 20) + 1));
	assert_null(now->processes[2].curve);
	assert_string_equal(now->processes[2].why, "not enough yet: 12 of about 60 observations");
	assert_string_equal(asked, "Status List Curve:8 Curve:7 Curve:33 ");
}

/* A second has not passed: no more curves, but the ones there are stay. */
static void questions_are_paid_for(void **state)
{
	struct fixture *fixture = *state;
	const struct export_state *now;

	list_of(THREE);
	asker_ask(fixture->asker);
	*asked = '\0';
	now = asker_ask(fixture->asker);
	assert_string_equal(asked, "Status List ");
	assert_non_null(now->processes[0].curve);
	while (monotonic_seconds() < now->processes[0].asked + 1.05)
		usleep(10000);
	*asked = '\0';
	asker_ask(fixture->asker);
	assert_string_equal(asked, "Status List Curve:8 "); /* the oldest */
}

static void who_ended_is_asked_for_once_more(void **state)
{
	struct fixture *fixture = *state;
	const struct export_state *now;

	list_of("7 a 50 exited ");
	now = asker_ask(fixture->asker);
	while (monotonic_seconds() < now->now + 1.05)
		usleep(10000);
	*asked = '\0';
	now = asker_ask(fixture->asker);
	assert_string_equal(asked, "Status List ");
	assert_non_null(now->processes[0].curve);
	list_of("");
	now = asker_ask(fixture->asker);
	assert_int_equal(now->n, 0);
	assert_true(now->up);
}

/* Another process of the same number is not given the curve of the one before. */
static void a_new_process_begins_anew(void **state)
{
	struct fixture *fixture = *state;
	const struct export_state *now;

	list_of("7 a 50 sampling ");
	asker_ask(fixture->asker);
	list_of("7 b 0.1 sampling ");
	memcpy(strstr(listed, "\"wall_seconds\":100"), "\"wall_seconds\":001", 18);
	memcpy(strstr(listed, "\"wall_seconds\":001"), "\"wall_seconds\":1  ", 18);
	now = asker_ask(fixture->asker);
	assert_null(now->processes[0].curve);
	assert_string_equal(now->processes[0].why, "not asked for yet");
}

static void no_more_than_top(void **state)
{
	struct fixture *fixture = *state;
	const struct export_state *now;

	asker_free(fixture->asker);
	fixture->options.top = 1;
	assert_int_equal(asker_new(&fixture->options, &fixture->asker), 0);
	list_of(THREE "7 again 99 sampling ");
	now = asker_ask(fixture->asker);
	assert_int_equal(now->n, 1);
	assert_int_equal(now->left_out, 2);
	assert_string_equal(asked, "Status List Curve:8 ");
}

static void away_is_said_and_nothing_else(void **state)
{
	struct fixture *fixture = *state;
	const struct export_state *now;

	list_of(THREE);
	asker_ask(fixture->asker);
	hang_ups = 2; /* the connection there was, and a new one */
	now = asker_ask(fixture->asker);
	assert_false(now->up);
	assert_true(is_said(now->reason, "closed the connection"));
	fake_mtld_stop();
	now = asker_ask(fixture->asker);
	assert_false(now->up);
	assert_true(is_said(now->reason, "mtld is not running at"));
	assert_int_equal(now->n, 0);
	assert_true(is_said(metrics_of(now, true), "mtl_up 0\n"));
	assert_null(strstr(metrics_of(now, true), "mtl_process"));
	assert_null(strstr(metrics_of(now, true), "mtl_daemon"));
	fake_mtld_start(directory, answers);
	now = asker_ask(fixture->asker);
	assert_true(now->up);
	assert_int_equal(now->n, 3);
}

static void a_new_mtld_is_found_within_the_round(void **state)
{
	struct fixture *fixture = *state;

	list_of(THREE);
	asker_ask(fixture->asker);
	hang_ups = 1;
	assert_true(asker_ask(fixture->asker)->up);
}

static void answers_of_others_are_no_answers(void **state)
{
	struct fixture *fixture = *state;

	strcpy(listed, "{\"parameters\":{\"processes\":7}}");
	assert_false(asker_ask(fixture->asker)->up);
	strcpy(listed, "{\"error\":\"io.mtld.Failed\",\"parameters\":{\"reason\":\"a test\"}}");
	assert_false(asker_ask(fixture->asker)->up);
	assert_true(is_said(asker_ask(fixture->asker)->reason, "a test"));
	strcpy(listed, "{\"parameters\":{\"processes\":[7,null,{},{\"pid\":-1},{\"pid\":1e99}]}}");
	assert_true(asker_ask(fixture->asker)->up);
	assert_int_equal(asker_ask(fixture->asker)->n, 0);
}

static void metrics_are_what_was_answered(void **state)
{
	static const char *const there[] = {
	        "# TYPE mtl_daemon_lost_samples counter\nmtl_daemon_lost_samples_total 7\n",
	        "# UNIT mtl_process_footprint_bytes bytes\n",
	        "# TYPE mtl_process info\nmtl_process_info{pid=\"8\",comm=\"b\\\"c\\\\\"} 1\n",
	        "# TYPE mtl_daemon_rung stateset\n",
	        "mtl_daemon_rung{mtl_daemon_rung=\"watchpoints\"} 1\n",
	        "mtl_process_state{pid=\"7\",comm=\"a\",mtl_process_state=\"sampling\"} 1\n",
	        "mtl_process_misses_per_second{pid=\"7\",comm=\"a\",size_bytes=\"1048576\"} "
	        "1048576\n",
	        "mtl_process_misses_high_per_second{pid=\"7\",comm=\"a\",size_bytes=\"2097152\"} "
	        "2\n",
	        "mtl_process_counted_misses_per_second{pid=\"7\",comm=\"a\",level=\"LLC\"} 5\n",
	        "mtl_process_observations{pid=\"33\",comm=\"few\"} 70\n", "mtl_up 1\n"};
	/* unknown, untrusted, not listed, and of a process without a curve */
	static const char *const not [] = {"mtl_daemon_cpu_ratio ", "mtl_process_overhead_ratio",
	        "mtl_process_miss_ratio", "mtl_process_fill_time", "size_bytes=\"65536\"",
	        "size_bytes=\"32768\"", "mtl_process_footprint_bytes{pid=\"33\"", "nan",
	        "level=\"L1\"", "mtl_cache"};
	struct fixture *fixture = *state;
	const char *text;

	list_of(THREE);
	text = metrics_of(asker_ask(fixture->asker), true);
	for (size_t i = 0; i < sizeof(there) / sizeof(*there); i++)
		assert_true(is_said(text, there[i]));
	for (size_t i = 0; i < sizeof(not ) / sizeof(*not ); i++)
		if (strstr(text, not [i]))
			fail_msg("%s is there", not [i]);
	assert_string_equal(text + strlen(text) - 7, "\n# EOF\n");
	text = metrics_of(asker_ask(fixture->asker), false);
	assert_true(is_said(text, "# TYPE mtl_daemon_lost_samples_total counter\n"));
	assert_true(is_said(text, "# TYPE mtl_process_info gauge\n"));
	assert_null(strstr(text, "# UNIT"));
	assert_null(strstr(text, "# EOF"));
	metrics_of(NULL, false);
}

static void pods_are_labels_of_the_process_alone(void **state)
{
	struct fixture *fixture = *state;
	struct export_state *now;
	const char *text;

	list_of(THREE);
	now = (struct export_state *)asker_ask(fixture->asker);
	strcpy(now->processes[0].pod.uid, "u-i-d");
	strcpy(now->processes[0].pod.container, "c0ffee");
	strcpy(now->processes[0].pod.qos, "burstable");
	text = metrics_of(now, true);
	assert_true(is_said(text, "comm=\"b\\\"c\\\\\",pod_uid=\"u-i-d\",container_id=\"c0ffee\","
	                          "qos=\"burstable\"} 1\n"));
	assert_null(strstr(strstr(text, "u-i-d") + 1, "u-i-d"));
	metrics_of(NULL, false);
}

static void the_page_gets_the_answers(void **state)
{
	struct fixture *fixture = *state;
	struct json_object *object, *first;

	list_of(THREE);
	assert_int_equal(export_curves(asker_ask(fixture->asker), &object), 0);
	assert_true(json_object_get_boolean(json_object_object_get(object, "up")));
	first = element(object, "processes", 0);
	assert_int_equal((int)object_number(json_object_object_get(first, "process"), "pid"), 8);
	assert_non_null(json_object_object_get(first, "curve"));
	assert_true(object_number(first, "age_seconds") >= 0);
	first = element(object, "processes", 2);
	assert_null(json_object_object_get(first, "curve"));
	assert_true(is_said(object_text(first, "reason"), "not enough yet"));
	json_object_put(object);
}

static void sizes_have_a_limit(void **state)
{
	double values[EXPORT_SIZES_MAX + 1] = {0};
	struct options options = {.sizes = {values, EXPORT_SIZES_MAX + 1}, .root = "/nonexistent"};
	struct asker *asker;

	(void)state;
	assert_int_equal(asker_new(&options, &asker), -E2BIG);
	options.sizes.n--;
	assert_int_equal(asker_new(&options, &asker), 0);
	asker_free(asker);
}

#define test_of(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        test_of(the_busiest_come_first_with_their_curves),
	        test_of(questions_are_paid_for),
	        test_of(who_ended_is_asked_for_once_more),
	        test_of(a_new_process_begins_anew),
	        test_of(no_more_than_top),
	        test_of(away_is_said_and_nothing_else),
	        test_of(a_new_mtld_is_found_within_the_round),
	        test_of(answers_of_others_are_no_answers),
	        test_of(metrics_are_what_was_answered),
	        test_of(pods_are_labels_of_the_process_alone),
	        test_of(the_page_gets_the_answers),
	        cmocka_unit_test(sizes_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Methods against a fake manager: every answer and every error has exactly the fields and types
 * that daemon/io.mtld.varlink declares, and parameters are judged.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io.mtld.varlink.h"
#include "methods_fixture.h"
#include "parameters.h"
#include "varlink_check.h"

/* --- the checker itself must be able to fail */

static void checker_sees_differences(void **state)
{
	static const char description[] =
	        "interface a.b\n\n# type X (z: int)\ntype X (a: int, b: ?[]Y)\n"
	        "type Y (f: float, s: string)\nmethod M(p: int) -> (x: X, t: bool)\nmethod No() -> "
	        "()\n";
	static const struct {
		const char *name, *json;
		int result;
	} cases[] = {
	        {"X", "{\"a\":1,\"b\":null}", 0},
	        {"X", "{\"a\":1,\"b\":[{\"f\":1,\"s\":\"\"},{\"f\":1.5,\"s\":\"\"}]}", 0},
	        {"X", "{\"a\":1}", 0},
	        {"X", "{\"b\":null}", -EBADMSG},
	        {"X", "{\"a\":1,\"c\":null}", -EBADMSG},
	        {"X", "{\"a\":1.5,\"b\":null}", -EBADMSG},
	        {"X", "{\"a\":null,\"b\":null}", -EBADMSG},
	        {"X", "{\"a\":1,\"b\":null,\"c\":1}", -EBADMSG},
	        {"X", "{\"a\":1,\"b\":{}}", -EBADMSG},
	        {"X", "{\"a\":1,\"b\":[{\"f\":1}]}", -EBADMSG},
	        {"X", "{\"a\":1,\"b\":[{\"f\":\"1\",\"s\":\"\"}]}", -EBADMSG},
	        {"M", "{\"x\":{\"a\":1,\"b\":[]},\"t\":true}", 0},
	        {"M", "{\"p\":1}", -EBADMSG},
	        {"M", "{\"x\":{\"a\":1,\"b\":[]},\"t\":1}", -EBADMSG},
	        {"No", "{}", 0},
	        {"Missing", "{}", -EBADMSG},
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct json_object *object = json_tokener_parse(cases[i].json);
		char problem[128];

		if (varlink_check(description, cases[i].name, object, problem, sizeof(problem)) !=
		        cases[i].result)
			fail_msg("%s %s", cases[i].name, cases[i].json);
		json_object_put(object);
	}
}

/* --- answers */

static void answers_status(void **state)
{
	(void)state;
	fake_process(context.manager, 100, USER);
	call("Status", "{}");
	assert_success("Status");
	assert_int_equal(json_object_get_int(member_of(reply.parameters, "processes")), 1);
	assert_int_equal(json_object_get_int(member_of(reply.parameters, "clients")), 3);
	assert_string_equal(string_of("version"), MTL_VERSION);
	assert_string_equal(string_of("rung"), "watchpoints");
	assert_null(member_of(reply.parameters, "daemon_cpu"));
	assert_null(member_of(reply.parameters, "address_reason"));
	assert_string_equal(json_object_to_json_string_ext(
	                            json_object_array_get_idx(
	                                    member_of(reply.parameters, "address_samples"), 0),
	                            JSON_C_TO_STRING_PLAIN),
	        "{\"event\":\"MEM_INST_RETIRED.ALL_LOADS\",\"pmu\":\"cpu\",\"source\":\"perfmon\","
	        "\"misses_only\":false,"
	        "\"cpus\":2,\"precise\":3,\"period\":100003,\"samples\":29,\"foreign\":1,\"zero\":"
	        "2,"
	        "\"kernel\":3,\"filtered\":4,\"unreadable\":8,\"delivered\":5,\"lost\":6,"
	        "\"unseen\":7,\"throttled\":"
	        "8,"
	        "\"starved\":0.25}");
	assert_string_equal(json_object_to_json_string_ext(member_of(reply.parameters, "agreement"),
	                            JSON_C_TO_STRING_PLAIN),
	        "{\"llc_ratio\":0.9,\"reuse_difference\":null,\"processes\":1}");
	assert_null(member_of(reply.parameters, "reuse_reason"));
	context.manager->status.n_events = 0;
	strcpy(context.manager->status.events_reason, "no PMU");
	context.manager->status.daemon_cpu = 0.002;
	context.manager->status.method[0] = '\0';
	call("Status", "{}");
	assert_success("Status");
	assert_null(member_of(reply.parameters, "calibration"));
	assert_true(json_object_get_double(member_of(reply.parameters, "daemon_cpu")) == 0.002);
}

static void answers_list(void **state)
{
	struct json_object *first;

	(void)state;
	assert_int_equal(listed(&root_peer), 0);
	fake_process(context.manager, 100, USER);
	strcpy(fake_process(context.manager, 200, 0)->reason, "a debugger is attached");
	assert_int_equal(listed(&root_peer), 2);
	first = json_object_array_get_idx(member_of(reply.parameters, "processes"), 0);
	assert_int_equal(json_object_get_int(member_of(first, "pid")), 100);
	assert_int_equal(json_object_get_int(member_of(first, "observations_needed")),
	        MTL_OBSERVATIONS_NEEDED);
	assert_null(member_of(first, "reason"));
	assert_true(json_object_get_double(member_of(first, "llc_ratio")) == 0.9);
	assert_true(json_object_get_double(member_of(first, "reuse_difference")) == 0.03);
	assert_int_equal(json_object_get_int(member_of(first, "reuse_observations")), 77);
}

static void answers_curve(void **state)
{
	struct json_object *curve;

	(void)state;
	fake_process(context.manager, 100, USER);
	call("Curve", "{\"pid\":100}");
	assert_success("Curve");
	curve = member_of(reply.parameters, "curve");
	assert_int_equal(json_object_array_length(member_of(curve, "points")), 3);
	assert_true(isnan(context.manager->first_size));
	assert_true(context.manager->options.reference_bytes == 0);
	assert_false(reply.continues);
	call("Curve",
	        "{\"pid\":100,\"sizes\":[4096,1048576],\"windows\":[0.001],\"reference\":65536}");
	assert_success("Curve");
	curve = member_of(reply.parameters, "curve");
	assert_int_equal(json_object_array_length(member_of(curve, "points")), 2);
	assert_int_equal(json_object_array_length(member_of(curve, "footprint")), 1);
	assert_true(context.manager->first_size == 4096);
	assert_true(context.manager->first_window == 0.001);
	assert_true(context.manager->options.reference_bytes == 65536);
}

static void a_question_aside_keeps_nothing(void **state)
{
	(void)state;
	fake_process(context.manager, 100, USER);
	call("Curve", "{\"pid\":100,\"aside\":true}");
	assert_success("Curve");
	call("List", "{}");
	assert_int_equal(context.manager->n_asked, 0);
	call("Curve", "{\"pid\":100,\"aside\":false}");
	call("Curve", "{\"pid\":100}");
	call("Observations", "{\"pid\":100}");
	assert_int_equal(context.manager->n_asked, 3);
}

static void answers_observations(void **state)
{
	(void)state;
	fake_process(context.manager, 100, USER);
	call("Observations", "{\"pid\":100}");
	assert_success("Observations");
	assert_non_null(member_of(member_of(reply.parameters, "record"), "observations"));
}

static void answers_history(void **state)
{
	struct json_object *history;

	(void)state;
	fake_process(context.manager, 100, USER);
	call("History", "{\"pid\":100,\"sizes\":[4096,1048576]}");
	assert_success("History");
	history = member_of(reply.parameters, "history");
	assert_int_equal(json_object_array_length(member_of(history, "sizes")), 2);
	assert_int_equal(json_object_array_length(member_of(history, "entries")), 2);
	call("History", "{\"pid\":100}");
	assert_success("History");
	call("History", "{\"pid\":100,\"sizes\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}");
	assert_error("InvalidParameter");
	assert_string_equal(
	        json_object_get_string(member_of(reply.parameters, "reason")), "at most 16 sizes");
}

static void tracks(void **state)
{
	(void)state;
	call("Track", "{\"pid\":100}");
	assert_null(reply.error);
	assert_null(reply.parameters);
	assert_int_equal(context.manager->n_tracked, 1);
	assert_true(context.manager->idle_seconds == 0);
	call("Track", "{\"pid\":100,\"idle_seconds\":30.5}");
	assert_true(context.manager->idle_seconds == 30.5);
	call("Track", "{\"pid\":100,\"idle_seconds\":null}");
	assert_true(context.manager->idle_seconds == 0);
	call("Untrack", "{\"pid\":100}");
	assert_null(reply.error);
	assert_int_equal(context.manager->n_untracked, 1);
}

static void untracks_by_the_name_it_has(void **state)
{
	struct manager_process *process = fake_process(context.manager, 100, USER);

	(void)state;
	process->tracked_by = "cgroup";
	process->cgroup = "/a.slice";
	call("Untrack", "{\"pid\":100}");
	assert_error("InvalidParameter");
	assert_non_null(strstr(json_object_get_string(member_of(reply.parameters, "reason")),
	        "untrack cgroup:/a.slice"));
	process->tracked_by = "top";
	process->cgroup = NULL;
	call("Untrack", "{\"pid\":100}");
	assert_error("InvalidParameter");
	assert_int_equal(context.manager->n_untracked, 0);
}

static void hides_dirty_names(void **state)
{
	struct manager_process *process = fake_process(context.manager, 100, USER);
	char *bytes;
	size_t size;

	(void)state;
	strcpy(process->comm, "\xff\x01\"x");
	call("List", "{}");
	assert_int_equal(reply_encode(&reply, &bytes, &size), 0);
	assert_non_null(strstr(bytes, "\"?\\u0001\\\"x\""));
	assert_int_equal(strlen(bytes) + 1, size);
	free(bytes);
	call("Curve", "{\"pid\":100}");
	assert_success("Curve");
	assert_string_equal(
	        json_object_get_string(member_of(member_of(reply.parameters, "curve"), "comm")),
	        "?\x01\"x");
}

/* --- errors */

static void names_errors(void **state)
{
	static const struct {
		int result;
		const char *error;
	} refusals[] = {
	        {-ESRCH, "NoSuchProcess"},
	        {-ENOTSUP, "KernelThread"},
	        {-EUSERS, "TooManyProcesses"},
	        {-ENOSYS, "SamplingImpossible"},
	        {-EACCES, "PermissionDenied"},
	        {-EIO, "Failed"},
	};

	(void)state;
	for (size_t i = 0; i < N(refusals); i++) {
		context.manager->track_result = refusals[i].result;
		call("Track", "{\"pid\":100}");
		assert_error(refusals[i].error);
	}
	call("Curve", "{\"pid\":999}");
	assert_error("NoSuchProcess");
	make_process(200, 0);
	call("Curve", "{\"pid\":200}");
	assert_error("NotTracked");
	call("Untrack", "{\"pid\":200}");
	assert_error("NotTracked");
	call("Observations", "{\"pid\":200}");
	assert_error("NotTracked");
}

static void says_not_enough(void **state)
{
	struct manager_process *process = fake_process(context.manager, 100, USER);

	(void)state;
	context.manager->curve_result = -ENODATA;
	process->observations = 12;
	call("Curve", "{\"pid\":100}");
	assert_error("NotEnoughObservations");
	assert_int_equal(json_object_get_int(member_of(reply.parameters, "observations")), 12);
	assert_int_equal(json_object_get_int(member_of(reply.parameters, "needed")),
	        MTL_OBSERVATIONS_NEEDED);
	assert_null(string_of("reason"));
	strcpy(process->reason, "paused");
	process->first_curve_seconds = NAN;
	call("Curve", "{\"pid\":100}");
	assert_error("NotEnoughObservations");
	assert_string_equal(string_of("reason"), "paused");
	assert_null(member_of(reply.parameters, "seconds"));
	process->first_curve_seconds = 12.1;
	strcpy(process->first_curve_basis, "at 1 observation a second so far");
	call("Curve", "{\"pid\":100}");
	assert_error("NotEnoughObservations");
	assert_int_equal(json_object_get_int(member_of(reply.parameters, "seconds")), 13);
	assert_string_equal(string_of("basis"), "at 1 observation a second so far");
	assert_string_equal(string_of("state"), process->state);
	process->governing.n_backoff = 2;
	strcpy(process->governing.backoff[0].text, "it waits for a CPU 50 % of the time it wants one");
	strcpy(process->governing.backoff[1].text, "mtld takes too much");
	call("Curve", "{\"pid\":100}");
	assert_string_equal(string_of("reason"),
	        "paused; it waits for a CPU 50 % of the time it wants one; mtld takes too much");
	*process->reason = '\0';
	process->governing.n_backoff = 1;
	call("Curve", "{\"pid\":100}");
	assert_string_equal(
	        string_of("reason"), "it waits for a CPU 50 % of the time it wants one");
	context.manager->curve_result = -EINVAL;
	call("Curve", "{\"pid\":100}");
	assert_error("InvalidParameter");
}

static void follows_cgroups(void **state)
{
	struct json_object *cgroups, *one;

	(void)state;
	call("TrackCgroup", "{\"cgroup\":\"/b.slice\"}");
	assert_error("NoSuchCgroup");
	assert_string_equal(string_of("cgroup"), "/b.slice");
	call("TrackCgroup", "{}");
	assert_string_equal(reply.error, "org.varlink.service.InvalidParameter");
	call("TrackCgroup", "{\"cgroup\":\"/a.slice\"}");
	assert_null(reply.error);
	call("Status", "{}");
	assert_success("Status");
	cgroups = member_of(reply.parameters, "cgroups");
	assert_int_equal(json_object_array_length(cgroups), 1);
	one = json_object_array_get_idx(cgroups, 0);
	assert_int_equal(json_object_get_int(member_of(one, "members")), 5);
	assert_int_equal(json_object_get_int(member_of(one, "tracked")), 3);
	assert_non_null(strstr(json_object_get_string(member_of(one, "reason")), "max_processes"));
	call("UntrackCgroup", "{\"cgroup\":\"/a.slice\"}");
	assert_null(reply.error);
	call("UntrackCgroup", "{\"cgroup\":\"/a.slice\"}");
	assert_error("NoSuchCgroup");
	context.manager->track_result = -EOPNOTSUPP;
	call("TrackCgroup", "{\"cgroup\":\"/a.slice\"}");
	assert_error("InvalidParameter");
	assert_non_null(strstr(string_of("reason"), "threaded"));
	context.manager->track_result = -E2BIG;
	call("TrackCgroup", "{\"cgroup\":\"/a.slice\"}");
	assert_error("InvalidParameter");
	context.manager->track_result = 0;
	call_as(&user,
	        "{\"method\":\"io.mtld.TrackCgroup\",\"parameters\":{\"cgroup\":\"/a.slice\"}}");
	assert_error("PermissionDenied");
	call_as(&user,
	        "{\"method\":\"io.mtld.UntrackCgroup\",\"parameters\":{\"cgroup\":\"/a.slice\"}}");
	assert_error("PermissionDenied");
}

static void judges_parameters(void **state)
{
	static const struct {
		const char *method, *parameters, *error, *parameter;
	} bad[] = {
	        {"Curve", "{}", "org.varlink.service.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":null}", "org.varlink.service.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":\"100\"}", "org.varlink.service.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":100.0}", "org.varlink.service.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":true}", "org.varlink.service.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":100,\"size\":[1]}", "org.varlink.service.InvalidParameter",
	                "size"},
	        {"Status", "{\"pid\":100}", "org.varlink.service.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":100,\"sizes\":4096}", "org.varlink.service.InvalidParameter",
	                "sizes"},
	        {"Curve", "{\"pid\":100,\"sizes\":[\"4K\"]}",
	                "org.varlink.service.InvalidParameter", "sizes"},
	        {"Curve", "{\"pid\":100,\"sizes\":[null]}", "org.varlink.service.InvalidParameter",
	                "sizes"},
	        {"Curve", "{\"pid\":100,\"reference\":[1]}", "org.varlink.service.InvalidParameter",
	                "reference"},
	        {"Curve", "{\"pid\":0}", "io.mtld.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":-1}", "io.mtld.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":2147483648}", "io.mtld.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":99999999999999999999999}", "io.mtld.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":-99999999999999999999999}", "io.mtld.InvalidParameter", "pid"},
	        {"Curve", "{\"pid\":100,\"sizes\":[]}", "io.mtld.InvalidParameter", "sizes"},
	        {"Curve", "{\"pid\":100,\"sizes\":[1,0]}", "io.mtld.InvalidParameter", "sizes"},
	        {"Curve", "{\"pid\":100,\"sizes\":[-4096]}", "io.mtld.InvalidParameter", "sizes"},
	        {"Curve", "{\"pid\":100,\"sizes\":[1e999]}", "io.mtld.InvalidParameter", "sizes"},
	        {"Curve", "{\"pid\":100,\"sizes\":[2305843009213693952]}",
	                "io.mtld.InvalidParameter", "sizes"},
	        {"Curve", "{\"pid\":100,\"windows\":[0]}", "io.mtld.InvalidParameter", "windows"},
	        {"Curve", "{\"pid\":100,\"reference\":0}", "io.mtld.InvalidParameter", "reference"},
	        {"Track", "{\"pid\":100,\"idle_seconds\":-1}", "io.mtld.InvalidParameter",
	                "idle_seconds"},
	        {"Track", "{\"pid\":100,\"idle_seconds\":1e10}", "io.mtld.InvalidParameter",
	                "idle_seconds"},
	};

	(void)state;
	fake_process(context.manager, 100, USER);
	for (size_t i = 0; i < N(bad); i++) {
		call(bad[i].method, bad[i].parameters);
		if (!reply.error || strcmp(reply.error, bad[i].error) ||
		        strcmp(string_of("parameter"), bad[i].parameter) || !string_of("reason"))
			fail_msg("%s %s: %s %s", bad[i].method, bad[i].parameters,
			        reply.error ? reply.error : "accepted",
			        json_object_to_json_string(reply.parameters));
	}
	assert_int_equal(context.manager->n_curves, 0);
	assert_int_equal(context.manager->n_tracked, 0);
}

static void bounds_arrays(void **state)
{
	(void)state;
	fake_process(context.manager, 100, USER);
	for (int n = NUMBERS_MAX; n <= NUMBERS_MAX + 1; n++) {
		char parameters[4096] = "{\"pid\":100,\"sizes\":[1";

		for (int i = 1; i < n; i++)
			strcat(parameters, ",4096");
		strcat(parameters, "]}");
		call("Curve", parameters);
		if (n <= NUMBERS_MAX)
			assert_success("Curve");
		else
			assert_error("InvalidParameter");
	}
}

static void names_what_is_unknown(void **state)
{
	static const struct {
		const char *method, *error, *member, *value;
	} unknown[] = {
	        {"io.mtld.Nothing", "org.varlink.service.MethodNotFound", "method",
	                "io.mtld.Nothing"},
	        {"io.mtld.status", "org.varlink.service.MethodNotFound", "method",
	                "io.mtld.status"},
	        {"io.mtld.", "org.varlink.service.MethodNotFound", "method", "io.mtld."},
	        {"org.varlink.service.X", "org.varlink.service.MethodNotFound", "method",
	                "org.varlink.service.X"},
	        {"io.mtl.Status", "org.varlink.service.InterfaceNotFound", "interface", "io.mtl"},
	        {".x", "org.varlink.service.InterfaceNotFound", "interface", ""},
	        {"Status", "org.varlink.service.MethodNotFound", "method", "Status"},
	        {"", "org.varlink.service.MethodNotFound", "method", ""},
	};

	(void)state;
	for (size_t i = 0; i < N(unknown); i++) {
		snprintf(text, sizeof(text), "{\"method\":\"%s\"}", unknown[i].method);
		call_as(&user, text);
		assert_string_equal(reply.error, unknown[i].error);
		assert_string_equal(string_of(unknown[i].member), unknown[i].value);
	}
}

static const char *description_of(const char *interface)
{
	snprintf(text, sizeof(text),
	        "{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":{"
	        "\"interface\":\"%s\"}}",
	        interface);
	call_as(&user, text);
	return reply.error ? NULL : string_of("description");
}

static void introspects(void **state)
{
	struct json_object *names;

	(void)state;
	call_as(&user, "{\"method\":\"org.varlink.service.GetInfo\"}");
	assert_null(reply.error);
	names = member_of(reply.parameters, "interfaces");
	assert_string_equal(json_object_to_json_string_ext(names, JSON_C_TO_STRING_PLAIN),
	        "[\"io.mtld\",\"org.varlink.service\"]");
	assert_string_equal(description_of("io.mtld"), io_mtld_varlink);
	assert_non_null(
	        strstr(description_of("org.varlink.service"), "\ninterface org.varlink.service\n"));
	assert_null(description_of("io.mtl"));
	assert_string_equal(reply.error, "org.varlink.service.InterfaceNotFound");
	call_as(&user, "{\"method\":\"org.varlink.service.GetInterfaceDescription\"}");
	assert_string_equal(reply.error, "org.varlink.service.InvalidParameter");
}

/* --- streams */

static void streams(void **state)
{
	struct manager_process *process = fake_process(context.manager, 100, USER);
	static const char more[] =
	        "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":100},\"more\":true}";
	char *bytes;
	size_t size;

	(void)state;
	call_as(&root_peer, more);
	assert_success("Curve");
	assert_true(reply.continues);
	assert_int_equal(reply_encode(&reply, &bytes, &size), 0);
	assert_non_null(strstr(bytes, "\"continues\":true"));
	free(bytes);
	process->state = "exited";
	call_as(&root_peer, more);
	assert_success("Curve");
	assert_false(reply.continues);
	context.manager->curve_result = -ENODATA;
	call_as(&root_peer, more);
	assert_error("NotEnoughObservations");
	assert_false(reply.continues);
	call_as(&root_peer, "{\"method\":\"io.mtld.Status\",\"more\":true}");
	assert_success("Status");
	assert_false(reply.continues);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, done)
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(checker_sees_differences),
	        TEST(answers_status),
	        TEST(answers_list),
	        TEST(answers_curve),
	        TEST(a_question_aside_keeps_nothing),
	        TEST(answers_observations),
	        TEST(answers_history),
	        TEST(tracks),
	        TEST(untracks_by_the_name_it_has),
	        TEST(hides_dirty_names),
	        TEST(names_errors),
	        TEST(says_not_enough),
	        TEST(follows_cgroups),
	        TEST(judges_parameters),
	        TEST(bounds_arrays),
	        TEST(names_what_is_unknown),
	        TEST(introspects),
	        TEST(streams),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

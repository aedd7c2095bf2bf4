/* SPDX-License-Identifier: MIT */
/*
 * Methods against a fake manager: every answer and every error has exactly the fields and types
 * that daemon/io.mtld.varlink declares; parameters are judged; peers see what they may.
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
#include <sys/stat.h>
#include <unistd.h>
#include "fake_manager.h"
#include "io.mtld.varlink.h"
#include "methods.h"
#include "parameters.h"
#include "varlink_check.h"

#define N(array) (sizeof(array) / sizeof(*(array)))
#define USER 12345

static const struct peer root_peer = {1, 0, true}, member = {1, 777, true}, user = {1, USER, false};

/* A fake root with /proc/100 (ours) and /proc/200 (root's). */
static char root[] = "/tmp/test_methods.XXXXXX";
static struct config config;
static struct methods_context context;
static struct reply reply;
static char text[MESSAGE_BYTES_MAX];

static void make_process(int pid, uid_t owner)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/proc/%d", root, pid);
	assert_int_equal(mkdir(path, 0755), 0);
	if (chown(path, owner, (gid_t)-1) < 0)
		skip(); /* ownership can only be given away by root */
}

static int set_up(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/proc", root);
	return mkdir(path, 0755);
}

static int tear_down(void **state)
{
	static const char *const names[] = {"/proc/100", "/proc/200", "/proc", ""};
	char path[64];

	(void)state;
	for (size_t i = 0; i < N(names); i++) {
		snprintf(path, sizeof(path), "%s%s", root, names[i]);
		rmdir(path);
	}
	return 0;
}

static int fresh(void **state)
{
	(void)state;
	config_defaults(&config);
	context = (struct methods_context){fake_manager(), &config, root, 3};
	return 0;
}

static int done(void **state)
{
	(void)state;
	reply_done(&reply);
	context.manager = manager_free(context.manager);
	return 0;
}

static void call_as(const struct peer *peer, const char *message)
{
	struct json_call call = {0};
	char reason[128] = "";

	reply_done(&reply);
	if (json_call_parse(message, strlen(message), &call, reason, sizeof(reason)) != 0)
		fail_msg("%s: %s", message, reason);
	assert_int_equal(methods_call(&context, peer, &call, &reply), 0);
	json_call_done(&call);
}

/* Method of io.mtld and its parameters, as root. */
static void call(const char *method, const char *parameters)
{
	snprintf(text, sizeof(text), "{\"method\":\"io.mtld.%s\",\"parameters\":%s}", method,
	        parameters);
	call_as(&root_peer, text);
}

static void check_reply(const char *declaration)
{
	char problem[128];

	if (varlink_check(
	            io_mtld_varlink, declaration, reply.parameters, problem, sizeof(problem)) < 0)
		fail_msg("%s: %s in %s", declaration, problem,
		        json_object_to_json_string(reply.parameters));
}

static void assert_success(const char *method)
{
	if (reply.error)
		fail_msg("%s: %s %s", method, reply.error,
		        json_object_to_json_string(reply.parameters));
	check_reply(method);
}

/* An error of io.mtld, with the parameters it declares. */
static void assert_error(const char *name)
{
	if (!reply.error)
		fail_msg("no error, expected %s", name);
	assert_int_equal(strncmp(reply.error, "io.mtld.", 8), 0);
	assert_string_equal(reply.error + 8, name);
	check_reply(name);
}

static struct json_object *member_of(struct json_object *object, const char *name)
{
	return json_object_object_get(object, name);
}

static const char *string_of(const char *name)
{
	return json_object_get_string(member_of(reply.parameters, name));
}

static size_t listed(const struct peer *peer)
{
	call_as(peer, "{\"method\":\"io.mtld.List\"}");
	assert_success("List");
	return json_object_array_length(member_of(reply.parameters, "processes"));
}

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

static void answers_observations(void **state)
{
	(void)state;
	fake_process(context.manager, 100, USER);
	call("Observations", "{\"pid\":100}");
	assert_success("Observations");
	assert_non_null(member_of(member_of(reply.parameters, "record"), "observations"));
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
	call("Curve", "{\"pid\":100}");
	assert_error("NotEnoughObservations");
	assert_string_equal(string_of("reason"), "paused");
	context.manager->curve_result = -EINVAL;
	call("Curve", "{\"pid\":100}");
	assert_error("InvalidParameter");
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

/* --- who may what */

static void shows_each_their_own(void **state)
{
	(void)state;
	make_process(100, USER);
	fake_process(context.manager, 100, USER);
	fake_process(context.manager, 200, 0);
	assert_int_equal(listed(&root_peer), 2);
	assert_int_equal(listed(&member), 2);
	assert_int_equal(listed(&user), 1);
	call_as(&user, "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":100}}");
	assert_success("Curve");
	call_as(&user, "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":200}}");
	assert_error("PermissionDenied");
	call_as(&user, "{\"method\":\"io.mtld.Observations\",\"parameters\":{\"pid\":200}}");
	assert_error("PermissionDenied");
	call_as(&user, "{\"method\":\"io.mtld.Untrack\",\"parameters\":{\"pid\":200}}");
	assert_error("PermissionDenied");
	assert_int_equal(context.manager->n_untracked, 0);
	call_as(&user, "{\"method\":\"io.mtld.Untrack\",\"parameters\":{\"pid\":100}}");
	assert_null(reply.error);
	call_as(&user, "{\"method\":\"io.mtld.Status\"}");
	assert_success("Status");
}

/* The process executed a set-user-ID program after it was tracked: /proc/PID is root's now. */
static void hides_what_became_privileged(void **state)
{
	struct manager_process *process = fake_process(context.manager, 200, USER);

	(void)state;
	assert_int_equal(listed(&user), 0);
	call_as(&user, "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":200}}");
	assert_error("PermissionDenied");
	process->state = "exited"; /* its number may belong to another one now */
	assert_int_equal(listed(&user), 1);
	process->pid = 300; /* gone, not yet noticed */
	process->state = "sampling";
	assert_int_equal(listed(&user), 1);
}

static void lets_users_track_their_own(void **state)
{
	static const char ours[] = "{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":100}}",
	                  roots[] = "{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":200}}",
	                  none[] = "{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":300}}";

	(void)state;
	context.manager->track_uid = USER;
	call_as(&user, ours);
	assert_null(reply.error);
	call_as(&user, roots);
	assert_error("PermissionDenied");
	call_as(&user, none);
	assert_error("NoSuchProcess");
	assert_int_equal(context.manager->n_tracked, 1);
	call_as(&member, roots);
	assert_null(reply.error);
}

/* The pid went to another user between the look at /proc and the tracking. */
static void untracks_what_changed_hands(void **state)
{
	static const char ours[] = "{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":100}}";

	(void)state;
	context.manager->track_uid = 0;
	call_as(&user, ours);
	assert_error("PermissionDenied");
	assert_int_equal(context.manager->n_untracked, 1);
	/* tracked by somebody else before: left as it is */
	fake_process(context.manager, 100, 0);
	call_as(&user, ours);
	assert_error("PermissionDenied");
	assert_int_equal(context.manager->n_untracked, 1);
	assert_int_equal(context.manager->n_tracked, 1);
}

static void bounds_one_users_places(void **state)
{
	static const char ours[] = "{\"method\":\"io.mtld.Track\",\"parameters\":{\"pid\":100}}";

	(void)state;
	config.max_processes = 8;
	context.manager->track_uid = USER;
	fake_process(context.manager, 1001, USER);
	fake_process(context.manager, 1002, USER);
	call_as(&user, ours);
	assert_error("TooManyProcesses");
	assert_int_equal(json_object_get_int(member_of(reply.parameters, "limit")), 2);
	context.manager->processes[1].state = "exited";
	call_as(&user, ours);
	assert_null(reply.error);
	call_as(&user, ours); /* already one of them */
	assert_null(reply.error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(checker_sees_differences),
	        cmocka_unit_test_setup_teardown(answers_status, fresh, done),
	        cmocka_unit_test_setup_teardown(answers_list, fresh, done),
	        cmocka_unit_test_setup_teardown(answers_curve, fresh, done),
	        cmocka_unit_test_setup_teardown(answers_observations, fresh, done),
	        cmocka_unit_test_setup_teardown(tracks, fresh, done),
	        cmocka_unit_test_setup_teardown(hides_dirty_names, fresh, done),
	        cmocka_unit_test_setup_teardown(names_errors, fresh, done),
	        cmocka_unit_test_setup_teardown(says_not_enough, fresh, done),
	        cmocka_unit_test_setup_teardown(judges_parameters, fresh, done),
	        cmocka_unit_test_setup_teardown(bounds_arrays, fresh, done),
	        cmocka_unit_test_setup_teardown(names_what_is_unknown, fresh, done),
	        cmocka_unit_test_setup_teardown(introspects, fresh, done),
	        cmocka_unit_test_setup_teardown(streams, fresh, done),
	        cmocka_unit_test_setup_teardown(shows_each_their_own, fresh, done),
	        cmocka_unit_test_setup_teardown(hides_what_became_privileged, fresh, done),
	        cmocka_unit_test_setup_teardown(lets_users_track_their_own, fresh, done),
	        cmocka_unit_test_setup_teardown(untracks_what_changed_hands, fresh, done),
	        cmocka_unit_test_setup_teardown(bounds_one_users_places, fresh, done),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

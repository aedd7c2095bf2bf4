/* SPDX-License-Identifier: MIT */
/*
 * Who may see and track what: root, members of the group, and everybody else, whose processes may
 * change hands or become privileged meanwhile.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include "methods_fixture.h"

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
	call_as(&user, "{\"method\":\"io.mtld.History\",\"parameters\":{\"pid\":200}}");
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
	make_process(200, 0);
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, done)
	const struct CMUnitTest tests[] = {
	        TEST(shows_each_their_own),
	        TEST(hides_what_became_privileged),
	        TEST(lets_users_track_their_own),
	        TEST(untracks_what_changed_hands),
	        TEST(bounds_one_users_places),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

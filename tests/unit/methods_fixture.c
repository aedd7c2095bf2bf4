/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io.mtld.varlink.h"
#include "methods_fixture.h"
#include "varlink_check.h"

const struct peer root_peer = {1, 0, true}, member = {1, 777, true}, user = {1, USER, false};

static char root[] = "/tmp/methods.XXXXXX";
struct config config;
struct methods_context context;
struct reply reply;
unsigned turns, most_curves;
void (*between_turns)(void);
char text[MESSAGE_BYTES_MAX];

void make_process(int pid, uid_t owner)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/proc/%d", root, pid);
	mkdir(path, 0755);
	if (chown(path, owner, (gid_t)-1) < 0)
		skip(); /* ownership can only be given away by root */
}

int set_up(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/proc", root);
	return mkdir(path, 0755);
}

int tear_down(void **state)
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

int fresh(void **state)
{
	(void)state;
	config_defaults(&config);
	context = (struct methods_context){
	        .manager = fake_manager(), .config = &config, .root = root, .clients = 3};
	return 0;
}

int done(void **state)
{
	(void)state;
	between_turns = NULL;
	reply_done(&reply);
	context.manager = manager_free(context.manager);
	return 0;
}

void call_as(const struct peer *peer, const char *message)
{
	struct json_call call = {0};
	char reason[128] = "";

	reply_done(&reply);
	if (json_call_parse(message, strlen(message), &call, reason, sizeof(reason)) != 0)
		fail_msg("%s: %s", message, reason);
	turns = most_curves = 0;
	do {
		unsigned before = context.manager->n_curves;

		assert_int_equal(methods_call(&context, peer, &call, &reply), 0);
		assert_true(!reply.unfinished || (!reply.error && !reply.parameters));
		turns++;
		if (context.manager->n_curves - before > most_curves)
			most_curves = context.manager->n_curves - before;
		if (reply.unfinished && between_turns)
			between_turns();
	} while (reply.unfinished);
	json_call_done(&call);
}

void call(const char *method, const char *parameters)
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

void assert_success(const char *method)
{
	if (reply.error)
		fail_msg("%s: %s %s", method, reply.error,
		        json_object_to_json_string(reply.parameters));
	check_reply(method);
}

void assert_error(const char *name)
{
	if (!reply.error)
		fail_msg("no error, expected %s", name);
	assert_int_equal(strncmp(reply.error, "io.mtld.", 8), 0);
	assert_string_equal(reply.error + 8, name);
	check_reply(name);
}

struct json_object *member_of(struct json_object *object, const char *name)
{
	return json_object_object_get(object, name);
}

const char *string_of(const char *name)
{
	return json_object_get_string(member_of(reply.parameters, name));
}

size_t listed(const struct peer *peer)
{
	call_as(peer, "{\"method\":\"io.mtld.List\"}");
	assert_success("List");
	return json_object_array_length(member_of(reply.parameters, "processes"));
}

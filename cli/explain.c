/* SPDX-License-Identifier: MIT */
/*
 * What went wrong, in words: two tables, one for errors of the connection (errno) and one for
 * errors the daemon answers with (names of the interface), each with the cause and the fix.
 *
 * A sentence may hold {field}, replaced by that parameter of the reply, and [a part in brackets],
 * left out when a field in it is missing, null or empty.
 */

#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

#define INTERFACE "io.mtld."

struct connection_error {
	int error;
	const char *sentence; /* %s: the socket */
};

struct reply_error {
	const char *name;
	enum exit_code code;
	const char *sentence;
};

static const struct connection_error connection_errors[] = {
        {ENOENT, "mtld is not running at %s: `systemctl start mtld`, or use `mtl run`; `mtl "
                 "doctor` says whether they can work here"},
        {ECONNREFUSED, "mtld is not running at %s (its socket is left over): `systemctl start "
                       "mtld`, or use `mtl run`; `mtl doctor` says whether they can work here"},
        {EACCES, "not permitted to talk to mtld at %s: become a member of group mtl (`sudo "
                 "usermod -aG mtl $USER`, then log in again) or use root"},
        {EPERM, "not permitted to talk to mtld at %s: become a member of group mtl (`sudo "
                "usermod -aG mtl $USER`, then log in again) or use root"},
        {ENOTDIR, "%s cannot be a socket: a part of its path is not a directory; see --socket"},
        {ENOTSOCK, "%s is not a socket: give the one mtld listens on with --socket"},
        {EPROTOTYPE, "%s is a socket of another program: give the one of mtld with --socket"},
        {ENAMETOOLONG, "the socket path %s is too long: Linux allows 107 bytes; use a shorter "
                       "--socket"},
        {ETIMEDOUT, "mtld at %s did not answer in time: it is overloaded or stopped; see "
                    "`systemctl status mtld`"},
        {ECONNRESET, "mtld at %s closed the connection without answering: see `journalctl -u "
                     "mtld`"},
        {EPIPE, "mtld at %s closed the connection: see `journalctl -u mtld`"},
        {EBADMSG, "what answers at %s does not speak the protocol of mtld: check --socket, and "
                  "that mtl and mtld are of one version"},
        {EMSGSIZE, "the answer from %s exceeds 16 MB, which mtld never sends: check --socket"},
        {ENOMEM, "out of memory while talking to mtld at %s"},
};

static const struct reply_error reply_errors[] = {
        {"io.mtld.NoSuchProcess", MTL_FAILED,
                "there is no process {pid}: it has ended, or the number is wrong"},
        {"io.mtld.NotTracked", MTL_FAILED,
                "process {pid} is not tracked: `mtl track {pid}` first, or ask `mtl curve {pid}`"},
        {"io.mtld.KernelThread", MTL_FAILED,
                "process {pid} is a kernel thread: it has no memory of its own to watch"},
        {"io.mtld.NotEnoughObservations", MTL_NOT_ENOUGH,
                "not enough yet: {observations} of about {needed} observations[ ({reason})]"
                "[; about {seconds} s more, {basis}]"},
        {"io.mtld.NoSuchCgroup", MTL_FAILED,
                "mtld finds no control group {cgroup}, or does not follow it: give its path below "
                "/sys/fs/cgroup, as /proc/PID/cgroup has it"},
        {"io.mtld.PermissionDenied", MTL_FAILED,
                "not permitted: {reason}; ask as its owner, as root or as a member of group mtl"},
        {"io.mtld.TooManyProcesses", MTL_FAILED,
                "{limit} processes are tracked, which is the limit: `mtl untrack PID` one of them, "
                "or raise max_processes in mtld.conf"},
        {"io.mtld.SamplingImpossible", MTL_IMPOSSIBLE,
                "sampling is impossible here: {reason}[; {fix}]"},
        {"io.mtld.TooUncertain", MTL_NOT_ENOUGH, "no advice: {reason}"},
        {"io.mtld.InvalidParameter", MTL_FAILED, "mtld does not accept {parameter}[: {reason}]"},
        {"io.mtld.Failed", MTL_FAILED,
                "mtld could not do it[: {reason}]; see `journalctl -u mtld`"},
        {"io.mtld.MalformedMessage", MTL_FAILED,
                "mtld did not understand the question[: {reason}]"},
        {"io.mtld.TooManyClients", MTL_FAILED,
                "mtld has {limit} clients, which is the limit: try again later, or raise "
                "max_clients in mtld.conf"},
        {"org.varlink.service.InvalidParameter", MTL_FAILED,
                "mtld does not accept {parameter}: mtl and mtld are of different versions"},
        {"org.varlink.service.MethodNotFound", MTL_FAILED,
                "mtld does not know {method}: mtl and mtld are of different versions"},
        {"org.varlink.service.MethodNotImplemented", MTL_FAILED,
                "mtld does not have {method}: mtl and mtld are of different versions"},
        {"org.varlink.service.InterfaceNotFound", MTL_FAILED,
                "what answers is not mtld (it does not know {interface}): check --socket"},
};

struct text {
	char *bytes;
	size_t size, length;
};

static void append(struct text *text, const char *bytes, size_t length)
{
	if (text->length + length >= text->size)
		length = text->size - 1 - text->length;
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

/* false when there is nothing to say for the field. */
static bool append_field(
        struct text *text, struct json_object *parameters, const char *name, size_t length)
{
	struct json_object *value;
	char key[32];
	const char *words;

	snprintf(key, sizeof(key), "%.*s", (int)length, name);
	if (!json_object_object_get_ex(parameters, key, &value) || !value)
		return false;
	words = json_object_get_string(value);
	append(text, words, strlen(words));
	return *words;
}

static void expand(struct text *text, const char *sentence, struct json_object *parameters)
{
	size_t bracket = 0;
	bool complete = true;

	while (*sentence) {
		size_t length = strcspn(sentence, "{[]");

		append(text, sentence, length);
		sentence += length;
		if (*sentence == '[') {
			bracket = text->length;
			complete = true;
		} else if (*sentence == ']' && !complete) {
			text->length = bracket;
			text->bytes[bracket] = '\0';
		} else if (*sentence == '{') {
			length = strcspn(++sentence, "}");
			if (!append_field(text, parameters, sentence, length))
				complete = false;
			sentence += length;
		}
		sentence += *sentence != '\0';
	}
}

static const struct reply_error *find_reply_error(const char *name)
{
	for (size_t i = 0; i < sizeof(reply_errors) / sizeof(reply_errors[0]); i++) {
		if (strcmp(reply_errors[i].name, name) == 0)
			return &reply_errors[i];
	}
	return NULL;
}

bool reply_is(const struct client_reply *reply, const char *name)
{
	size_t prefix = strlen(INTERFACE);

	return reply->error && strncmp(reply->error, INTERFACE, prefix) == 0 &&
	       strcmp(reply->error + prefix, name) == 0;
}

void reply_sentence(const struct client_reply *reply, char *ret_text, size_t size)
{
	const struct reply_error *row = find_reply_error(reply->error);
	struct text text = {.bytes = ret_text, .size = size};

	if (row)
		expand(&text, row->sentence, reply->parameters);
	else
		snprintf(ret_text, size, "mtld answered %s, which this mtl does not know: %s",
		        reply->error, json_object_to_json_string(reply->parameters));
}

int reply_explain(const struct client_reply *reply)
{
	const struct reply_error *row = find_reply_error(reply->error);
	char text[1024];

	reply_sentence(reply, text, sizeof(text));
	return complain(row ? row->code : MTL_FAILED, "%s", text);
}

int client_explain(int error, const char *path)
{
	for (size_t i = 0; i < sizeof(connection_errors) / sizeof(connection_errors[0]); i++) {
		char text[512];

		if (connection_errors[i].error != -error)
			continue;
		snprintf(text, sizeof(text), connection_errors[i].sentence, path);
		return complain(MTL_FAILED, "%s", text);
	}
	return complain(MTL_FAILED, "cannot talk to mtld at %s: %s", path, strerror(-error));
}

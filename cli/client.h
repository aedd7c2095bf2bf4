/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_CLIENT_H
#define MTL_CLI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <json-c/json.h>
#include "cleanup.h"
#include "json_fields.h" /* json_object_putp() */

#define CLIENT_REPLY_SECONDS 5.0
#define CLIENT_MESSAGE_MAX (16u << 20)

struct client;

/* One reply: error NULL when the call succeeded. Both belong to object. */
struct client_reply {
	struct json_object *object;
	struct json_object *parameters; /* never NULL; an empty object when there were none */
	const char *error;              /* "io.mtld.NotTracked" */
	bool continues;
};

/* NULL-safe. */
void client_reply_done(struct client_reply *reply);

/* Negative errno; client_explain() turns it into a sentence. */
int client_connect(const char *path, struct client **ret_client);

/* The same over a connected socket, which then belongs to the client. -ENOMEM: it does not. */
int client_from_fd(int fd, struct client **ret_client);

struct client *client_free(struct client *client);
DEFINE_CLEANUP(struct client, client_free)

/* Sends "io.mtld.METHOD"; parameters (NULL: none) are consumed, also on failure. */
int client_send(
        struct client *client, const char *method, struct json_object *parameters, bool more);

/*
 * The next reply. -ETIMEDOUT after so many seconds; -ECANCELED when wake_fd (-1: none) becomes
 * readable first; -ECONNRESET the daemon hung up; -EMSGSIZE more than CLIENT_MESSAGE_MAX bytes;
 * -EBADMSG not a reply.
 */
int client_receive(
        struct client *client, double seconds, int wake_fd, struct client_reply *ret_reply);

/* client_send() and client_receive() with the usual time limit. */
int client_call(struct client *client, const char *method, struct json_object *parameters,
        struct client_reply *ret_reply);

/* Says on stderr what a negative errno of the above means and what to do; returns MTL_FAILED. */
int client_explain(int error, const char *path);

/* Says on stderr what an error reply means and what to do; returns the exit code it stands for. */
int reply_explain(const struct client_reply *reply);

/* reply->error is this error of io.mtld. */
bool reply_is(const struct client_reply *reply, const char *name);

/* The sentence reply_explain() would say, for tests and progress lines. */
void reply_sentence(const struct client_reply *reply, char *ret_text, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_QUESTION_H
#define MTL_CLI_QUESTION_H

#include <json-c/json.h>
#include "client.h"
#include "options.h"

/* {"pid": pid}; NULL when out of memory. */
struct json_object *question_pid(int pid);

/* Parameters of Track; NULL likewise. */
struct json_object *question_track(int pid, double idle_seconds);

/* Parameters of Curve, from --sizes, --windows and --reference; NULL when out of memory. */
struct json_object *question_curve(int pid, const struct options *options);

/* Parameters of History, from --sizes; likewise. */
struct json_object *question_history(int pid, const struct options *options);

/*
 * One call whose result is one member of the reply (NULL: all its parameters). Returns MTL_DONE and
 * a reference; another exit code, having said why the daemon refused; or a negative errno of the
 * connection, having said nothing.
 */
int question_call(struct client *client, const char *method, struct json_object *parameters,
        const char *member, struct json_object **ret_value);

/* The same, which also says what was wrong with the connection to path and returns MTL_FAILED. */
int question_ask(struct client *client, const char *path, const char *method,
        struct json_object *parameters, const char *member, struct json_object **ret_value);

/*
 * reply_explain(), which in addition tells of a process with too few observations how much it has
 * run, unless the daemon gave a reason itself.
 */
int question_explain(struct client *client, const struct client_reply *reply);

/* List has the process as ended: its last curve is kept for a while. False where mtld does not say.
 */
bool question_has_ended(struct client *client, int pid);

/*
 * Saves observations as the file --record names and says so, but to programs. Returns an exit code,
 * having said what was wrong.
 */
int question_save(struct json_object *object, const struct options *options);

#endif

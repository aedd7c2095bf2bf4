/* SPDX-License-Identifier: MIT */
#ifndef METHODS_FIXTURE_H
#define METHODS_FIXTURE_H

/*
 * Methods called straight, with a fake manager and a fake /proc. Replies are checked against
 * daemon/io.mtld.varlink. Include after cmocka.h.
 */

#include "fake_manager.h"
#include "methods.h"

#define N(array) (sizeof(array) / sizeof(*(array)))
#define USER 12345

extern const struct peer root_peer, member, user;
extern struct config config;
extern struct methods_context context;
extern struct reply reply; /* to the last call */
extern unsigned turns;     /* it took, and the curves estimated in one of them at most */
extern unsigned most_curves;
extern void (*between_turns)(void); /* NULL: nothing */
extern char text[MESSAGE_BYTES_MAX];

/* A group's setup and teardown, a test's setup and teardown. */
int set_up(void **state);
int tear_down(void **state);
int fresh(void **state);
int done(void **state);

/* /proc/PID, pid 100 or 200; skips the test where ownership cannot be given away. */
void make_process(int pid, uid_t owner);

void call_as(const struct peer *peer, const char *message);

/* A method of io.mtld and its parameters, as root. */
void call(const char *method, const char *parameters);

/* The reply is an answer of that method, or that error of io.mtld, as they are declared. */
void assert_success(const char *method);
void assert_error(const char *name);

struct json_object *member_of(struct json_object *object, const char *name);

/* A member of the reply's parameters. */
const char *string_of(const char *name);

/* How many processes List shows the peer. */
size_t listed(const struct peer *peer);

#endif

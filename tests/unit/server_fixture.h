/* SPDX-License-Identifier: MIT */
#ifndef SERVER_FIXTURE_H
#define SERVER_FIXTURE_H

/*
 * A server over real sockets with a fake manager. Server and clients share one thread: talking to a
 * client turns the event loop. Include after cmocka.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>
#include "fake_manager.h"
#include "server.h"

#define STATUS "{\"method\":\"io.mtld.Status\"}"
#define CURVE "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":100}}"
#define STREAM "{\"method\":\"io.mtld.Curve\",\"parameters\":{\"pid\":100},\"more\":true}"
#define RECORD "{\"method\":\"io.mtld.Observations\",\"parameters\":{\"pid\":100}}"
#define PATIENCE 20.0 /* seconds; valgrind on a loaded machine */

extern struct connection_limits limits; /* change before serve() */
extern struct config config;            /* the same */
extern sd_event *event;
extern struct manager *manager;
extern struct server *server;
extern char answer[8 << 20]; /* the last message got */

/* A test's setup and teardown. */
int start(void **state);
int stop(void **state);

/* From now on there is a server. */
void serve(void);

double now(void);

/* Run the event loop, once at least. */
void turn(double seconds);

/* A connected client; it does not block. */
int dial(void);

/* All of it, turning the loop while the other side does not take it; -EPIPE when hung up on. */
int put(int fd, const char *bytes, size_t size);

/* A whole message. */
void ask(int fd, const char *message);

/* The next message, 1; 0 when the server hung up instead. */
int get(int fd);
struct json_object *got(int fd);

void assert_answered(int fd);
void assert_answer_error(int fd, const char *error);
void assert_hung_up(int fd);

/* Somebody else is served as ever. */
void assert_alive(void);
void assert_clients(unsigned n);

#endif

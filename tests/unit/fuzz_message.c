/* SPDX-License-Identifier: MIT */
/*
 * Strangers' bytes, twice: once straight through parser and methods, where every reply must encode
 * to what the strict parser itself accepts; once over a socket through a connection, which must end
 * after the client has hung up, whatever it said. The first byte picks the peer. An answer comes
 * within a bounded number of turns.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cleanup.h"
#include "connection.h"
#include "fake_manager.h"
#include "json_message.h"
#include "parameters.h"

#define TURNS_MAX 20000

static struct config config;
static struct methods_context context;
static sd_event *event;

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void reset(void)
{
	if (!context.manager) {
		config_defaults(&config);
		context = (struct methods_context){fake_manager(), &config, "", 1, NULL};
		require(sd_event_new(&event) >= 0);
	}
	context.manager->n_processes = 0;
	context.manager->n_observations = 3;
	fake_process(context.manager, 1, 0);
	fake_process(context.manager, 2, 1000);
}

static struct peer peer_of(uint8_t choice)
{
	return choice & 1 ? (struct peer){1, 0, true} : (struct peer){1, 1000, false};
}

/* --- straight */

static void check_reply(const struct reply *reply)
{
	_cleanup_free_ char *bytes = NULL;
	struct json_object *object = NULL;
	char reason[128];
	size_t size;

	require(reply_encode(reply, &bytes, &size) == 0);
	require(bytes[size - 1] == '\0' && strlen(bytes) == size - 1);
	if (size - 1 <= MESSAGE_BYTES_MAX)
		require(json_message_parse(bytes, size - 1, &object, reason, sizeof(reason)) == 0);
	json_object_put(object);
}

static void straight(const struct peer *peer, const char *bytes, size_t size)
{
	struct json_call call;
	struct reply reply = {0};
	char reason[128] = "";

	if (json_call_parse(bytes, size, &call, reason, sizeof(reason)) < 0) {
		require(*reason != '\0');
		return;
	}
	for (int i = 0; i == 0 || reply.unfinished; i++) {
		require(i <= 2 * PIDS_MAX);
		require(methods_call(&context, peer, &call, &reply) == 0);
	}
	check_reply(&reply);
	reply_done(&reply);
	json_call_done(&call);
}

static void straight_all(const struct peer *peer, const char *bytes, size_t size)
{
	size_t length;

	while (json_message_length(bytes, size, MESSAGE_BYTES_MAX, &length) > 0) {
		straight(peer, bytes, length);
		bytes += length + 1;
		size -= length + 1;
	}
	straight(peer, bytes, size); /* what has no NUL yet, too */
}

/* --- over a socket */

static void on_over(void *user, struct connection *connection, const char *why)
{
	(void)why;
	*(bool *)user = true;
	connection_free(connection);
}

static void drain(int fd)
{
	char bytes[65536];

	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

static void connected(const struct peer *peer, const char *bytes, size_t size)
{
	static const struct connection_limits limits = {.request_bytes = 4096,
	        .output_bytes = 1 << 20,
	        .output_pause = 1 << 16,
	        .stalled_usec = 10000000,
	        .partial_usec = 10000000,
	        .stream_usec = 1};
	struct connection *connection;
	bool over = false;
	const struct connection_owner owner = {event, &context, &limits, on_over, &over};
	int fds[2];

	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	require(connection_new(&owner, fds[0], peer, &connection) == 0);
	(void)!send(fds[1], bytes, size, MSG_NOSIGNAL);
	shutdown(fds[1], SHUT_WR);
	for (int i = 0; i < 20 && !over; i++) {
		require(sd_event_run(event, 0) >= 0);
		drain(fds[1]);
	}
	close(fds[1]);
	for (int i = 0; i < TURNS_MAX && !over; i++)
		require(sd_event_run(event, 1000) >= 0);
	require(over);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct peer peer;

	if (!size)
		return 0;
	peer = peer_of(data[0]);
	reset();
	straight_all(&peer, (const char *)data + 1, size - 1);
	reset();
	connected(&peer, (const char *)data + 1, size - 1);
	return 0;
}

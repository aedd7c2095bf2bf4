/* SPDX-License-Identifier: MIT */
/*
 * Who is connected. The server accepts, judges the peer's credentials, keeps the list of
 * connections and its bounds: max_clients altogether, of which one user who is not privileged gets
 * at most a quarter. Who is over the bound is told so and let go at once.
 *
 * When descriptors run out, a waiting connection would make the listening socket readable for ever;
 * accepting then pauses for a second, or until a client leaves.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include "cleanup.h"
#include "log.h"
#include "methods.h"
#include "recent_curves.h"
#include "server.h"

#define PAUSE_USEC 1000000

struct server {
	struct methods_context context; /* context.clients counts connections[] */
	struct connection_owner owner;
	struct log_limit dropped, tracked; /* lines about clients */
	struct connection **connections;   /* places for max_clients */
	unsigned places;
	int listen_fd;
	gid_t group;
	sd_event_source *listening, *pause;
};

DEFINE_CLEANUP(struct server, server_free)

static void log_client(struct server *server, const struct peer *peer, const char *what)
{
	uint64_t unlogged;

	if (log_allowed(&server->dropped, 1, &unlogged))
		log_event(LOG_CLIENT_DROPPED, SD_NOTICE,
		        &(struct log_about){.client = peer->pid, .client_uid = peer->uid},
		        "client (pid %d, uid %u) dropped: %s; unlogged before it: %" PRIu64,
		        (int)peer->pid, (unsigned)peer->uid, what, unlogged);
}

/* --- accepting */

static void listening(struct server *server, bool on)
{
	sd_event_source_set_enabled(server->listening, on ? SD_EVENT_ON : SD_EVENT_OFF);
	sd_event_source_set_enabled(server->pause, on ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
	if (!on)
		sd_event_source_set_time_relative(server->pause, PAUSE_USEC);
}

static int on_pause_over(sd_event_source *source, uint64_t usec, void *user)
{
	(void)source, (void)usec;
	listening(user, true);
	return 0;
}

static void on_over(void *user, struct connection *connection, const char *why)
{
	struct server *server = user;
	unsigned i = 0, last = server->context.clients - 1;

	if (why)
		log_client(server, connection_peer(connection), why);
	while (server->connections[i] != connection)
		i++;
	server->connections[i] = server->connections[last];
	server->context.clients--;
	connection_free(connection);
	listening(server, true);
}

static unsigned connections_of(const struct server *server, uid_t uid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < server->context.clients; i++)
		n += connection_peer(server->connections[i])->uid == uid;
	return n;
}

/* How many connections this peer may have beside the new one; 0: none more. */
static unsigned limit_reached(const struct server *server, const struct peer *peer)
{
	unsigned max = server->context.config->max_clients, quarter = (max + 3) / 4;

	if (server->context.clients >= max)
		return max;
	if (!peer->privileged && connections_of(server, peer->uid) >= quarter)
		return quarter;
	return 0;
}

/* The answer to a call not yet read, tried once and never waited for. */
static void turn_away(int fd, unsigned limit)
{
	_cleanup_free_ char *bytes = NULL;
	struct reply reply = {0};
	size_t size;

	if (reply_make(&reply, "io.mtld.TooManyClients", "limit", json_object_new_int64(limit),
	            NULL) == 0 &&
	        reply_encode(&reply, &bytes, &size) == 0)
		(void)!send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	reply_done(&reply);
}

static int admit(struct server *server, int client)
{
	_cleanup_close_ int fd = client;
	struct peer peer;
	unsigned limit;
	int r = peer_from_socket(fd, server->group, &peer);

	if (r < 0)
		return r;
	limit = limit_reached(server, &peer);
	if (limit) {
		turn_away(fd, limit);
		log_client(server, &peer, "too many clients");
		return 0;
	}
	r = connection_new(
	        &server->owner, TAKE_FD(fd), &peer, &server->connections[server->context.clients]);
	if (r == 0)
		server->context.clients++;
	return r;
}

static int on_connect(sd_event_source *source, int listen_fd, uint32_t events, void *user)
{
	struct server *server = user;
	int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	int r = fd < 0 ? -errno : admit(server, fd);

	(void)source, (void)events;
	manager_serves(server->context.manager);
	if (r == -EMFILE || r == -ENFILE || r == -ENOBUFS || r == -ENOMEM) {
		log_line(SD_WARNING,
		        "no client can be accepted for a second: %s; raise LimitNOFILE= or lower "
		        "max_clients",
		        strerror(-r));
		listening(server, false);
	}
	return 0;
}

/* --- life */

static int add_sources(struct server *server, sd_event *event)
{
	int r = sd_event_add_io(
	        event, &server->listening, server->listen_fd, EPOLLIN, on_connect, server);

	if (r >= 0)
		r = sd_event_source_set_priority(server->listening, CLIENT_PRIORITY);
	if (r >= 0)
		r = sd_event_add_time(
		        event, &server->pause, CLOCK_MONOTONIC, 0, 0, on_pause_over, server);
	if (r >= 0)
		r = sd_event_source_set_enabled(server->pause, SD_EVENT_OFF);
	return r;
}

int server_new(sd_event *event, struct manager *manager, const struct config *config,
        const char *root, int listen_fd, const struct connection_limits *limits,
        struct server **ret_server)
{
	_cleanup_(server_freep) struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return -ENOMEM;
	server->context = (struct methods_context){
	        manager, config, root, 0, &server->tracked, recent_curves_new()};
	server->owner = (struct connection_owner){event, &server->context,
	        limits ? limits : &connection_default_limits, on_over, server};
	server->listen_fd = listen_fd;
	r = server_prepare(server, config);
	if (r == 0)
		r = add_sources(server, event);
	if (r < 0)
		return r;
	*ret_server = TAKE_PTR(server);
	return 0;
}

int server_prepare(struct server *server, const struct config *next)
{
	struct connection **places;

	if (next->max_clients > server->places) {
		places = reallocarray(
		        server->connections, next->max_clients, sizeof(*server->connections));
		if (!places)
			return -ENOMEM;
		server->connections = places;
		server->places = next->max_clients;
	}
	server->group = peer_group(next->socket_group);
	return 0;
}

struct server *server_free(struct server *server)
{
	if (!server)
		return NULL;
	for (unsigned i = 0; i < server->context.clients; i++)
		connection_free(server->connections[i]);
	sd_event_source_disable_unref(server->listening);
	sd_event_source_disable_unref(server->pause);
	recent_curves_free(server->context.recent);
	free(server->connections);
	free(server);
	return NULL;
}

unsigned server_clients(const struct server *server)
{
	return server->context.clients;
}

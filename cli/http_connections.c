/* SPDX-License-Identifier: MIT */
/*
 * There is room for so many connections. When another one comes, the one gives way that has been
 * asking for longest: who sends half a request and falls silent keeps nobody out, however often he
 * comes back, since he is the oldest after as many newcomers as there is room for, and a request
 * that is meant to be answered is there within milliseconds. Those who do not take their answers
 * give way when nobody is asking. Peers are not told apart: behind a proxy, and on the loopback
 * device, all are one.
 *
 * To cut off is to shut down the socket: it is closed by who polls it.
 */

#include "http_connections.h"

#include <stdlib.h>
#include <sys/socket.h>

struct http_connection *http_connections_add(
        struct http_connections *connections, int fd, double now)
{
	struct http_connection *connection = calloc(1, sizeof(*connection));

	if (!connection)
		return NULL;
	connection->fd = fd;
	connection->since = now;
	connection->next = connections->first;
	connection->back = &connections->first;
	if (connection->next)
		connection->next->back = &connection->next;
	connections->first = connection;
	connections->n++;
	return connection;
}

void http_connections_remove(
        struct http_connections *connections, struct http_connection *connection)
{
	if (!connection)
		return;
	*connection->back = connection->next;
	if (connection->next)
		connection->next->back = connection->back;
	connections->n -= !connection->cut;
	free(connection);
}

static void cut(struct http_connections *connections, struct http_connection *connection)
{
	connection->cut = true;
	connections->n--;
	shutdown(connection->fd, SHUT_RDWR);
}

static struct http_connection *oldest(
        const struct http_connections *connections, enum http_stage stage)
{
	struct http_connection *found = NULL;

	for (struct http_connection *c = connections->first; c; c = c->next)
		if (!c->cut && c->stage == stage && (!found || c->since <= found->since))
			found = c;
	return found;
}

size_t http_connections_make_room(struct http_connections *connections, size_t most)
{
	while (connections->n > most) {
		struct http_connection *goes = oldest(connections, HTTP_ASKING);

		goes = goes ?: oldest(connections, HTTP_ANSWERING);
		if (!goes)
			break;
		cut(connections, goes);
	}
	return connections->n;
}

void http_connections_cut_old(struct http_connections *connections, double now, double patience)
{
	for (struct http_connection *c = connections->first; c; c = c->next)
		if (!c->cut && now - c->since > patience)
			cut(connections, c);
}

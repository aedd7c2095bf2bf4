/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_HTTP_CONNECTIONS_H
#define MTL_CLI_HTTP_CONNECTIONS_H

/* Who is connected to `mtl export`, and who has to go. One lock of the caller's guards it all. */

#include <stdbool.h>
#include <stddef.h>

enum http_stage {
	HTTP_ASKING,    /* its request is not all there, or it has none */
	HTTP_WAITING,   /* for an answer that is being made: our debt */
	HTTP_ANSWERING, /* it is to take its answer */
};

struct http_connection {
	struct http_connection *next, **back;
	int fd;
	double since; /* accepted, or the last request done */
	enum http_stage stage;
	bool cut; /* shut down, not gone yet */
};

struct http_connections {
	struct http_connection *first;
	size_t n; /* that are not cut */
};

/* fd stays the caller's, who removes the connection before it is closed. NULL: no memory. */
struct http_connection *http_connections_add(
        struct http_connections *connections, int fd, double now);

/* NULL-safe, frees it. */
void http_connections_remove(
        struct http_connections *connections, struct http_connection *connection);

/* While there are more than `most`, cuts off the one that has been at it longest: of those that are
 * asking; else of those that are to take an answer. Who waits for one stays. Returns how many there
 * are then. */
size_t http_connections_make_room(struct http_connections *connections, size_t most);

/* Cuts off who has been at it for longer than `patience` seconds. */
void http_connections_cut_old(struct http_connections *connections, double now, double patience);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_CONNECTION_H
#define MTLD_CONNECTION_H

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>
#include "methods.h"
#include "peer.h"

/* Clients' turns come after the sampler's. */
#define CLIENT_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

/* Bounds of one connection; times in microseconds. */
struct connection_limits {
	size_t request_bytes;  /* a message */
	size_t output_bytes;   /* waiting to be sent; one reply more is too many: dropped */
	size_t output_pause;   /* waiting to be sent; above it no further request is answered */
	uint64_t stalled_usec; /* nothing of the waiting output taken for so long: dropped */
	uint64_t partial_usec; /* a message not completed for so long: dropped */
	uint64_t stream_usec;  /* between the updates of a stream */
};

extern const struct connection_limits connection_default_limits;

struct connection;

/* What a connection needs of the one who holds it. */
struct connection_owner {
	sd_event *event;
	const struct methods_context *context;
	const struct connection_limits *limits;
	/* The connection is over: unlink and connection_free() it. why NULL: nothing unusual. */
	void (*over)(void *user, struct connection *connection, const char *why);
	void *user;
};

/* Takes fd over also on failure. */
int connection_new(const struct connection_owner *owner, int fd, const struct peer *peer,
        struct connection **ret_connection);

const struct peer *connection_peer(const struct connection *connection);

/* NULL-safe, returns NULL. */
struct connection *connection_free(struct connection *connection);

#endif

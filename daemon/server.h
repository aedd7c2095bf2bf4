/* SPDX-License-Identifier: MIT */
#ifndef MTLD_SERVER_H
#define MTLD_SERVER_H

#include <systemd/sd-event.h>
#include "config.h"
#include "connection.h"
#include "manager.h"

struct server;

/*
 * Serve the methods to everyone who connects to listen_fd, from the event loop. Everything passed
 * is borrowed and must outlive the server. root: "" or a directory that stands for /. limits NULL:
 * connection_default_limits.
 */
int server_new(sd_event *event, struct manager *manager, const struct config *config,
        const char *root, int listen_fd, const struct connection_limits *limits,
        struct server **ret_server);

/*
 * Make ready for next, which is to replace the configuration in place: places for its max_clients,
 * and its group for those who connect from then on. Looking the group up may ask the network.
 * -ENOMEM: all is as before.
 */
int server_prepare(struct server *server, const struct config *next);

/* Drops all clients. NULL-safe, returns NULL. */
struct server *server_free(struct server *server);

/* Clients connected now. */
unsigned server_clients(const struct server *server);

#endif

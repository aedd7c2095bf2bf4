/* SPDX-License-Identifier: MIT */
#ifndef MTLD_LISTEN_H
#define MTLD_LISTEN_H

#include <stddef.h>

#define DEFAULT_SOCKET "/run/mtld/io.mtld"

struct listen_socket;

/*
 * A listening AF_UNIX stream socket: the one systemd passed, else bound at path (NULL: the default
 * path, whose directory is made). Only one mtld at a path; a socket file nobody listens on is
 * replaced, anything else is left alone. On failure negative errno (-EADDRINUSE: somebody serves
 * the path) and one line for the operator in ret_error.
 */
int listen_acquire(
        const char *path, struct listen_socket **ret_socket, char *ret_error, size_t error_size);

/* The descriptor, non-blocking; it stays the socket's. */
int listen_fd(const struct listen_socket *socket);

/* Close, and remove what we bound if it is still ours. NULL-safe, returns NULL. */
struct listen_socket *listen_release(struct listen_socket *socket);

#endif

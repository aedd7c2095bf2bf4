/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_HTTP_ADDRESS_H
#define MTL_CLI_HTTP_ADDRESS_H

/* Where `mtl export` listens. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define HTTP_ADDRESS_TEXT 64

struct http_address {
	struct sockaddr_storage socket;
	socklen_t length; /* 0: none */
};

/* "127.0.0.1:9857", "[::1]:9857", "localhost:9857", ":9857" (all addresses), "9857" (127.0.0.1);
 * port 0: any that is free. -EINVAL with one sentence in ret_error. */
int http_address_parse(
        const char *text, struct http_address *ret_address, char *ret_error, size_t error_size);

/* "127.0.0.1:9857", "[::1]:9857"; returns ret_text. */
char *http_address_text(const struct http_address *address, char ret_text[HTTP_ADDRESS_TEXT]);

/* Only this machine reaches it. */
bool http_address_is_loopback(const struct http_address *address);

/* A listening socket, non-blocking; ret_address: where it is really, with port 0. Negative errno,
 * with one sentence in ret_error. */
int http_address_listen(const struct http_address *address, struct http_address *ret_address,
        char *ret_error, size_t error_size);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_HTTP_SERVER_H
#define MTL_CLI_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "cleanup.h"
#include "http_address.h"

struct http_server;

enum http_form { HTTP_TEXT, HTTP_OPENMETRICS, HTTP_JSON, HTTP_FORMS };

/* What is answered, one text a form; malloc()ed. */
struct http_answers {
	char *text[HTTP_FORMS];
	size_t length[HTTP_FORMS];
};

#define HTTP_CONNECTIONS 64        /* at once */
#define HTTP_FRESH_SECONDS 1.0     /* an answer this old is given again */
#define HTTP_PATIENCE_SECONDS 30.0 /* for a request to be there, and for its answer to be taken */

/*
 * Serves /metrics, /curves.json and the page with a thread of its own from now on. host, allowed:
 * as http_host_is_ours() wants them, copied. Negative errno, and one sentence in ret_error.
 */
int http_server_start(const struct http_address *address, const char *own_name, const char *allowed,
        struct http_server **ret_server, char *ret_error, size_t error_size);

/* Where it listens. */
const struct http_address *http_server_address(const struct http_server *server);

/* A descriptor that is readable when somebody waits for a newer answer than there is; and what
 * clears it. */
int http_server_wanted_fd(const struct http_server *server);
void http_server_wanted_clear(struct http_server *server);

/* The answer from now on, for those who wait too. Takes the texts. -ENOMEM: all is as before. */
int http_server_publish(struct http_server *server, struct http_answers *answers);

/* Cuts off who has been at it for longer than HTTP_PATIENCE_SECONDS. */
void http_server_sweep(struct http_server *server);

/* NULL-safe, returns NULL. */
struct http_server *http_server_stop(struct http_server *server);
DEFINE_CLEANUP(struct http_server, http_server_stop)

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_HTTP_REQUEST_H
#define MTL_CLI_HTTP_REQUEST_H

/* What `mtl export` decides about a request by its headers. */

#include <stdbool.h>

/*
 * A name that resolves to this machine may be anybody's (DNS rebinding: a page of another site asks
 * its own name, which now means 127.0.0.1, and reads the answer). So a Host header has to be an
 * address, localhost, this machine's own name or one of `allowed` ("a.example,b"; NULL: none), each
 * with or without a port. NULL, as programs that are no browsers may send it, will do.
 */
bool http_host_is_ours(const char *host, const char *own_name, const char *allowed);

/* OpenMetrics is wanted, by the Accept header (NULL: there is none), at least as much as text. */
bool http_wants_openmetrics(const char *accept);

#endif

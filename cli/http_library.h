/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_HTTP_LIBRARY_H
#define MTL_CLI_HTTP_LIBRARY_H

/* libmicrohttpd, loaded by `mtl export`: it brings GnuTLS and a dozen others along. */

#include <microhttpd.h>
#include "loaded_library.h"

#define HTTP_FUNCTIONS(X)                                                                          \
	X(MHD_add_response_header)                                                                 \
	X(MHD_create_response_from_buffer)                                                         \
	X(MHD_destroy_response)                                                                    \
	X(MHD_get_connection_info)                                                                 \
	X(MHD_lookup_connection_value)                                                             \
	X(MHD_queue_response)                                                                      \
	X(MHD_resume_connection)                                                                   \
	X(MHD_start_daemon)                                                                        \
	X(MHD_stop_daemon)                                                                         \
	X(MHD_suspend_connection)

struct http_library {
	HTTP_FUNCTIONS(LIBRARY_MEMBER)
};

/* NULL: it is not installed. */
const struct http_library *http_library(void);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_ARCHIVE_LIBRARY_H
#define MTL_CLI_ARCHIVE_LIBRARY_H

/*
 * libarchive, loaded when a compressed trace asks for it. It brings some 30 MB of other libraries
 * along, which every start of mtl would have to bind: 40 ms, for what few of them need.
 */

#include <archive.h>
#include <archive_entry.h>
#include "loaded_library.h"

#define ARCHIVE_FUNCTIONS(X)                                                                       \
	X(archive_errno)                                                                           \
	X(archive_error_string)                                                                    \
	X(archive_filter_bytes)                                                                    \
	X(archive_read_append_filter)                                                              \
	X(archive_read_data)                                                                       \
	X(archive_read_free)                                                                       \
	X(archive_read_new)                                                                        \
	X(archive_read_next_header)                                                                \
	X(archive_read_open)                                                                       \
	X(archive_read_support_format_empty)                                                       \
	X(archive_read_support_format_raw)                                                         \
	X(archive_set_error)

struct archive_library {
	ARCHIVE_FUNCTIONS(LIBRARY_MEMBER)
};

/* NULL: it is not installed. */
const struct archive_library *archive_library(void);

#endif

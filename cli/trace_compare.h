/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_COMPARE_H
#define MTL_CLI_TRACE_COMPARE_H

#include "options.h"

/* Every method on a pass of its own over the file, and how far each is off. Returns an exit code,
 * having said what was wrong. */
int trace_compare(const struct options *options, const char *path);

#endif

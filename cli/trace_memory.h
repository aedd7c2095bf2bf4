/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_MEMORY_H
#define MTL_CLI_TRACE_MEMORY_H

#include <stdint.h>

/* Bytes that the analysis of a trace may use unless told: half of what this process could get
 * before the machine swaps or a limit ends it. root: where /proc and /sys are (NULL: here). At
 * least 1; 0: not known. */
uint64_t trace_memory_default(const char *root);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_MEMORY_H
#define MTL_CLI_TRACE_MEMORY_H

#include <stdint.h>

/* Bytes that this process could get before the machine swaps or a limit ends it, as /proc and /sys
 * below root (NULL: here) have it. UINT64_MAX: not known. */
uint64_t memory_available(const char *root);

/* Bytes that the analysis of a trace may use unless told: half of what is available. At
 * least 1; 0: not known. */
uint64_t trace_memory_default(const char *root);

#endif

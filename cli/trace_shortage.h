/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_SHORTAGE_H
#define MTL_CLI_TRACE_SHORTAGE_H

#include <stddef.h>
#include <stdint.h>

#include "trace_engine.h"

/* Why trace_pass_new() has no memory for these wishes: which needs most, and how much all need; or
 * that the machine has not got what would be allowed.
 * share: engines get 1/share of what --memory says, which is memory_bytes (0: no limit). */
void trace_shortage(const struct engine_wish *wishes, size_t n, uint64_t memory_bytes,
        unsigned share, char *ret_error, size_t error_size);

#endif

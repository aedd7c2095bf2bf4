/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_NAMES_H
#define MTL_CLI_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup.h"

/* Texts numbered 1, 2, … in the order in which they first appear. See trace_names.c. */
struct trace_names;

/* memory_bytes: how much it may allocate (0: no limit). -ENOMEM. */
int trace_names_new(uint64_t memory_bytes, struct trace_names **ret_names);
struct trace_names *trace_names_free(struct trace_names *names);
DEFINE_CLEANUP(struct trace_names, trace_names_free)

/* The number of a text, a new one if it is new; 0 when there is no memory for that. */
uint64_t trace_names_number(struct trace_names *names, const void *text, uint32_t length);

/* How many there are, the limit they were given, and whether that is why there is no memory. */
uint64_t trace_names_count(const struct trace_names *names);
bool trace_names_limited(const struct trace_names *names);
uint64_t trace_names_limit(const struct trace_names *names);

#endif

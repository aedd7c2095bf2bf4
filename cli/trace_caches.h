/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_CACHES_H
#define MTL_CLI_TRACE_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_engine.h"

/* Of each of several sets: an access costs as much as there are ways. */
#define TRACE_WAYS_MOST 1024

/* SIZE:WAYS:LINE */
struct trace_cache {
	double size_bytes;
	uint64_t sets, ways;
	uint32_t line_bytes;
};

struct trace_cache_list {
	struct trace_cache *caches;
	size_t n;
	bool machine; /* and those of this machine; a note on them */
	char note[512];
};

/* Miss ratios of one cache: simulated, and predicted from reuse times or distances. */
struct trace_cache_result {
	struct trace_cache cache;
	uint64_t accesses, misses;
	double simulated;
	double set_probability; /* that two lines share a set: measured */
	double uniform;         /* from reuse times, with set probability 1 / sets */
	double measured;        /* with the measured one */
	double patent;          /* with the measured one, in the patent's order of steps */
	double distances;       /* from exact reuse distances, 1 / sets; NAN: there are none */
};

/* -EINVAL with a sentence that says how. */
int trace_cache_parse(
        const char *text, struct trace_cache *ret_cache, char *ret_error, size_t error_size);
/* A power of two, 1 ... 65536. */
int trace_line_size_parse(
        const char *text, uint32_t *ret_bytes, char *ret_error, size_t error_size);

/* Adds the caches of this machine, or of that below root; the note: who says so and what is
 * missing, or why not. -ENOENT: there are none to add. -ENOMEM. */
int trace_caches_of_machine(struct trace_cache_list *list, const char *root);

/* What counts its misses, and the profile to predict from. */
struct engine_wish trace_cache_wish(const struct trace_cache *cache);
struct engine_wish trace_cache_profile_wish(const struct trace_cache *cache);

/* From these engines after the whole trace; stack NULL: no exact distances of such lines. -ENOMEM.
 */
int trace_cache_result(const struct trace_cache *cache, struct trace_engine *simulator,
        struct trace_engine *profile, struct trace_engine *stack,
        struct trace_cache_result *ret_result);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_ENGINE_H
#define MTL_CLI_TRACE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup.h"
#include "mtl.h"

/* What a pass over a trace feeds with lines: an object of the library, or the lines themselves. */
enum engine_type {
	ENGINE_PROFILE, /* struct mtl_profile */
	ENGINE_STACK,   /* struct mtl_stack */
	ENGINE_SHARDS,  /* struct mtl_shards */
	ENGINE_SETS,    /* struct mtl_set_cache */
	ENGINE_LINES,   /* struct line_sequence */
};

/* An engine that is wanted; what does not belong to its type is 0. */
struct engine_wish {
	enum engine_type type;
	uint32_t line_bytes;
	double rate;         /* SHARDS */
	uint64_t most_lines; /* SHARDS */
	uint64_t sets, ways; /* SETS */
};

/* The lines of a trace in the order of their accesses. */
struct line_sequence {
	uint64_t *lines;
	size_t n, room;
	uint64_t memory_bytes; /* 0: no limit */
};

struct trace_engine {
	struct engine_wish wish;
	void *object;
	uint64_t memory_bytes; /* its limit; 0: none */
	int (*access)(void *object, const uint64_t *lines, size_t n);
};

/* At most memory_bytes (0: no limit). -EINVAL, -ENOMEM. */
int trace_engine_new(
        const struct engine_wish *wish, uint64_t memory_bytes, struct trace_engine **ret_engine);
struct trace_engine *trace_engine_free(struct trace_engine *engine);
DEFINE_CLEANUP(struct trace_engine, trace_engine_free)

/* Of two wishes of one type: does one engine do for both? */
bool engine_wish_same(const struct engine_wish *one, const struct engine_wish *other);
/* Bytes for each further datum, at most; 0: what it needs is known beforehand. */
unsigned engine_wish_growth(const struct engine_wish *wish);
/* Bytes that it needs in any case. */
uint64_t engine_wish_fixed(const struct engine_wish *wish);
/* The least limit that it begins with, those and others that grow. */
uint64_t engine_wish_least(const struct engine_wish *wish);
/* What it is for: "exact LRU", "--cache 32K:8:64". */
const char *engine_wish_text(const struct engine_wish *wish, char *ret_text, size_t size);

uint64_t trace_engine_accesses(const struct trace_engine *engine);
/* NAN where the engine does not know; estimated by SHARDS. */
double trace_engine_distinct(const struct trace_engine *engine);
uint64_t trace_engine_bytes(const struct trace_engine *engine);
/* After -ENOMEM: was it the limit, and not the machine? */
bool trace_engine_limited(const struct trace_engine *engine);

#endif

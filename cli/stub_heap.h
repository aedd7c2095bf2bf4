/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_HEAP_H
#define MTL_CLI_STUB_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUB_HEAP_GRAIN 16

/* What malloc takes beyond what is asked for, measured: a header, and padding by the size modulo
 * the grain. */
struct stub_heap_overhead {
	uint32_t smallest_bytes; /* usable of any block */
	uint32_t header_bytes;
	uint32_t padding_bytes[STUB_HEAP_GRAIN];
};

/* The one block of a stub. */
struct stub_heap {
	char *block;  /* NULL: none */
	size_t bytes; /* asked for */
};

/* Memory given back at once, all of it from the program break: from now on. */
void stub_heap_setup(void);

struct stub_heap_overhead stub_heap_measure_overhead(void);

/*
 * The block has so many bytes, all of them written to, by realloc; with `usual`, moved where malloc
 * has made it larger than the overhead says. -ENOMEM.
 */
int stub_heap_set(struct stub_heap *heap, size_t bytes, const struct stub_heap_overhead *overhead,
        bool usual);

/* What malloc has taken for it, header and padding included; and what these are. */
int64_t stub_heap_taken(const struct stub_heap *heap, const struct stub_heap_overhead *overhead);
int64_t stub_heap_extra(const struct stub_heap *heap, const struct stub_heap_overhead *overhead);

/* How many pages beyond the program break it will take to have so many bytes, or give back below
 * it: negative. */
int64_t stub_heap_pages(const struct stub_heap *heap, size_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PROBE_MEMORY_H
#define MTL_CLI_PROBE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup.h"

#define PROBE_PAGE 4096
#define PROBE_HUGE (2 << 20)

/* Memory for experiments, all of it touched. */
struct probe_memory {
	char *start; /* on a boundary of PROBE_HUGE */
	size_t bytes;
	bool is_huge;     /* all of it: checked, not asked for */
	uint64_t *frames; /* of each page of PROBE_PAGE bytes; NULL: not known */
	void *mapping;
	size_t mapped;
};

/* huge: MAP_HUGETLB, else transparent huge pages, else (is_huge says so) small ones; otherwise
 * small ones for sure. -ENOMEM. */
int probe_memory_new(size_t bytes, bool huge, struct probe_memory **ret_memory);
struct probe_memory *probe_memory_free(struct probe_memory *memory);
DEFINE_CLEANUP(struct probe_memory, probe_memory_free)

/* Can pages be told apart by the bits of their physical addresses below `stride`? Where frames are
 * not known, within huge pages. */
bool probe_memory_has_colours(const struct probe_memory *memory, size_t stride);

/*
 * n different pages: all of one colour (physical address modulo stride, in pages), or the i-th of
 * colour i x step modulo the number of colours. -ENOENT: there are not so many.
 */
int probe_memory_pick(const struct probe_memory *memory, size_t stride, bool same, size_t step,
        char **ret_pages, size_t n);

#endif

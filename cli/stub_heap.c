/* SPDX-License-Identifier: MIT */
/*
 * The heap of a stub: one block that realloc makes larger and smaller.
 *
 * What malloc takes for it is its usable size and a header, whose size is the growth of all that is
 * in use (mallinfo2) less the usable size of a new block. Sizes are multiples of a grain, so a
 * block has padding that depends on its size modulo the grain alone, as long as malloc splits off
 * what is left over; where it keeps up to a grain too much, the block is moved to one that fits.
 */

#include "stub_heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE 65536 /* no cache of malloc keeps such a block */
#define TRIES 32
#define FILL 0x5a
#define PAGE_BYTES 4096

void stub_heap_setup(void)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, 0);
	mallopt(M_TOP_PAD, 0);
}

static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

struct stub_heap_overhead stub_heap_measure_overhead(void)
{
	struct stub_heap_overhead overhead = {0};
	char *smallest = malloc(1);

	overhead.smallest_bytes = (uint32_t)malloc_usable_size(smallest);
	free(smallest);
	for (size_t i = 0; i < STUB_HEAP_GRAIN; i++) {
		size_t before = in_use();
		char *block = malloc(LARGE + i);
		size_t usable = malloc_usable_size(block), taken = in_use() - before;

		overhead.padding_bytes[i] = usable > LARGE + i ? (uint32_t)(usable - LARGE - i) : 0;
		/* where malloc is another one, mallinfo2() may know nothing */
		if (taken > usable)
			overhead.header_bytes = (uint32_t)(taken - usable);
		free(block);
	}
	return overhead;
}

static size_t usual_size(size_t bytes, const struct stub_heap_overhead *overhead)
{
	size_t padded = bytes + overhead->padding_bytes[bytes % STUB_HEAP_GRAIN];

	return padded > overhead->smallest_bytes ? padded : overhead->smallest_bytes;
}

/* A block of the usual size, if one of so many tries is: those that are not are in the way
 * meanwhile. */
static char *new_block(size_t bytes, const struct stub_heap_overhead *overhead, int tries)
{
	char *block = malloc(bytes), *other;

	if (!block || malloc_usable_size(block) == usual_size(bytes, overhead) || tries <= 1)
		return block;
	other = new_block(bytes, overhead, tries - 1);
	free(block);
	return other;
}

/* Not realloc, which would leave it where it is. */
static char *moved(char *block, size_t old, size_t bytes, const struct stub_heap_overhead *overhead)
{
	char *other = new_block(bytes, overhead, TRIES);

	if (!other)
		return block;
	memcpy(other, block, old < bytes ? old : bytes);
	free(block);
	return other;
}

int stub_heap_set(
        struct stub_heap *heap, size_t bytes, const struct stub_heap_overhead *overhead, bool usual)
{
	size_t old = heap->bytes;
	char *block;

	if (bytes == 0) {
		free(heap->block);
		*heap = (struct stub_heap){0};
		return 0;
	}
	block = realloc(heap->block, bytes);
	if (!block)
		return -ENOMEM;
	if (usual && malloc_usable_size(block) != usual_size(bytes, overhead))
		block = moved(block, old, bytes, overhead);
	if (bytes > old)
		memset(block + old, FILL, bytes - old);
	*heap = (struct stub_heap){block, bytes};
	return 0;
}

int64_t stub_heap_taken(const struct stub_heap *heap, const struct stub_heap_overhead *overhead)
{
	return heap->block ? (int64_t)malloc_usable_size(heap->block) + overhead->header_bytes : 0;
}

int64_t stub_heap_extra(const struct stub_heap *heap, const struct stub_heap_overhead *overhead)
{
	return heap->block ? (int64_t)(overhead->header_bytes + usual_size(heap->bytes, overhead) -
	                               heap->bytes)
	                   : 0;
}

/* The break is raised by no more than is needed, so what is behind the block in its page is free;
 * a new small block is taken from what malloc has. */
int64_t stub_heap_pages(const struct stub_heap *heap, size_t bytes)
{
	uintptr_t end = (uintptr_t)sbrk(0), wanted;

	if (!heap->block)
		return (int64_t)(bytes / PAGE_BYTES);
	wanted = (uintptr_t)heap->block + bytes + 2 * STUB_HEAP_GRAIN;
	wanted = (wanted + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
	return (int64_t)(wanted - end) / PAGE_BYTES;
}

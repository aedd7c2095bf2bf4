/* SPDX-License-Identifier: MIT */
/*
 * Memory whose place in a cache is known.
 *
 * An index made of address bits below the page size is the program's to choose. Bits above are
 * physical: within a huge page they are those of the offset in it; with pagemap (root only) each
 * page's frame is known and pages can be picked by it. Whether a huge page was given is read from
 * smaps (AnonHugePages), not believed.
 *
 * In a virtual machine these are the guest's physical addresses. Its huge page need not be one of
 * the host, nor contiguous there.
 */

#include "probe_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FRAME_BITS ((UINT64_C(1) << 55) - 1)
#define PRESENT (UINT64_C(1) << 63)
#define PER_HUGE (PROBE_HUGE / PROBE_PAGE)

struct probe_memory *probe_memory_free(struct probe_memory *memory)
{
	if (!memory)
		return NULL;
	if (memory->mapping)
		munmap(memory->mapping, memory->mapped);
	free(memory->frames);
	free(memory);
	return NULL;
}

static int map(struct probe_memory *memory, size_t extra, int flags)
{
	void *mapping = mmap(NULL, memory->bytes + extra, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (mapping == MAP_FAILED)
		return -errno;
	memory->mapping = mapping;
	memory->mapped = memory->bytes + extra;
	memory->start = (char *)(((uintptr_t)mapping + extra) & ~(uintptr_t)(PROBE_HUGE - 1));
	return 0;
}

/* Bytes of huge pages in the mapping that holds an address. */
static size_t huge_bytes(const char *address)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/smaps", "re");
	unsigned long start, end, kilobytes;
	bool here = false;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = (uintptr_t)address >= start && (uintptr_t)address < end;
		else if (here && sscanf(line, "AnonHugePages: %lu kB", &kilobytes) == 1)
			return kilobytes * 1024;
	}
	return 0;
}

static void read_frames(struct probe_memory *memory)
{
	size_t n = memory->bytes / PROBE_PAGE;
	_cleanup_free_ uint64_t *frames = calloc(n, sizeof(*frames));
	_cleanup_close_ int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	off_t at = (off_t)((uintptr_t)memory->start / PROBE_PAGE * sizeof(*frames));

	if (!frames || fd < 0 ||
	        pread(fd, frames, n * sizeof(*frames), at) != (ssize_t)(n * sizeof(*frames)))
		return;
	for (size_t i = 0; i < n; i++) {
		/* without the right to see them frames are 0 */
		if (!(frames[i] & PRESENT) || !(frames[i] & FRAME_BITS))
			return;
		frames[i] &= FRAME_BITS;
	}
	memory->frames = TAKE_PTR(frames);
}

int probe_memory_new(size_t bytes, bool huge, struct probe_memory **ret_memory)
{
	_cleanup_(probe_memory_freep) struct probe_memory *memory = calloc(1, sizeof(*memory));
	bool is_hugetlb;
	int r;

	if (!memory)
		return -ENOMEM;
	memory->bytes = (bytes + PROBE_HUGE - 1) & ~(size_t)(PROBE_HUGE - 1);
	is_hugetlb = huge && map(memory, 0, MAP_HUGETLB) == 0;
	r = is_hugetlb ? 0 : map(memory, PROBE_HUGE, 0);
	if (r < 0)
		return r;
	if (!is_hugetlb)
		madvise(memory->start, memory->bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(memory->start, 1, memory->bytes);
	memory->is_huge = is_hugetlb || (huge && huge_bytes(memory->start) >= memory->bytes);
	read_frames(memory);
	*ret_memory = TAKE_PTR(memory);
	return 0;
}

bool probe_memory_has_colours(const struct probe_memory *memory, size_t stride)
{
	return memory->frames || (memory->is_huge && stride <= PROBE_HUGE);
}

static size_t colour_of(const struct probe_memory *memory, size_t page, size_t colours)
{
	return (memory->frames ? memory->frames[page] : page % PER_HUGE) % colours;
}

/* The next page of that colour; all of them: there is none. */
static size_t next_of(const struct probe_memory *memory, size_t from, size_t colour, size_t colours)
{
	size_t n = memory->bytes / PROBE_PAGE;

	while (from < n && colour_of(memory, from, colours) != colour)
		from++;
	return from;
}

int probe_memory_pick(const struct probe_memory *memory, size_t stride, bool same, size_t step,
        char **ret_pages, size_t n)
{
	size_t pages = memory->bytes / PROBE_PAGE, colours = stride / PROBE_PAGE;
	size_t first = colour_of(memory, 0, colours);
	_cleanup_free_ size_t *from = calloc(colours, sizeof(*from));

	if (!from)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		size_t colour = same ? first : (first + i * step) % colours;
		size_t page = next_of(memory, from[colour], colour, colours);

		if (page == pages)
			return -ENOENT;
		from[colour] = page + 1;
		ret_pages[i] = memory->start + page * PROBE_PAGE;
	}
	return 0;
}

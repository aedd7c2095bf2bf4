// SPDX-License-Identifier: MIT
/*
 * Read through /proc/PID/mem in aligned chunks, a few of which are kept: a walk comes back to the
 * same code. A chunk lies in one page, and is read only where pagemap says that the page is
 * resident.
 */
#include "code_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "proc.h"

#define PAGE 4096ULL

int code_memory_open(const char *root, pid_t pid, struct code_memory *ret_memory)
{
	_cleanup_close_ int memory = -1;
	char path[PATH_MAX];
	int pagemap;

	snprintf(path, sizeof(path), "%s/proc/%d/mem", root, (int)pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	pagemap = proc_open_pagemap(root, pid);
	if (pagemap < 0)
		return pagemap;
	ret_memory->memory = TAKE_FD(memory);
	ret_memory->pagemap = pagemap;
	ret_memory->next = 0;
	for (unsigned i = 0; i < CODE_CHUNKS; i++)
		ret_memory->chunks[i].at = 1;
	return 0;
}

void code_memory_close(struct code_memory *memory)
{
	close(memory->memory);
	close(memory->pagemap);
}

static bool is_resident(const struct code_memory *memory, uint64_t address)
{
	uint64_t entry;

	return pread(memory->pagemap, &entry, 8, (off_t)(address / PAGE * 8)) == 8 && entry >> 63;
}

static const struct code_chunk *chunk_at(struct code_memory *memory, uint64_t at)
{
	struct code_chunk *chunk;
	ssize_t n = 0;

	for (unsigned i = 0; i < CODE_CHUNKS; i++)
		if (memory->chunks[i].at == at)
			return &memory->chunks[i];
	chunk = &memory->chunks[memory->next++ % CODE_CHUNKS];
	if (is_resident(memory, at))
		n = pread(memory->memory, chunk->bytes, CODE_CHUNK, (off_t)at);
	chunk->at = at;
	chunk->size = n > 0 ? n : 0;
	return chunk;
}

size_t code_memory_read(struct code_memory *memory, uint64_t address, void *ret_bytes, size_t size)
{
	size_t done = 0;

	while (done < size && (int64_t)(address + done) >= 0) {
		uint64_t offset = (address + done) % CODE_CHUNK;
		const struct code_chunk *chunk = chunk_at(memory, address + done - offset);
		size_t n = chunk->size > offset ? chunk->size - offset : 0;

		n = n < size - done ? n : size - done;
		if (n == 0)
			break;
		memcpy((char *)ret_bytes + done, chunk->bytes + offset, n);
		done += n;
	}
	return done;
}

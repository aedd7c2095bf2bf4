/* SPDX-License-Identifier: MIT */
#ifndef MTLD_CODE_MEMORY_H
#define MTLD_CODE_MEMORY_H

/* The memory of a running process, a little of it, as it is now: for reading its code. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CODE_CHUNK = 256, CODE_CHUNKS = 4 };

struct code_memory {
	int memory, pagemap;
	unsigned next;
	struct code_chunk {
		uint64_t at; /* a multiple of CODE_CHUNK; 1: none */
		size_t size;
		unsigned char bytes[CODE_CHUNK];
	} chunks[CODE_CHUNKS]; /* the latest that were read */
};

/* -ESRCH; -EACCES, -EPERM: not ours to look at. */
int code_memory_open(const char *root, pid_t pid, struct code_memory *ret_memory);
void code_memory_close(struct code_memory *memory);

/* Up to `size` bytes at `address`; returns how many there are, 0: none. What is not resident is not
 * there: nothing is faulted in, so the process is not touched and mtld does not wait for a disk. */
size_t code_memory_read(struct code_memory *memory, uint64_t address, void *ret_bytes, size_t size);

#endif

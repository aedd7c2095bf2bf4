/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_RECORD_H
#define MTL_CLI_STUB_RECORD_H

#include <stdint.h>
#include <stdio.h>

#include "options.h"

/* What a process has in memory, swapped out or not. */
struct stub_memory {
	int64_t stack_bytes; /* of the stack that its first thread has */
	int64_t heap_bytes; /* of the program break's and all other memory that no file is behind */
};

/* From what /proc/PID/smaps says. -ENODATA: nothing, as of a process that is ending. */
int stub_memory_read(FILE *smaps, struct stub_memory *ret_memory);

/* `mtl stub --from PID`: samples a process into a data file on standard output. Returns an exit
 * code, having said what was wrong. */
int stub_record(const struct options *options);

#endif

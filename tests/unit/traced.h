/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_TRACED_H
#define MTL_TEST_TRACED_H

/*
 * A program that does what was recorded, over and over (programs.h): one unit of its work, the
 * addresses of all data accesses as 64-bit numbers of this machine. What is different in the next
 * round, as memory that is new, is not in it. Its misses are those of exact LRU in the second round.
 */

#include "programs.h"

/* Its CPU seconds a unit, and how much is resident for each page that is touched. */
#define TRACED_ACCESSES_PER_SECOND 100e6
#define TRACED_RESIDENT 2.0

/* One at a time. A negative errno: the file cannot be read (-EINVAL: empty), or no memory. */
int traced_begin(const char *path);
void traced_end(void);

const struct program *traced_program(void);
double traced_accesses(void);

#endif

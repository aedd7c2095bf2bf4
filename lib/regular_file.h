/* SPDX-License-Identifier: MIT */
#ifndef MTL_REGULAR_FILE_H
#define MTL_REGULAR_FILE_H

/*
 * Opening a file whose path somebody else may have filled: of a machine below a root directory, a
 * configuration. Header-only like machine.h, so that both programs do it in one way and the library
 * itself stays pure.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* Nothing that waits for a writer (a FIFO) or has no end (a device). Links are followed. */
static inline bool regular_file_is(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* For reading. NULL with errno: EINVAL where it is of another kind. The caller closes it. */
static inline FILE *regular_file_open(const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		errno = EINVAL;
		return NULL;
	}
	return fopen(path, "re");
}

#endif

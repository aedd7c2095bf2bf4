/* SPDX-License-Identifier: MIT */
#ifndef MTL_REGULAR_FILE_H
#define MTL_REGULAR_FILE_H

/*
 * Opening a file whose path somebody else may have filled: of a machine below a root directory, a
 * configuration. Header-only like machine.h, so that both programs do it in one way and the library
 * itself stays pure.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * For reading; nothing that waits for a writer (a FIFO) or has no end (a device). NULL with errno:
 * EINVAL where it is of another kind. The caller closes it.
 */
static inline FILE *regular_file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	FILE *file = NULL;
	int r = fd < 0 || fstat(fd, &status) < 0 ? errno : S_ISREG(status.st_mode) ? 0 : EINVAL;

	if (r == 0)
		file = fdopen(fd, "re");
	if (r == 0 && !file)
		r = errno;
	if (!file && fd >= 0)
		close(fd);
	errno = r;
	return file;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_FAKE_ROOT_H
#define MTL_TEST_FAKE_ROOT_H

/* A directory that plays / for one test: files are written into it and all of it is removed. */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fake_root[64];

static inline int fake_root_new(void **state)
{
	(void)state;
	snprintf(fake_root, sizeof(fake_root), "/tmp/mtl-fake-root-XXXXXX");
	return mkdtemp(fake_root) ? 0 : -1;
}

static inline int fake_remove(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

static inline int fake_root_free(void **state)
{
	(void)state;
	return nftw(fake_root, fake_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *fake_path(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", fake_root, name);
	return path;
}

/* Opens a new file of that name below the root, with the directories it needs. */
static inline int fake_open(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s", fake_path(name));
	for (char *slash = path + strlen(fake_root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static inline int fake_file(const char *name, const char *text)
{
	int fd = fake_open(name);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * How much memory there is: MemAvailable of the kernel, which is what can be used without swapping,
 * and the memory.max of this process's control group and of all groups around it (cgroup v2; in a
 * container the outermost one that shows is its own). Half of the smallest.
 *
 * What cannot be read does not limit.
 */

#include "trace_memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define CGROUP "/sys/fs/cgroup"

static FILE *open_below(const char *root, const char *directory, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s/%s", root, directory, name);

	return n < 0 || (size_t)n >= sizeof(path) ? NULL : fopen(path, "re");
}

static uint64_t available(const char *root)
{
	_cleanup_fclose_ FILE *file = open_below(root, "/proc", "meminfo");
	unsigned long long kibibytes;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %llu kB", &kibibytes) == 1)
			return kibibytes <= UINT64_MAX / 1024 ? kibibytes * 1024 : UINT64_MAX;
	}
	return UINT64_MAX;
}

/* "max", which is no limit, is no number either. */
static uint64_t group_limit(const char *root, const char *group)
{
	char directory[PATH_MAX];
	int n = snprintf(directory, sizeof(directory), "%s%s", CGROUP, group);
	_cleanup_fclose_ FILE *file = n < 0 || (size_t)n >= sizeof(directory)
	                                      ? NULL
	                                      : open_below(root, directory, "memory.max");
	unsigned long long bytes;

	return file && fscanf(file, "%llu", &bytes) == 1 ? bytes : UINT64_MAX;
}

/* "0::/user.slice/x" -> "/user.slice/x" */
static bool own_group(const char *root, char *ret_group, size_t size)
{
	_cleanup_fclose_ FILE *file = open_below(root, "/proc/self", "cgroup");
	char line[PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(ret_group, size, "%s", line + 3);
		return true;
	}
	return false;
}

static uint64_t groups_limit(const char *root)
{
	char group[PATH_MAX];
	uint64_t least = UINT64_MAX, limit;
	char *end;

	if (!own_group(root, group, sizeof(group)))
		return least;
	do {
		limit = group_limit(root, group);
		least = limit < least ? limit : least;
		end = strrchr(group, '/');
		if (end)
			*end = '\0';
	} while (end);
	return least;
}

uint64_t trace_memory_default(const char *root)
{
	uint64_t memory = available(root ?: ""), limit = groups_limit(root ?: "");

	memory = limit < memory ? limit : memory;
	return memory == UINT64_MAX ? 0 : memory / 2;
}

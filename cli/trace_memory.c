/* SPDX-License-Identifier: MIT */
/*
 * How much memory there is: MemAvailable of the kernel, which is what can be used without swapping,
 * and what this process's control group and all groups around it have left (cgroup v2; in a
 * container the outermost one that shows is its own): memory.max - memory.current, with the cached
 * files of memory.stat, which the kernel gives up for the asking. Half of the smallest, but at
 * least 1, as 0 is no limit.
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
#include "regular_file.h"

#define CGROUP "/sys/fs/cgroup"

static FILE *open_below(const char *root, const char *directory, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s/%s", root, directory, name);

	return n < 0 || (size_t)n >= sizeof(path) ? NULL : regular_file_open(path);
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

static FILE *open_of_group(const char *root, const char *group, const char *name)
{
	char directory[PATH_MAX];
	int n = snprintf(directory, sizeof(directory), "%s%s", CGROUP, group);

	return n < 0 || (size_t)n >= sizeof(directory) ? NULL : open_below(root, directory, name);
}

/* "max", which is no limit, is no number either. */
static bool read_bytes(const char *root, const char *group, const char *name, uint64_t *ret_bytes)
{
	_cleanup_fclose_ FILE *file = open_of_group(root, group, name);
	unsigned long long bytes;

	if (!file || fscanf(file, "%llu", &bytes) != 1)
		return false;
	*ret_bytes = bytes;
	return true;
}

static uint64_t cached_files(const char *root, const char *group)
{
	_cleanup_fclose_ FILE *file = open_of_group(root, group, "memory.stat");
	unsigned long long bytes;
	uint64_t all = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "active_file %llu", &bytes) == 1 ||
		        sscanf(line, "inactive_file %llu", &bytes) == 1)
			all += bytes;
	}
	return all;
}

/* What is left of its limit. */
static uint64_t group_limit(const char *root, const char *group)
{
	uint64_t limit, used = 0, cached;

	if (!read_bytes(root, group, "memory.max", &limit))
		return UINT64_MAX;
	read_bytes(root, group, "memory.current", &used);
	cached = cached_files(root, group);
	used -= cached < used ? cached : used;
	return limit > used ? limit - used : 0;
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

uint64_t memory_available(const char *root)
{
	uint64_t memory = available(root ?: ""), limit = groups_limit(root ?: "");

	return limit < memory ? limit : memory;
}

uint64_t trace_memory_default(const char *root)
{
	uint64_t memory = memory_available(root);

	return memory == UINT64_MAX ? 0 : memory < 2 ? 1 : memory / 2;
}

/* SPDX-License-Identifier: MIT */
/*
 * How large the last-level cache is: ROOT/sys/devices/system/cpu/cpu0/cache/indexN/{type,level,
 * size,ways_of_associativity} say "Unified", "3", "32768K", "16". The highest level counts.
 */

#include "cache_size.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "size.h"

#define INDEXES 8

static bool read_text(const char *root, unsigned index, const char *name, char text[NUMBER_TEXT])
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu0/cache/index%u/%s", root ?: "",
	        index, name);
	file = fopen(path, "re");
	if (!file || !fgets(text, NUMBER_TEXT, file))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

int cache_size_read(const char *root, double *ret_bytes, unsigned *ret_ways)
{
	char text[NUMBER_TEXT], error[128];
	int best = 0, level;
	double bytes;

	for (unsigned i = 0; i < INDEXES; i++) {
		if (!read_text(root, i, "type", text) || strcmp(text, "Instruction") == 0)
			continue;
		level = read_text(root, i, "level", text) ? atoi(text) : 0;
		if (level <= best || !read_text(root, i, "size", text) ||
		        size_parse(text, &bytes, error, sizeof(error)) < 0)
			continue;
		best = level;
		*ret_bytes = bytes;
		*ret_ways = read_text(root, i, "ways_of_associativity", text) ? (unsigned)atoi(text)
		                                                              : 0;
	}
	return best ? 0 : -ENOENT;
}

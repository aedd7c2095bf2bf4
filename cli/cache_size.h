/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_CACHE_SIZE_H
#define MTL_CLI_CACHE_SIZE_H

struct cache_size {
	double bytes;
	unsigned ways;      /* 0: not known */
	const char *source; /* who says so: "probe", "sysfs", "cpuid" */
	char doubt[192];    /* "" or a sentence on what it is worth */
};

/* The last-level cache of this machine's first CPU, or of the machine below root (NULL: /). -ENOENT:
 * nobody says how large it is. */
int cache_size_read(const char *root, struct cache_size *ret_size);

#endif

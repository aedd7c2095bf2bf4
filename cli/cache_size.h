/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_CACHE_SIZE_H
#define MTL_CLI_CACHE_SIZE_H

/* The last-level cache of this machine's first CPU, as sysfs below root (NULL: /) has it.
 * -ENOENT: it does not say. ret_ways 0: not how many. */
int cache_size_read(const char *root, double *ret_bytes, unsigned *ret_ways);

#endif

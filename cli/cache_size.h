/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_CACHE_SIZE_H
#define MTL_CLI_CACHE_SIZE_H

/* The last-level cache of this machine's first CPU, or of the machine below root (NULL: /), and who
 * says so: "probe", "sysfs", "cpuid". -ENOENT: nobody does. ret_ways 0: not how many. */
int cache_size_read(
        const char *root, double *ret_bytes, unsigned *ret_ways, const char **ret_source);

#endif

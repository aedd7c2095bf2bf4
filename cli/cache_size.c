/* SPDX-License-Identifier: MIT */
/*
 * How large the last-level cache is: what `mtl probe` found and saved, else what sysfs says, else
 * the CPU (lib/machine.h).
 */

#include "cache_size.h"

#include "machine.h"

int cache_size_read(
        const char *root, double *ret_bytes, unsigned *ret_ways, const char **ret_source)
{
	struct cache_geometry geometry;
	const struct cache_level *last;
	int r = machine_caches(root, &geometry);

	if (r < 0)
		return r;
	last = cache_geometry_level(&geometry, 0);
	*ret_bytes = last->size_bytes;
	*ret_ways = last->ways;
	*ret_source = cache_source_name(geometry.source);
	return 0;
}

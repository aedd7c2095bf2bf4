/* SPDX-License-Identifier: MIT */
/*
 * How large the last-level cache is: what `mtl probe` found and saved, else what sysfs says, else
 * the CPU (lib/machine.h).
 */

#include "cache_size.h"

#include "machine.h"

int cache_size_read(const char *root, struct cache_size *ret_size)
{
	struct cache_geometry geometry;
	const struct cache_level *last;
	int r = machine_caches(root, &geometry);

	if (r < 0)
		return r;
	last = cache_geometry_level(&geometry, 0);
	*ret_size = (struct cache_size){
	        last->size_bytes, last->ways, cache_source_name(geometry.source), ""};
	cache_level_doubt(last, ret_size->doubt, sizeof(ret_size->doubt));
	return 0;
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_CACHE_PARTITION_H
#define MTL_CLI_CACHE_PARTITION_H

/* What `mtl partition` finds out: a cache, curves, the best division, the plan of resctrl. */

#include "division.h"
#include "options.h"
#include "resctrl.h"

struct cache_partition {
	const struct options *options;
	struct resctrl_place place;
	struct resctrl_geometry geometry;
	const struct resctrl_cache *level; /* NULL: the cache is not from resctrl */
	struct demand_cache cache;
	struct demand_list list;
	struct division division;
	struct resctrl_plan *plan; /* NULL: not made, or like level */
};

/*
 * Of operands (operand.h), with what options say of the cache and the objective. Returns an exit
 * code, having said what was wrong. ret_partition is always to be given to cache_partition_done(),
 * and stays where it is until then.
 */
int cache_partition_new(const struct options *options, int n, char **operands,
        struct cache_partition *ret_partition);

/* Makes the plan, where resctrl has the cache; masks of the division are then as planned. */
int cache_partition_plan(struct cache_partition *partition);

void cache_partition_done(struct cache_partition *partition);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_CACHE_WORK_H
#define MTLD_CACHE_WORK_H

/* A question about a cache and those who are in it, while their curves are gathered. */

#include "demand_list.h"
#include "parameters.h"

struct cache_work {
	struct demand_list list; /* pids first, then curves */
	double miss_cost;
	double sizes[DEMAND_SIZES_MAX]; /* at which pids are to be asked for their curves */
	size_t n_sizes;
	size_t next; /* pid whose curve is wanted, by its place among them */
};

/*
 * Names and curves of a call; at most `most` of both together, or two. The place of what is wrong,
 * as parameters_read() has it. -EBADMSG, -ERANGE, -ENOMEM.
 */
int cache_work_new(const struct arguments *arguments, const struct demand_cache *cache, size_t most,
        struct cache_work **ret_work, struct parameter_problem *ret_problem);
struct cache_work *cache_work_free(struct cache_work *work);

/* The next pid whose curve is wanted; 0: none. */
pid_t cache_work_wants(const struct cache_work *work);

/* That curve. Of mtld's own making, so what is wrong with it (-EBADMSG) is no fault of the peer. */
int cache_work_take(
        struct cache_work *work, struct json_object *curve, struct parameter_problem *ret_problem);

/* Can all be in one cache? -ERANGE. */
int cache_work_check(const struct cache_work *work, struct parameter_problem *ret_problem);

/* Weights by name into those of the list, 1 where there is none. -EBADMSG, -ERANGE. */
int cache_work_weights(const struct cache_work *work, struct json_object *weights,
        double *ret_weights, struct parameter_problem *ret_problem);

#endif

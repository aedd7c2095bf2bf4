/* SPDX-License-Identifier: MIT */
#ifndef LIBMTL_SHARE_H
#define LIBMTL_SHARE_H

/* libmtl, of caches in common: what programs do to each other there, and how to divide it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json_object;

/*
 * -- Demands (lib/demand.c, lib/demand_sum.c, lib/demand_json.c) --
 *
 * What a program asks of a cache, on a clock it has in common with others: from a live curve per
 * second of wall-clock time, from a trace's curve per run of the trace.
 */
struct mtl_demand_point {
	double size_bytes;
	double fill_time; /* in which it touches so much; INFINITY: never */
	double misses;    /* per unit of time */
	double low, high; /* 90 % interval of misses; low <= misses <= high */
};

struct mtl_demand {
	char name[64];
	char unit[16];          /* of time: "second" or "run" */
	double footprint_bytes; /* what it touches within longest_time; of more nothing is known */
	double longest_time;
	double smallest_known_bytes; /* misses in a smaller cache are a guess */
	double work; /* misses that would take as long as everything else it does in a unit of time
	              */
	size_t n;    /* 2 or more */
	struct mtl_demand_point points[]; /* sizes ascend from 0, misses, low and high never rise */
};

/* NULL-safe, returns NULL. */
struct mtl_demand *mtl_demand_free(struct mtl_demand *demand);
/*
 * From a curve object of mtld or of `mtl trace` (docs/PROTOCOL.md). miss_cost: what a miss costs,
 * > 0, in seconds of CPU time for a live curve and in accesses for a trace (for work, and so for
 * fairness only). A name that is too long is cut. -EBADMSG: neither of them, with the place in
 * ret_error. -EINVAL: miss_cost. -ENOMEM.
 */
int mtl_demand_from_json(struct json_object *curve, const char *name, double miss_cost,
        struct mtl_demand **ret_demand, char *ret_error, size_t error_size);
/* Bytes touched within a time, and misses (with their interval) in a cache of so many bytes; linear
 * between the points. ret_low and ret_high or NULL. */
double mtl_demand_footprint(const struct mtl_demand *demand, double time);
double mtl_demand_misses(
        const struct mtl_demand *demand, double size_bytes, double *ret_low, double *ret_high);
/*
 * In a cache of size_bytes shared by all: the time in which together they fill it (INFINITY: it
 * holds all they touch), what each then occupies, bytes, and its misses per unit of time.
 * -EINVAL: no demand, a negative size, or clocks that differ.
 */
int mtl_demands_share(const struct mtl_demand *const *demands, size_t n, double size_bytes,
        double *ret_time, double *ret_occupancy, double *ret_misses);
/*
 * Several programs as one (lib/demand_sum.c): the sum of footprints and of misses over time (Xiang
 * et al. 2011), exactly, also between the points; mtl_demands_share() gives it what its members
 * would have together. Intervals add up, which is too wide for independent errors. It is known from
 * the size on at which each member has what its curve knows of, or all that it touches. Data that
 * they have in common counts for each. -EINVAL: no demand, or clocks that differ. -ENOMEM.
 */
int mtl_demand_sum(const struct mtl_demand *const *demands, size_t n, const char *name,
        struct mtl_demand **ret_demand);

/*
 * -- Partition (lib/partition.c) --
 */
struct mtl_claim {
	const double *misses;     /* [0 ... ways], with so many ways; of any shape */
	const double *low, *high; /* their intervals, or both NULL: exact */
	bool falls;               /* it is known that misses never rise with ways */
	double work;              /* as in struct mtl_demand */
	double weight;            /* of its misses in the total */
	unsigned least_ways;      /* it must have; 0: it may get none */
};

enum mtl_objective {
	MTL_TOTAL,     /* least total of weight x misses */
	MTL_FAIR,      /* least worst slowdown, and of those the least total */
	MTL_GUARANTEE, /* least total in which nobody has more misses than with an equal share */
};

/* The best division of all ways, exactly; where it makes no difference, the more even one.
 * -ENOSPC: there is none (least ways that do not fit, or no way to keep a guarantee). -EINVAL: a
 * claim or objective that cannot be. -ENOMEM. */
int mtl_partition(const struct mtl_claim *claims, size_t n, unsigned ways,
        enum mtl_objective objective, unsigned *ret_ways);
/* ways / n, one more for the first ways % n groups. */
unsigned mtl_partition_equal_share(size_t n, unsigned ways, size_t group);
/* Sum of weight x misses. */
double mtl_partition_cost(const struct mtl_claim *claims, size_t n, const unsigned *ways);
/* (work + misses) / (work + misses with all ways); INFINITY: misses beside nothing. */
double mtl_partition_slowdown(const struct mtl_claim *claim, unsigned ways, unsigned all);
/* By how much the cost of `chosen` may exceed that of the best division, if all misses can be
 * anywhere in their intervals. -EINVAL: a claim, or `chosen`, that cannot be. -ENOMEM. */
int mtl_partition_regret(const struct mtl_claim *claims, size_t n, unsigned ways,
        const unsigned *chosen, double *ret_regret);
/* Cost of `other` less that of `chosen`, and the least that can be within the intervals. */
void mtl_partition_gain(const struct mtl_claim *claims, size_t n, const unsigned *chosen,
        const unsigned *other, double *ret_gain, double *ret_least);

/*
 * -- Clusters (lib/clusters.c) --
 *
 * Groups that may share a partition, as mtl_demands_share() has it within, where that is better.
 */
#define MTL_CLUSTERED_MAX 10

struct mtl_cluster_terms {
	double way_bytes;
	unsigned ways;
	unsigned least_ways;   /* of every cluster */
	const double *weights; /* of each demand's misses in the total; NULL: 1 */
	enum mtl_objective objective;
};

/*
 * The best of all ways to put n demands into clusters and divide the ways among these, exactly;
 * apart where it makes no difference. ret_cluster: the cluster of each demand, numbered from 0 in
 * the order of their first ones. ret_ways: the ways of that cluster. A guarantee is against an
 * equal share of one's own. -E2BIG: more than MTL_CLUSTERED_MAX. -ENOSPC: there is none. -EINVAL:
 * clocks that differ, terms that cannot be. -ENOMEM.
 */
int mtl_partition_clusters(const struct mtl_demand *const *demands, size_t n,
        const struct mtl_cluster_terms *terms, unsigned *ret_cluster, unsigned *ret_ways);

#ifdef __cplusplus
}
#endif

#endif

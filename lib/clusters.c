/* SPDX-License-Identifier: MIT */
/*
 * Groups in clusters, each cluster with a partition of its own that its groups share.
 *
 * A set T of groups in k ways has the cost c_T(k) that sharing k ways predicts. The least total for
 * a set S with w ways is
 *
 *     f_S(w) = min over T, k of  f_{S \ T}(w - k) + c_T(k),    f_{}(0) = 0,
 *
 * over the subsets T of S that have the first group of S: in every way to cut S into clusters one
 * of them has it, and given that one the rest is cut and divided best (as in partition.c). With max
 * in the place of + this is the worst slowdown. O(3^n ways^2), and 2^n ways predictions.
 *
 * Objectives are those of partition.c: of the allowed (T, k) the least total; what is allowed
 * depends on slowdowns at most as bad as must be, or on misses with an equal share of one's own.
 * T grows from the first group alone, so that groups stay apart where it makes no difference. For
 * that, sums must not depend on who is added to whom first: costs are whole multiples of a quantum,
 * 2^-50 of what all can cost together at most, so that sums of them are exact.
 */

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "mtl.h"
#include "partition.h"

#define GROUPS MTL_CLUSTERED_MAX

/* A set of groups in so many ways; INFINITY where that is not allowed. */
struct cost {
	double total, worst;
};

struct choice {
	unsigned set, ways;
};

struct problem {
	const struct mtl_demand *const *demands;
	const struct mtl_cluster_terms *terms;
	size_t n;
	double least[GROUPS], most[GROUPS]; /* misses with all ways, and where a guarantee ends */
	double quantum;                     /* of totals */
	struct cost *costs;                 /* [set][ways] */
};

typedef double rule(double before, const struct cost *cost);

static double add_total(double before, const struct cost *cost)
{
	return before + cost->total;
}

static double worse(double before, const struct cost *cost)
{
	return fmax(before, cost->worst);
}

static struct cost *cost_at(const struct problem *p, unsigned set, unsigned ways)
{
	return &p->costs[set * (p->terms->ways + 1) + ways];
}

static double weight(const struct problem *p, size_t i)
{
	return p->terms->weights ? p->terms->weights[i] : 1;
}

/* Of a demand with so many misses. */
static double total_of(const struct problem *p, size_t i, double misses)
{
	if (misses > p->most[i])
		return INFINITY;
	return rint(weight(p, i) * misses / p->quantum) * p->quantum;
}

static int predict(const struct problem *p, unsigned set, unsigned ways, double *ret_misses)
{
	const struct mtl_demand *members[GROUPS];
	double time, occupancy[GROUPS];
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (set & 1U << i)
			members[n++] = p->demands[i];
	return mtl_demands_share(
	        members, n, ways * p->terms->way_bytes, &time, occupancy, ret_misses);
}

static int find_cost(const struct problem *p, unsigned set, unsigned ways)
{
	struct cost cost = {0, 0};
	double misses[GROUPS];
	int r = predict(p, set, ways, misses);

	for (size_t i = 0, member = 0; r == 0 && i < p->n; i++) {
		if (!(set & 1U << i))
			continue;
		double its = misses[member++];
		double slowdown = mtl_slowdown(p->demands[i]->work, its, p->least[i]);

		cost.worst = fmax(cost.worst, fmin(slowdown, DBL_MAX));
		cost.total += total_of(p, i, its);
	}
	if (ways < p->terms->least_ways || isinf(cost.total))
		cost = (struct cost){INFINITY, INFINITY};
	*cost_at(p, set, ways) = cost;
	return r;
}

static int find_costs(const struct problem *p)
{
	int r = 0;

	for (unsigned set = 1; set < 1U << p->n; set++)
		for (unsigned k = 0; r == 0 && k <= p->terms->ways; k++)
			r = find_cost(p, set, k);
	return r;
}

static int find_limits(struct problem *p)
{
	bool guarantee = p->terms->objective == MTL_GUARANTEE;
	double all = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n; i++) {
		unsigned equal = mtl_partition_equal_share(p->n, p->terms->ways, i);

		p->most[i] = INFINITY;
		r = predict(p, 1U << i, p->terms->ways, &p->least[i]);
		if (r == 0 && guarantee)
			r = predict(p, 1U << i, equal, &p->most[i]);
		all += weight(p, i) * p->demands[i]->points[0].misses;
	}
	p->quantum = all > 0 ? fmax(ldexp(1, ilogb(all) - 50), DBL_MIN) : 1;
	return r ?: (isfinite(all) ? 0 : -EINVAL);
}

/* Is k of w ways nearer to `part` groups' share of `all` than the choice? */
static bool is_evener(
        unsigned k, const struct choice *than, unsigned w, unsigned part, unsigned all)
{
	double than_part = __builtin_popcount(than->set);

	return than->set && fabs((double)k * all - (double)w * part) <
	                            fabs((double)than->ways * all - w * than_part);
}

static void solve_set_with(const struct problem *p, rule *combine, unsigned set, unsigned w,
        const double *best, double *ret_value, struct choice *ret_choice)
{
	unsigned first = set & -set, rest = set ^ first, others = 0, row = p->terms->ways + 1;

	do {
		unsigned t = first | others;
		for (unsigned k = p->terms->least_ways; k <= w; k++) {
			double value = combine(best[(set ^ t) * row + w - k], cost_at(p, t, k));

			if (value < *ret_value ||
			        (value == *ret_value && t == ret_choice->set &&
			                is_evener(k, ret_choice, w, __builtin_popcount(t),
			                        __builtin_popcount(set)))) {
				*ret_value = value;
				*ret_choice = (struct choice){t, k};
			}
		}
		others = (others - rest) & rest;
	} while (others);
}

/* -ENOSPC: nothing is allowed. ret_choice: [set][ways]. */
static int solve(
        const struct problem *p, rule *combine, struct choice *ret_choice, double *ret_value)
{
	size_t row = p->terms->ways + 1, sets = (size_t)1 << p->n;
	_cleanup_free_ double *best = calloc(sets, row * sizeof(*best));

	if (!best)
		return -ENOMEM;
	for (size_t i = 0; i < sets * row; i++)
		best[i] = i ? INFINITY : 0;
	memset(ret_choice, 0, sets * row * sizeof(*ret_choice));
	for (unsigned set = 1; set < sets; set++)
		for (unsigned w = 0; w < row; w++)
			solve_set_with(p, combine, set, w, best, &best[set * row + w],
			        &ret_choice[set * row + w]);
	*ret_value = best[sets * row - 1];
	return isinf(*ret_value) ? -ENOSPC : 0;
}

/* Only what keeps to the least worst slowdown stays allowed. */
static int keep_fairest(const struct problem *p, struct choice *choice)
{
	size_t row = p->terms->ways + 1, sets = (size_t)1 << p->n;
	double worst;
	int r = solve(p, worse, choice, &worst);

	for (size_t i = 0; r == 0 && i < sets * row; i++)
		if (p->costs[i].worst > worst)
			p->costs[i].total = INFINITY;
	return r;
}

static void read_choice(const struct problem *p, const struct choice *choice, unsigned *ret_cluster,
        unsigned *ret_ways)
{
	unsigned left = p->terms->ways, cluster = 0;

	for (unsigned set = (1U << p->n) - 1; set; cluster++) {
		const struct choice *c = &choice[set * (p->terms->ways + 1) + left];

		for (size_t i = 0; i < p->n; i++)
			if (c->set & 1U << i) {
				ret_cluster[i] = cluster;
				ret_ways[i] = c->ways;
			}
		set ^= c->set;
		left -= c->ways;
	}
}

static bool are_terms(const struct mtl_cluster_terms *terms, size_t n)
{
	bool ok = n > 0 && terms->ways > 0 && terms->way_bytes > 0 && isfinite(terms->way_bytes) &&
	          (unsigned)terms->objective <= MTL_GUARANTEE;

	for (size_t i = 0; ok && terms->weights && i < n; i++)
		ok = terms->weights[i] >= 0 && isfinite(terms->weights[i]);
	return ok;
}

int mtl_partition_clusters(const struct mtl_demand *const *demands, size_t n,
        const struct mtl_cluster_terms *terms, unsigned *ret_cluster, unsigned *ret_ways)
{
	_cleanup_free_ struct cost *costs = NULL;
	_cleanup_free_ struct choice *choice = NULL;
	struct problem p = {.demands = demands, .terms = terms, .n = n};
	double value;
	int r;

	if (n > GROUPS)
		return -E2BIG;
	if (!are_terms(terms, n))
		return -EINVAL;
	p.costs = costs = calloc((size_t)1 << n, ((size_t)terms->ways + 1) * sizeof(*costs));
	choice = calloc((size_t)1 << n, ((size_t)terms->ways + 1) * sizeof(*choice));
	if (!costs || !choice)
		return -ENOMEM;
	r = find_limits(&p);
	r = r ?: find_costs(&p);
	if (r == 0 && terms->objective == MTL_FAIR)
		r = keep_fairest(&p, choice);
	r = r ?: solve(&p, add_total, choice, &value);
	if (r < 0)
		return r;
	read_choice(&p, choice, ret_cluster, ret_ways);
	return 0;
}

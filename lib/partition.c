/* SPDX-License-Identifier: MIT */
/*
 * Dividing the ways of a cache among groups so that an objective is least.
 *
 * Each group g has a cost c_g(k) with k ways, whatever its shape. The least total over groups 1 ...
 * g with w ways between them is
 *
 *     f_g(w) = min over k of  f_{g-1}(w - k) + c_g(k),     f_0(0) = 0,
 *
 * because in a best division the first g - 1 groups, given what the last one leaves, are divided
 * best: anything better for them would be better for all (Bellman 1957). All k are tried, so curves
 * need not be convex. With max in the place of + the same holds for the worst of all groups. Both
 * only ask that the whole never gets better by a part getting worse, which is true of rounded sums
 * too: the result is the least of the sums as they are computed. O(groups ways^2).
 *
 * The fairest division has the least worst slowdown; of all divisions with that, the one with the
 * least total is taken: a second pass over the shares that keep to it. A guarantee is the same pass
 * over the shares that cost no more than an equal one.
 *
 * Regret: the costs lie somewhere between low and high, each by itself. Against a division b the
 * chosen one, a, can then be worse by no more than the sum of high_g(a_g) - low_g(b_g) over the
 * groups where they differ; the greatest such sum is found in the same way. Where costs are known
 * to fall with ways, a group with b_g < a_g can lose nothing by keeping a_g: its term is 0 at most.
 * There are costs within the intervals that attain it: high at a_g, low at b_g.
 */

#include "partition.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "cleanup.h"
#include "mtl.h"

/* Costs of all groups with 0 ... ways ways, INFINITY where a share is not allowed. */
struct costs {
	size_t groups;
	unsigned ways;
	double *cost;
};

static double *cost_at(const struct costs *costs, size_t group, unsigned ways)
{
	return &costs->cost[group * (costs->ways + 1) + ways];
}

static double add(double a, double b)
{
	return a + b;
}

/* How far k of w ways are from an equal share of `groups` groups. */
static double unevenness(unsigned k, unsigned w, size_t groups)
{
	return fabs((double)k * (double)groups - w);
}

/* The next group, with what is best for those before it. */
static void solve_group(const struct costs *costs, double (*combine)(double, double), size_t group,
        const double *before, double *ret_best, unsigned *ret_choice)
{
	for (unsigned w = 0; w <= costs->ways; w++) {
		ret_best[w] = INFINITY;
		ret_choice[w] = 0;
		for (unsigned k = 0; k <= w; k++) {
			double value = combine(before[w - k], *cost_at(costs, group, k));
			bool evener = unevenness(k, w, group + 1) <
			              unevenness(ret_choice[w], w, group + 1);

			if (value < ret_best[w] || (value == ret_best[w] && evener)) {
				ret_best[w] = value;
				ret_choice[w] = k;
			}
		}
	}
}

/* -ENOSPC: no division is allowed. ret_ways or NULL. */
static int solve(const struct costs *costs, double (*combine)(double, double), double nothing,
        unsigned *ret_ways, double *ret_value)
{
	size_t row = (size_t)costs->ways + 1;
	_cleanup_free_ double *best = calloc(costs->groups + 1, row * sizeof(*best));
	_cleanup_free_ unsigned *choice = calloc(costs->groups, row * sizeof(*choice));
	unsigned left = costs->ways;

	if (!best || !choice)
		return -ENOMEM;
	for (unsigned w = 0; w <= costs->ways; w++)
		best[w] = w ? INFINITY : nothing;
	for (size_t g = 0; g < costs->groups; g++)
		solve_group(
		        costs, combine, g, best + g * row, best + (g + 1) * row, choice + g * row);
	if (isinf(best[costs->groups * row + left]))
		return -ENOSPC;
	*ret_value = best[costs->groups * row + left];
	for (size_t g = costs->groups; ret_ways && g-- > 0;) {
		ret_ways[g] = choice[g * row + left];
		left -= ret_ways[g];
	}
	return 0;
}

double mtl_slowdown(double work, double misses, double least)
{
	if (!(work + least > 0))
		return misses > 0 ? INFINITY : 1;
	return (work + misses) / (work + least);
}

double mtl_partition_slowdown(const struct mtl_claim *claim, unsigned ways, unsigned all)
{
	return mtl_slowdown(claim->work, claim->misses[ways], claim->misses[all]);
}

/* What the costs of a division are made of; finite. */
typedef double measure_function(const struct mtl_claim *claim, unsigned ways, unsigned all);

static double slowdown(const struct mtl_claim *claim, unsigned ways, unsigned all)
{
	return fmin(mtl_partition_slowdown(claim, ways, all), DBL_MAX);
}

static double weighted(const struct mtl_claim *claim, unsigned ways, unsigned all)
{
	(void)all;
	return claim->weight * claim->misses[ways];
}

static double misses_with(const struct mtl_claim *claim, unsigned ways, unsigned all)
{
	(void)all;
	return claim->misses[ways];
}

static int fill(const struct mtl_claim *claims, size_t n, unsigned ways, measure_function *measure,
        struct costs *ret_costs)
{
	struct costs costs = {.groups = n, .ways = ways};

	costs.cost = calloc(n, ((size_t)ways + 1) * sizeof(*costs.cost));
	if (!costs.cost)
		return -ENOMEM;
	for (size_t g = 0; g < n; g++)
		for (unsigned k = 0; k <= ways; k++)
			*cost_at(&costs, g, k) =
			        k < claims[g].least_ways ? INFINITY : measure(&claims[g], k, ways);
	*ret_costs = costs;
	return 0;
}

/* Shares whose measure is above the group's limit are no longer allowed. */
static void limit(struct costs *costs, const struct mtl_claim *claims, measure_function *measure,
        const double *most)
{
	for (size_t g = 0; g < costs->groups; g++)
		for (unsigned k = 0; k <= costs->ways; k++)
			if (measure(&claims[g], k, costs->ways) > most[g])
				*cost_at(costs, g, k) = INFINITY;
}

static int fairest(const struct mtl_claim *claims, size_t n, unsigned ways, double *ret_most)
{
	_cleanup_free_ double *cost = NULL;
	struct costs slowdowns;
	double worst;
	int r = fill(claims, n, ways, slowdown, &slowdowns);

	if (r < 0)
		return r;
	cost = slowdowns.cost;
	r = solve(&slowdowns, fmax, 0, NULL, &worst);
	for (size_t g = 0; r == 0 && g < n; g++)
		ret_most[g] = worst;
	return r;
}

static int of_equal_share(const struct mtl_claim *claims, size_t n, unsigned ways, double *ret_most)
{
	for (size_t g = 0; g < n; g++)
		ret_most[g] = claims[g].misses[mtl_partition_equal_share(n, ways, g)];
	return 0;
}

/* What each objective allows, before the total decides. */
static const struct objective {
	measure_function *measure;
	int (*limits)(const struct mtl_claim *claims, size_t n, unsigned ways, double *ret_most);
} objectives[] = {
        [MTL_TOTAL] = {NULL, NULL},
        [MTL_FAIR] = {slowdown, fairest},
        [MTL_GUARANTEE] = {misses_with, of_equal_share},
};

static int limit_to(
        enum mtl_objective objective, const struct mtl_claim *claims, struct costs *costs)
{
	const struct objective *o = &objectives[objective];
	_cleanup_free_ double *most = calloc(costs->groups, sizeof(*most));
	int r;

	if (!most)
		return -ENOMEM;
	if (!o->limits)
		return 0;
	r = o->limits(claims, costs->groups, costs->ways, most);
	if (r == 0)
		limit(costs, claims, o->measure, most);
	return r;
}

/* Sums of n of them must be numbers. */
static bool is_cost(double misses, double weight, size_t n)
{
	return misses >= 0 && isfinite(misses * (double)n) && isfinite(misses * weight * (double)n);
}

static bool is_claim(const struct mtl_claim *claim, size_t n, unsigned ways)
{
	bool ok = claim->misses && !claim->low == !claim->high && claim->weight >= 0 &&
	          claim->work >= 0 && isfinite(claim->work);

	for (unsigned k = 0; ok && k <= ways; k++) {
		ok = is_cost(claim->misses[k], claim->weight, n);
		if (ok && claim->low)
			ok = is_cost(claim->low[k], claim->weight, n) &&
			     is_cost(claim->high[k], claim->weight, n) &&
			     claim->low[k] <= claim->misses[k] &&
			     claim->misses[k] <= claim->high[k];
	}
	return ok;
}

static bool are_claims(const struct mtl_claim *claims, size_t n, unsigned ways)
{
	for (size_t g = 0; g < n; g++)
		if (!is_claim(&claims[g], n, ways))
			return false;
	return n > 0 && ways > 0;
}

unsigned mtl_partition_equal_share(size_t n, unsigned ways, size_t group)
{
	return n ? (unsigned)(ways / n + (group < ways % n)) : 0;
}

int mtl_partition(const struct mtl_claim *claims, size_t n, unsigned ways,
        enum mtl_objective objective, unsigned *ret_ways)
{
	_cleanup_free_ double *cost = NULL;
	struct costs costs;
	double value;
	int r;

	if ((unsigned)objective >= sizeof(objectives) / sizeof(*objectives) ||
	        !are_claims(claims, n, ways))
		return -EINVAL;
	r = fill(claims, n, ways, weighted, &costs);
	if (r < 0)
		return r;
	cost = costs.cost;
	r = limit_to(objective, claims, &costs);
	return r < 0 ? r : solve(&costs, add, 0, ret_ways, &value);
}

double mtl_partition_cost(const struct mtl_claim *claims, size_t n, const unsigned *ways)
{
	double cost = 0;

	for (size_t g = 0; g < n; g++)
		cost += weighted(&claims[g], ways[g], 0);
	return cost;
}

/* The least that another share could cost, less what the chosen one then costs at most. */
static double advantage(const struct mtl_claim *claim, unsigned chosen, unsigned ways)
{
	const double *low = claim->low ?: claim->misses, *high = claim->high ?: claim->misses;
	double least = claim->weight * (low[ways] - high[chosen]);

	if (ways == chosen)
		return 0;
	return claim->falls && ways < chosen ? fmax(least, 0) : least;
}

int mtl_partition_regret(const struct mtl_claim *claims, size_t n, unsigned ways,
        const unsigned *chosen, double *ret_regret)
{
	_cleanup_free_ double *cost = NULL;
	struct costs costs;
	double value;
	int r;

	if (!are_claims(claims, n, ways))
		return -EINVAL;
	for (size_t g = 0; g < n; g++)
		if (chosen[g] > ways)
			return -EINVAL;
	r = fill(claims, n, ways, weighted, &costs);
	if (r < 0)
		return r;
	cost = costs.cost;
	for (size_t g = 0; g < n; g++)
		for (unsigned k = claims[g].least_ways; k <= ways; k++)
			*cost_at(&costs, g, k) = advantage(&claims[g], chosen[g], k);
	r = solve(&costs, add, 0, NULL, &value);
	if (r < 0)
		return r;
	*ret_regret = fmax(-value, 0);
	return 0;
}

void mtl_partition_gain(const struct mtl_claim *claims, size_t n, const unsigned *chosen,
        const unsigned *other, double *ret_gain, double *ret_least)
{
	double gain = 0, least = 0;

	for (size_t g = 0; g < n; g++) {
		gain += weighted(&claims[g], other[g], 0) - weighted(&claims[g], chosen[g], 0);
		least += advantage(&claims[g], chosen[g], other[g]);
	}
	*ret_gain = gain;
	*ret_least = least;
}

/* SPDX-License-Identifier: MIT */
/* Divisions of ways: the best one is the best of all of them, never worse than UCP's lookahead, and
 * the regret is what curves within their intervals can make of it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <time.h>

#include "mtl.h"
#include "simulate.h"

#define GROUPS 5
#define WAYS 12
#define SHARES (WAYS + 1)

struct instance {
	size_t n;
	unsigned ways;
	struct mtl_claim claims[GROUPS];
	double misses[GROUPS][SHARES], low[GROUPS][SHARES], high[GROUPS][SHARES];
};

static unsigned up_to(uint64_t *random, unsigned most)
{
	return (unsigned)(sim_uniform(random) * (most + 1));
}

/* -- curves of any shape -- */

static void make_any(uint64_t *random, double *curve)
{
	for (unsigned k = 0; k < SHARES; k++)
		curve[k] = 1000 * sim_uniform(random);
}

/* Few values, many of them alike. */
static void make_coarse(uint64_t *random, double *curve)
{
	for (unsigned k = 0; k < SHARES; k++)
		curve[k] = up_to(random, 3);
}

/* Cliffs: level, then much less. */
static void make_cliffs(uint64_t *random, double *curve)
{
	double level = 1000;

	for (unsigned k = 0; k < SHARES; k++) {
		curve[k] = level;
		if (sim_uniform(random) < 0.2)
			level *= sim_uniform(random);
	}
}

static void make_convex(uint64_t *random, double *curve)
{
	double from = 1000 * sim_uniform(random), rate = sim_uniform(random);

	for (unsigned k = 0; k < SHARES; k++)
		curve[k] = from * pow(rate, k);
}

/* Nothing left from some share on. */
static void make_fitting(uint64_t *random, double *curve)
{
	unsigned fits = up_to(random, SHARES);

	for (unsigned k = 0; k < SHARES; k++)
		curve[k] = k < fits ? fits - k : 0;
}

typedef void make_function(uint64_t *random, double *curve);

static void make_instance(uint64_t *random, struct instance *ret)
{
	static make_function *const kinds[] = {
	        make_any, make_coarse, make_cliffs, make_convex, make_fitting};

	*ret = (struct instance){
	        .n = 1 + up_to(random, GROUPS - 1), .ways = 1 + up_to(random, WAYS - 1)};
	for (size_t g = 0; g < ret->n; g++) {
		kinds[up_to(random, 4)](random, ret->misses[g]);
		ret->claims[g] = (struct mtl_claim){.misses = ret->misses[g],
		        .work = up_to(random, 2) * 300.0 * sim_uniform(random),
		        .weight = up_to(random, 3) ? 1 : up_to(random, 1) * sim_uniform(random),
		        .least_ways = up_to(random, 2)};
	}
}

/* -- all divisions -- */

struct walk {
	const struct instance *instance;
	unsigned ways[GROUPS];
	void (*visit)(struct walk *walk);
	double worst, total; /* of the best so far */
	bool found;
	void *user;
};

static void walk_from(struct walk *walk, size_t group, unsigned left)
{
	size_t n = walk->instance->n;
	unsigned least = walk->instance->claims[group].least_ways;

	for (unsigned k = group + 1 == n ? left : 0; k <= left; k++) {
		walk->ways[group] = k;
		if (k < least)
			continue;
		if (group + 1 == n)
			walk->visit(walk);
		else
			walk_from(walk, group + 1, left - k);
	}
}

static double worst_slowdown(const struct instance *it, const unsigned *ways)
{
	double worst = 0;

	for (size_t g = 0; g < it->n; g++)
		worst = fmax(worst, mtl_partition_slowdown(&it->claims[g], ways[g], it->ways));
	return worst;
}

static bool is_guaranteed(const struct instance *it, const unsigned *ways)
{
	for (size_t g = 0; g < it->n; g++)
		if (it->misses[g][ways[g]] >
		        it->misses[g][mtl_partition_equal_share(it->n, it->ways, g)])
			return false;
	return true;
}

static void keep_better(struct walk *walk, double worst)
{
	const struct instance *it = walk->instance;
	double total = mtl_partition_cost(it->claims, it->n, walk->ways);

	if (walk->found && (worst > walk->worst || (worst == walk->worst && total >= walk->total)))
		return;
	walk->found = true;
	walk->worst = worst;
	walk->total = total;
}

static void visit_total(struct walk *walk)
{
	keep_better(walk, 0);
}

static void visit_fair(struct walk *walk)
{
	keep_better(walk, worst_slowdown(walk->instance, walk->ways));
}

static void visit_guarantee(struct walk *walk)
{
	if (is_guaranteed(walk->instance, walk->ways))
		keep_better(walk, 0);
}

static void assert_is_division(const struct instance *it, const unsigned *ways)
{
	unsigned sum = 0;

	for (size_t g = 0; g < it->n; g++) {
		assert_true(ways[g] >= it->claims[g].least_ways);
		sum += ways[g];
	}
	assert_int_equal(sum, it->ways);
}

/* Exactly: sums are made in the same order. */
static void assert_best(const struct instance *it, enum mtl_objective objective, struct walk *best)
{
	unsigned ways[GROUPS];
	int r = mtl_partition(it->claims, it->n, it->ways, objective, ways);

	walk_from(best, 0, it->ways);
	assert_int_equal(r, best->found ? 0 : -ENOSPC);
	if (r < 0)
		return;
	assert_is_division(it, ways);
	assert_true(mtl_partition_cost(it->claims, it->n, ways) == best->total);
	if (objective == MTL_FAIR)
		assert_true(worst_slowdown(it, ways) == best->worst);
	if (objective == MTL_GUARANTEE)
		assert_true(is_guaranteed(it, ways));
}

static void best_of_all_divisions(void **state)
{
	static void (*const visits[])(struct walk * walk) = {
	        [MTL_TOTAL] = visit_total,
	        [MTL_FAIR] = visit_fair,
	        [MTL_GUARANTEE] = visit_guarantee,
	};
	uint64_t random = 6;
	struct instance it;
	unsigned found[3] = {0};

	(void)state;
	for (unsigned run = 0; run < sim_runs(16000); run++) {
		make_instance(&random, &it);
		for (unsigned o = 0; o < 3; o++) {
			struct walk best = {.instance = &it, .visit = visits[o]};
			assert_best(&it, o, &best);
			found[o] += best.found;
		}
	}
	for (unsigned o = 0; o < 3; o++)
		assert_true(found[o] >= sim_runs(10000));
}

/* -- UCP: Qureshi and Patt 2006, algorithm 2 -- */

/* The greatest utility a way among 1 ... balance more, and with how many. */
static double max_utility(
        const struct mtl_claim *claim, unsigned has, unsigned balance, unsigned *ret_more)
{
	double best = -INFINITY;

	for (unsigned more = 1; more <= balance; more++) {
		double saved = claim->misses[has] - claim->misses[has + more];
		double utility = claim->weight * saved / more;

		if (utility > best) {
			best = utility;
			*ret_more = more;
		}
	}
	return best;
}

static void lookahead(const struct instance *it, unsigned *ret_ways)
{
	unsigned balance = it->ways;

	for (size_t g = 0; g < it->n; g++)
		balance -= ret_ways[g] = it->claims[g].least_ways;
	while (balance) {
		double best = -INFINITY;
		unsigned more = 0, of_winner = 0;
		size_t winner = 0;

		for (size_t g = 0; g < it->n; g++) {
			double utility = max_utility(&it->claims[g], ret_ways[g], balance, &more);
			if (utility > best) {
				best = utility;
				winner = g;
				of_winner = more;
			}
		}
		ret_ways[winner] += of_winner;
		balance -= of_winner;
	}
}

static unsigned least_of_all(const struct instance *it)
{
	unsigned sum = 0;

	for (size_t g = 0; g < it->n; g++)
		sum += it->claims[g].least_ways;
	return sum;
}

static void lookahead_is_never_better(void **state)
{
	uint64_t random = 2006;
	struct instance it;
	unsigned same = 0, worse = 0;

	(void)state;
	for (unsigned run = 0; run < sim_runs(12000); run++) {
		unsigned ours[GROUPS], theirs[GROUPS];
		make_instance(&random, &it);
		if (least_of_all(&it) > it.ways)
			continue;
		assert_int_equal(mtl_partition(it.claims, it.n, it.ways, MTL_TOTAL, ours), 0);
		lookahead(&it, theirs);
		assert_is_division(&it, theirs);
		double cost = mtl_partition_cost(it.claims, it.n, ours);
		double their_cost = mtl_partition_cost(it.claims, it.n, theirs);
		assert_true(cost <= their_cost);
		same += cost == their_cost;
		worse += cost < their_cost;
	}

	assert_true(same > sim_runs(3000));
	assert_true(worse > sim_runs(100));
}

/* -- regret -- */

/* Intervals around curves, which fall where the truth does. */
static void make_intervals(uint64_t *random, bool falls, struct instance *ret)
{
	make_instance(random, ret);
	for (size_t g = 0; g < ret->n; g++) {
		double below = sim_uniform(random), above = sim_uniform(random);

		if (falls)
			make_cliffs(random, ret->misses[g]);
		ret->claims[g].low = ret->low[g];
		ret->claims[g].high = ret->high[g];
		ret->claims[g].falls = falls;
		for (unsigned k = 0; k < SHARES; k++) {
			ret->low[g][k] = ret->misses[g][k] * below;
			ret->high[g][k] = ret->misses[g][k] * (1 + above);
		}
	}
}

/* The same instance with curves somewhere in the intervals. */
static void sample(uint64_t *random, const struct instance *from, struct instance *ret)
{
	*ret = *from;
	for (size_t g = 0; g < from->n; g++) {
		ret->claims[g].misses = ret->misses[g];
		for (unsigned k = 0; k < SHARES; k++) {
			double low = from->low[g][k], high = from->high[g][k];
			double value = low + (high - low) * sim_uniform(random);

			if (from->claims[g].falls && k)
				value = fmax(low, fmin(value, ret->misses[g][k - 1]));
			ret->misses[g][k] = value;
		}
	}
}

/* What curves that are as bad for share a, and as good for share b, as can be have with share k. */
static double extreme_at(
        bool falls, const double *low, const double *high, unsigned a, unsigned b, unsigned k)
{
	if (!falls)
		return k == a ? high[k] : low[k];
	if (b > a)
		return k <= a ? high[k] : low[k];
	return fmin(fmax(high[a], low[k]), high[k]);
}

static void make_extreme(const struct instance *from, const unsigned *chosen, const unsigned *other,
        struct instance *ret)
{
	*ret = *from;
	for (size_t g = 0; g < from->n; g++) {
		ret->claims[g].misses = ret->misses[g];
		for (unsigned k = 0; k < SHARES; k++)
			ret->misses[g][k] = extreme_at(from->claims[g].falls, from->low[g],
			        from->high[g], chosen[g], other[g], k);
	}
}

struct regretted {
	const unsigned *chosen;
	double most;
};

static void visit_extreme(struct walk *walk)
{
	struct regretted *regretted = walk->user;
	struct instance extreme;
	double gain, least;
	size_t n = walk->instance->n;

	make_extreme(walk->instance, regretted->chosen, walk->ways, &extreme);
	for (size_t g = 0; g < n; g++)
		for (unsigned k = 1; k < SHARES && extreme.claims[g].falls; k++)
			assert_true(extreme.misses[g][k] <= extreme.misses[g][k - 1]);
	double regret = mtl_partition_cost(extreme.claims, n, regretted->chosen) -
	                mtl_partition_cost(extreme.claims, n, walk->ways);
	regretted->most = fmax(regretted->most, regret);
	mtl_partition_gain(walk->instance->claims, n, regretted->chosen, walk->ways, &gain, &least);
	assert_true(fabs(least + regret) <= 1e-9 * (1 + fabs(regret)));
	assert_true(least <= gain + 1e-9 * (1 + fabs(gain)));
}

static double regret_of_sample(uint64_t *random, const struct instance *it, const unsigned *chosen)
{
	struct instance truth;
	unsigned best[GROUPS];

	sample(random, it, &truth);
	assert_int_equal(mtl_partition(truth.claims, it->n, it->ways, MTL_TOTAL, best), 0);
	return mtl_partition_cost(truth.claims, it->n, chosen) -
	       mtl_partition_cost(truth.claims, it->n, best);
}

static void check_regret(bool falls)
{
	uint64_t random = 17 + falls;
	struct instance it;

	for (unsigned run = 0; run < sim_runs(600); run++) {
		unsigned chosen[GROUPS];
		double bound;

		make_intervals(&random, falls, &it);
		if (mtl_partition(it.claims, it.n, it.ways, run % 2, chosen) == -ENOSPC)
			continue;
		assert_int_equal(mtl_partition_regret(it.claims, it.n, it.ways, chosen, &bound), 0);
		for (unsigned i = 0; i < 30; i++)
			assert_true(regret_of_sample(&random, &it, chosen) <=
			            bound * (1 + 1e-9) + 1e-9);
		struct regretted regretted = {.chosen = chosen};
		struct walk walk = {.instance = &it, .visit = visit_extreme, .user = &regretted};
		walk_from(&walk, 0, it.ways);
		assert_true(fabs(regretted.most - bound) <= 1e-9 * (1 + bound));
	}
}

static void regret_is_attained(void **state)
{
	(void)state;
	check_regret(false);
}

static void regret_is_attained_by_falling_curves(void **state)
{
	(void)state;
	check_regret(true);
}

static void exact_curves_leave_no_regret(void **state)
{
	uint64_t random = 3;
	struct instance it;

	(void)state;
	for (unsigned run = 0; run < 200; run++) {
		unsigned chosen[GROUPS];
		double regret;

		make_instance(&random, &it);
		if (mtl_partition(it.claims, it.n, it.ways, MTL_TOTAL, chosen) < 0)
			continue;
		assert_int_equal(
		        mtl_partition_regret(it.claims, it.n, it.ways, chosen, &regret), 0);
		assert_true(regret <= 1e-9);
	}
}

/* -- the rest -- */

static void even_where_it_makes_no_difference(void **state)
{
	static const double flat[17] = {0};
	struct mtl_claim claims[4];
	unsigned ways[4];

	(void)state;
	for (size_t g = 0; g < 4; g++)
		claims[g] = (struct mtl_claim){.misses = flat, .weight = 1, .least_ways = 1};
	for (unsigned o = 0; o < 3; o++) {
		assert_int_equal(mtl_partition(claims, 4, 16, o, ways), 0);
		for (size_t g = 0; g < 4; g++)
			assert_int_equal(ways[g], 4);
	}
	assert_int_equal(mtl_partition_equal_share(3, 11, 0), 4);
	assert_int_equal(mtl_partition_equal_share(3, 11, 1), 4);
	assert_int_equal(mtl_partition_equal_share(3, 11, 2), 3);
	assert_int_equal(mtl_partition_equal_share(0, 11, 0), 0);
}

/* Two that both miss beside nothing are slowed down without end, however it is divided. */
static void slowdown_without_end_is_no_refusal(void **state)
{
	static const double a[] = {9, 5, 0}, b[] = {9, 2, 0};
	struct mtl_claim claims[] = {{.misses = a, .weight = 1, .least_ways = 1},
	        {.misses = b, .weight = 1, .least_ways = 1}};
	unsigned ways[2];

	(void)state;
	assert_true(isinf(mtl_partition_slowdown(&claims[0], 1, 2)));
	assert_true(mtl_partition_slowdown(&claims[0], 2, 2) == 1);
	assert_int_equal(mtl_partition(claims, 2, 2, MTL_FAIR, ways), 0);
	assert_int_equal(ways[0], 1);
	assert_int_equal(ways[1], 1);
}

static void what_cannot_be_is_refused(void **state)
{
	static const double good[] = {3, 2, 1}, negative[] = {3, -2, 1}, nan_[] = {3, NAN, 1},
	                    inf[] = {INFINITY, 2, 1}, much[] = {1e308, 1e308, 1};
	const struct mtl_claim bad[] = {
	        {.weight = 1},
	        {.misses = negative, .weight = 1},
	        {.misses = nan_, .weight = 1},
	        {.misses = inf, .weight = 1},
	        {.misses = much, .weight = 2},
	        {.misses = good, .weight = -1},
	        {.misses = good, .weight = NAN},
	        {.misses = good, .weight = INFINITY},
	        {.misses = good, .weight = 1, .work = -1},
	        {.misses = good, .weight = 1, .work = INFINITY},
	        {.misses = good, .weight = 1, .low = good},
	        {.misses = good, .weight = 1, .low = good, .high = nan_},
	        {.misses = good, .weight = 1, .low = inf, .high = inf},
	};
	struct mtl_claim claims[3] = {{.misses = good, .weight = 1, .least_ways = 1},
	        {.misses = good, .weight = 1, .least_ways = 1},
	        {.misses = good, .weight = 1, .least_ways = 1}};
	unsigned ways[3] = {77, 77, 77};
	double regret = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(mtl_partition(&bad[i], 1, 2, MTL_TOTAL, ways), -EINVAL);
		assert_int_equal(mtl_partition_regret(&bad[i], 1, 2, ways, &regret), -EINVAL);
	}
	assert_int_equal(mtl_partition(claims, 0, 2, MTL_TOTAL, ways), -EINVAL);
	assert_int_equal(mtl_partition(claims, 2, 0, MTL_TOTAL, ways), -EINVAL);
	assert_int_equal(mtl_partition(claims, 2, 2, 3, ways), -EINVAL);
	assert_int_equal(mtl_partition(claims, 2, 2, -1, ways), -EINVAL);
	assert_int_equal(mtl_partition_regret(claims, 2, 2, ways, &regret), -EINVAL);
	assert_int_equal(mtl_partition(claims, 3, 2, MTL_TOTAL, ways), -ENOSPC);
	assert_int_equal(mtl_partition(claims, 3, 2, MTL_FAIR, ways), -ENOSPC);
	assert_int_equal(ways[0], 77);
	assert_true(regret == 77);
	claims[0].least_ways = 0;
	assert_int_equal(mtl_partition(claims, 3, 2, MTL_TOTAL, ways), 0);
	assert_int_equal(ways[0], 0);
}

/* Tens of microseconds in fact. */
static void many_groups_are_quick(void **state)
{
	static double misses[64][21];
	struct mtl_claim claims[64];
	unsigned ways[64];
	uint64_t random = 64;
	double least = INFINITY;

	(void)state;
	for (size_t g = 0; g < 64; g++) {
		for (unsigned k = 0; k <= 20; k++)
			misses[g][k] = 1000 * sim_uniform(&random);
		claims[g] = (struct mtl_claim){.misses = misses[g], .weight = 1, .work = 100};
	}
	for (unsigned i = 0; i < 5; i++) {
		clock_t start = clock();
		for (unsigned o = 0; o < 3; o++)
			assert_true(mtl_partition(claims, 64, 20, o, ways) != -ENOMEM);
		least = fmin(least, (double)(clock() - start) / CLOCKS_PER_SEC / 3);
	}
	print_message("64 groups, 20 ways: %.3f ms\n", 1e3 * least);
	if (!RUNNING_ON_VALGRIND)
		assert_true(least <= 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(best_of_all_divisions),
	        cmocka_unit_test(lookahead_is_never_better),
	        cmocka_unit_test(regret_is_attained),
	        cmocka_unit_test(regret_is_attained_by_falling_curves),
	        cmocka_unit_test(exact_curves_leave_no_regret),
	        cmocka_unit_test(even_where_it_makes_no_difference),
	        cmocka_unit_test(slowdown_without_end_is_no_refusal),
	        cmocka_unit_test(what_cannot_be_is_refused),
	        cmocka_unit_test(many_groups_are_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Clusters: the best of all set partitions and all divisions of ways among them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <time.h>

#include "demand_fixture.h"

#define GROUPS 4
#define WAYS 6

struct instance {
	size_t n;
	const struct mtl_demand *demands[MTL_CLUSTERED_MAX];
	double weights[MTL_CLUSTERED_MAX];
	struct mtl_cluster_terms terms;
};

static unsigned up_to(uint64_t *random, unsigned most)
{
	return (unsigned)(sim_uniform(random) * (most + 1));
}

static void instance_new(uint64_t *random, size_t n, unsigned ways, struct instance *ret)
{
	double all = 0;

	*ret = (struct instance){.n = n};
	for (size_t i = 0; i < n; i++) {
		ret->demands[i] = demand_random(random);
		all += ret->demands[i]->footprint_bytes;
		ret->weights[i] = up_to(random, 2) * sim_uniform(random);
	}
	ret->terms = (struct mtl_cluster_terms){
	        .way_bytes = all * sim_uniform(random) / ways,
	        .ways = ways,
	        .least_ways = up_to(random, 2),
	        .weights = up_to(random, 1) ? ret->weights : NULL,
	};
}

static void instance_done(struct instance *it)
{
	for (size_t i = 0; i < it->n; i++)
		mtl_demand_free((struct mtl_demand *)it->demands[i]);
}

/* -- what an arrangement is worth -- */

struct worth {
	double worst, total;
	bool allowed;
};

static double alone(const struct instance *it, size_t i, unsigned ways)
{
	double time, occupancy, misses;

	assert_int_equal(mtl_demands_share(&it->demands[i], 1, ways * it->terms.way_bytes, &time,
	                         &occupancy, &misses),
	        0);
	return misses;
}

static void add_member(const struct instance *it, size_t i, double misses, struct worth *worth)
{
	double values[] = {alone(it, i, it->terms.ways), misses};
	const struct mtl_claim claim = {.misses = values, .work = it->demands[i]->work};
	unsigned equal = mtl_partition_equal_share(it->n, it->terms.ways, i);

	worth->worst = fmax(worth->worst, mtl_partition_slowdown(&claim, 1, 0));
	worth->total += (it->terms.weights ? it->terms.weights[i] : 1) * misses;
	if (it->terms.objective == MTL_GUARANTEE && misses > alone(it, i, equal))
		worth->allowed = false;
}

static void add_cluster(const struct instance *it, const unsigned *cluster, unsigned which,
        unsigned ways, struct worth *worth)
{
	const struct mtl_demand *members[MTL_CLUSTERED_MAX] = {0};
	size_t who[MTL_CLUSTERED_MAX], n = 0;
	double time, occupancy[MTL_CLUSTERED_MAX], misses[MTL_CLUSTERED_MAX];

	for (size_t i = 0; i < it->n; i++)
		if (cluster[i] == which) {
			who[n] = i;
			members[n++] = it->demands[i];
		}
	assert_int_equal(
	        mtl_demands_share(members, n, ways * it->terms.way_bytes, &time, occupancy, misses),
	        0);
	for (size_t i = 0; i < n; i++)
		add_member(it, who[i], misses[i], worth);
	worth->allowed &= ways >= it->terms.least_ways;
}

/* -- all arrangements -- */

static void keep_better(const struct instance *it, const struct worth *worth, struct worth *best)
{
	bool fair = it->terms.objective == MTL_FAIR;

	if (!worth->allowed || (best->allowed && (fair && worth->worst != best->worst
	                                                         ? worth->worst > best->worst
	                                                         : worth->total >= best->total)))
		return;
	*best = *worth;
}

static void divide(const struct instance *it, const unsigned *cluster, unsigned which,
        unsigned clusters, unsigned left, struct worth worth, struct worth *best)
{
	if (which == clusters) {
		if (left == 0)
			keep_better(it, &worth, best);
		return;
	}
	for (unsigned k = 0; k <= left; k++) {
		struct worth with = worth;

		add_cluster(it, cluster, which, k, &with);
		divide(it, cluster, which + 1, clusters, left - k, with, best);
	}
}

static void arrange(const struct instance *it, unsigned *cluster, size_t i, unsigned clusters,
        struct worth *best)
{
	if (i == it->n) {
		divide(it, cluster, 0, clusters, it->terms.ways, (struct worth){.allowed = true},
		        best);
		return;
	}
	for (unsigned c = 0; c <= clusters; c++) {
		cluster[i] = c;
		arrange(it, cluster, i + 1, clusters + (c == clusters), best);
	}
}

static struct worth worth_of(
        const struct instance *it, const unsigned *cluster, const unsigned *ways)
{
	struct worth worth = {.allowed = true};
	unsigned next = 0, sum = 0;

	for (size_t i = 0; i < it->n; i++) {
		assert_true(cluster[i] <= next);
		if (cluster[i] == next) {
			add_cluster(it, cluster, next++, ways[i], &worth);
			sum += ways[i];
		}
		for (size_t j = 0; j < i; j++)
			assert_true(cluster[i] != cluster[j] || ways[i] == ways[j]);
	}
	assert_int_equal(sum, it->terms.ways);
	return worth;
}

/* The same groups, each by itself. */
static double apart(const struct instance *it)
{
	double misses[GROUPS][WAYS + 1];
	struct mtl_claim claims[GROUPS];
	unsigned ways[GROUPS];

	for (size_t i = 0; i < it->n; i++) {
		for (unsigned k = 0; k <= it->terms.ways; k++)
			misses[i][k] = alone(it, i, k);
		claims[i] = (struct mtl_claim){.misses = misses[i],
		        .work = it->demands[i]->work,
		        .weight = it->terms.weights ? it->terms.weights[i] : 1,
		        .least_ways = it->terms.least_ways};
	}
	if (mtl_partition(claims, it->n, it->terms.ways, it->terms.objective, ways) < 0)
		return INFINITY;
	return mtl_partition_cost(claims, it->n, ways);
}

struct tally {
	unsigned found, better, same;
};

static void check(struct instance *it, struct tally *tally)
{
	unsigned cluster[GROUPS], ways[GROUPS], walked[GROUPS];
	struct worth best = {0};
	int r = mtl_partition_clusters(it->demands, it->n, &it->terms, cluster, ways);

	arrange(it, walked, 0, 0, &best);
	assert_int_equal(r, best.allowed ? 0 : -ENOSPC);
	if (r < 0)
		return;
	struct worth worth = worth_of(it, cluster, ways);
	assert_true(worth.allowed);
	assert_true(fabs(worth.total - best.total) <= 1e-9 * (1 + best.total));
	if (it->terms.objective == MTL_FAIR)
		assert_true(worth.worst == best.worst);
	double separate = apart(it);
	if (it->terms.objective != MTL_FAIR)
		assert_true(worth.total <= separate * (1 + 1e-9));
	tally->found++;
	tally->better += worth.total < separate * (1 - 1e-9);
	tally->same += worth.total >= separate * (1 - 1e-9);
}

static void best_of_all_arrangements(void **state)
{
	uint64_t random = 44;
	struct tally tally = {0};

	(void)state;
	for (unsigned run = 0; run < sim_runs(900); run++) {
		struct instance it;

		instance_new(
		        &random, 1 + up_to(&random, GROUPS - 1), 1 + up_to(&random, WAYS - 1), &it);
		for (unsigned o = 0; o < 3; o++) {
			it.terms.objective = o;
			check(&it, &tally);
		}
		instance_done(&it);
	}
	assert_true(tally.found > sim_runs(1500));
	assert_true(tally.better > sim_runs(200));
	assert_true(tally.same > sim_runs(200));
}

/* All that all touch fits any way: nobody is put together, and the ways are even. */
static void apart_where_it_makes_no_difference(void **state)
{
	uint64_t random = 4;
	struct instance it;
	unsigned cluster[4], ways[4];

	(void)state;
	instance_new(&random, 4, 8, &it);
	it.terms = (struct mtl_cluster_terms){.way_bytes = 1e9, .ways = 8, .least_ways = 1};
	for (unsigned o = 0; o < 3; o++) {
		it.terms.objective = o;
		assert_int_equal(
		        mtl_partition_clusters(it.demands, 4, &it.terms, cluster, ways), 0);
		for (unsigned i = 0; i < 4; i++) {
			assert_int_equal(cluster[i], i);
			assert_int_equal(ways[i], 2);
		}
	}
	instance_done(&it);
}

static void what_cannot_be_is_refused(void **state)
{
	uint64_t random = 9;
	struct instance it;
	unsigned cluster[MTL_CLUSTERED_MAX + 1] = {7}, ways[MTL_CLUSTERED_MAX + 1] = {7};
	const double bad_weights[] = {1, -1};

	(void)state;
	instance_new(&random, 2, 4, &it);
	const struct mtl_cluster_terms good = {.way_bytes = 100, .ways = 4, .least_ways = 1};
	struct mtl_cluster_terms bad[] = {good, good, good, good, good, good};
	bad[0].ways = 0;
	bad[1].way_bytes = 0;
	bad[2].way_bytes = NAN;
	bad[3].way_bytes = INFINITY;
	bad[4].weights = bad_weights;
	bad[5].objective = 3;
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(
		        mtl_partition_clusters(it.demands, 2, &bad[i], cluster, ways), -EINVAL);
	assert_int_equal(mtl_partition_clusters(it.demands, 0, &good, cluster, ways), -EINVAL);
	assert_int_equal(
	        mtl_partition_clusters(it.demands, MTL_CLUSTERED_MAX + 1, &good, cluster, ways),
	        -E2BIG);
	bad[0] = good;
	bad[0].least_ways = 5;
	for (unsigned o = 0; o < 3; o++) {
		bad[0].objective = o;
		assert_int_equal(
		        mtl_partition_clusters(it.demands, 2, &bad[0], cluster, ways), -ENOSPC);
	}
	snprintf(((struct mtl_demand *)it.demands[1])->unit, 16, "second");
	assert_int_equal(mtl_partition_clusters(it.demands, 2, &good, cluster, ways), -EINVAL);
	assert_int_equal(cluster[0], 7);
	assert_int_equal(ways[0], 7);
	instance_done(&it);
}

/* As many as there may be. */
static void ten_groups(void **state)
{
	uint64_t random = 10;
	struct instance it;
	unsigned cluster[MTL_CLUSTERED_MAX], ways[MTL_CLUSTERED_MAX];
	unsigned all = RUNNING_ON_VALGRIND ? 4 : 20;

	(void)state;
	instance_new(&random, MTL_CLUSTERED_MAX, all, &it);
	it.terms.least_ways = 1;
	it.terms.objective = MTL_FAIR;
	clock_t start = clock();
	assert_int_equal(mtl_partition_clusters(it.demands, it.n, &it.terms, cluster, ways), 0);
	print_message("%u groups, %u ways: %.0f ms\n", MTL_CLUSTERED_MAX, all,
	        1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
	worth_of(&it, cluster, ways);
	instance_done(&it);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(best_of_all_arrangements),
	        cmocka_unit_test(apart_where_it_makes_no_difference),
	        cmocka_unit_test(what_cannot_be_is_refused),
	        cmocka_unit_test(ten_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Several programs as one demand: against its members, one by one, in caches of any size, alone and
 * beside others; by hand; and what cannot be.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "demand_fixture.h"

#define CLOSE 1e-9
#define MOST 5

struct team {
	const struct mtl_demand *demands[MOST + 1]; /* the last one is of another team */
	struct mtl_demand *owned[MOST + 1], *sum;
	size_t n;
};

static void near(double value, double wanted, double scale)
{
	if (!(fabs(value - wanted) <= CLOSE * fmax(scale, fabs(wanted))))
		fail_msg("%.17g is not %.17g", value, wanted);
}

/* Like a live curve: with more than it touches in the time looked at, it misses less again. */
static struct mtl_demand *member(uint64_t *random)
{
	struct mtl_demand *demand = demand_random(random);
	struct mtl_demand_point last = demand->points[demand->n - 1];

	if (sim_uniform(random) < 0.5)
		return demand;
	demand = realloc(demand, sizeof(*demand) + (demand->n + 1) * sizeof(last));
	assert_non_null(demand);
	last.size_bytes *= 1 + sim_uniform(random);
	last.fill_time = INFINITY;
	last.misses = last.low = last.high = last.misses * sim_uniform(random);
	demand->points[demand->n++] = last;
	return demand;
}

static void team_new(uint64_t *random, struct team *team)
{
	team->n = 1 + (size_t)(sim_uniform(random) * MOST);
	for (size_t i = 0; i <= team->n; i++)
		team->demands[i] = team->owned[i] = member(random);
	assert_int_equal(mtl_demand_sum(team->demands, team->n, "team", &team->sum), 0);
}

static void team_done(struct team *team)
{
	for (size_t i = 0; i <= team->n; i++)
		mtl_demand_free(team->owned[i]);
	mtl_demand_free(team->sum);
}

static double footprints(const struct team *team, double time)
{
	double bytes = 0;

	for (size_t i = 0; i < team->n; i++)
		bytes += mtl_demand_footprint(team->demands[i], time);
	return bytes;
}

/* T by bisection, and misses of each in what it touches then: no use is made of points. */
static double misses_by_bisection(const struct team *team, double size)
{
	double low = 0, high = 1e6, misses = 0;

	for (int i = 0; i < 200; i++) {
		double middle = (low + high) / 2;

		*(footprints(team, middle) < size ? &low : &high) = middle;
	}
	for (size_t i = 0; i < team->n; i++)
		misses += mtl_demand_misses(team->demands[i],
		        size >= footprints(team, INFINITY)
		                ? size
		                : mtl_demand_footprint(team->demands[i], high),
		        NULL, NULL);
	return misses;
}

/* Misses change by so much at most over a part of 1e-6 of the size: bisection is not exact. */
static double slack(const struct team *team, double size)
{
	return mtl_demand_misses(team->sum, size * (1 - 1e-6), NULL, NULL) -
	       mtl_demand_misses(team->sum, size * (1 + 1e-6), NULL, NULL);
}

static void any_size_is_as_its_members_have_it(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned trial = 0; trial < sim_runs(500); trial++) {
		struct team team;

		team_new(&random, &team);
		for (int k = 0; k < 20; k++) {
			double size = team.sum->footprint_bytes * 2 * sim_uniform(&random);
			double misses = mtl_demand_misses(team.sum, size, NULL, NULL);
			double wanted = misses_by_bisection(&team, size);

			if (!(fabs(misses - wanted) <= slack(&team, size) + CLOSE * (1 + wanted)))
				fail_msg("%.17g: %.17g is not %.17g", size, misses, wanted);
		}
		team_done(&team);
	}
}

static void footprints_add_up(void **state)
{
	uint64_t random = 2;

	(void)state;
	for (unsigned trial = 0; trial < sim_runs(500); trial++) {
		struct team team;

		team_new(&random, &team);
		near(team.sum->footprint_bytes, footprints(&team, INFINITY), 1);
		for (int k = 0; k < 20; k++) {
			double time = team.sum->longest_time * 1.5 * sim_uniform(&random);

			near(mtl_demand_footprint(team.sum, time), footprints(&team, time), 1);
		}
		team_done(&team);
	}
}

/* Beside another program the team has what its members would have, and the other the same. */
static void in_company_it_is_its_members(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (unsigned trial = 0; trial < sim_runs(500); trial++) {
		double time, together, occupancy[MOST + 1], misses[MOST + 1], two[2], two_misses[2];
		struct team team;

		team_new(&random, &team);
		const struct mtl_demand *pair[] = {team.sum, team.demands[team.n]};
		double all = team.sum->footprint_bytes + pair[1]->footprint_bytes;
		double size = all * 1.3 * sim_uniform(&random), sum = 0, held = 0;

		assert_int_equal(
		        mtl_demands_share(team.demands, team.n + 1, size, &time, occupancy, misses),
		        0);
		assert_int_equal(mtl_demands_share(pair, 2, size, &together, two, two_misses), 0);
		for (size_t i = 0; i < team.n; i++) {
			sum += misses[i];
			held += occupancy[i];
		}
		if (isfinite(time))
			near(together, time, 1e-3);
		else
			assert_true(isinf(together));
		near(two[0], held, all);
		near(two[1], occupancy[team.n], all);
		near(two_misses[0], sum, 1000);
		near(two_misses[1], misses[team.n], 1000);
		team_done(&team);
	}
}

static void it_is_a_demand(void **state)
{
	uint64_t random = 4;

	(void)state;
	for (unsigned trial = 0; trial < sim_runs(500); trial++) {
		struct team team;

		team_new(&random, &team);
		const struct mtl_demand_point *p = team.sum->points;

		assert_true(p[0].size_bytes == 0 && p[0].fill_time == 0);
		for (size_t i = 0; i < team.sum->n; i++, p++) {
			assert_true(p->low <= p->misses && p->misses <= p->high);
			if (i == 0)
				continue;
			assert_true(p->size_bytes > p[-1].size_bytes);
			assert_true(p->fill_time > p[-1].fill_time || isinf(p[-1].fill_time));
			assert_true(p->misses <= p[-1].misses && p->low <= p[-1].low &&
			            p->high <= p[-1].high);
		}
		assert_true(team.sum->smallest_known_bytes <= team.sum->footprint_bytes);
		team_done(&team);
	}
}

static void one_is_itself(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (unsigned trial = 0; trial < sim_runs(500); trial++) {
		const struct mtl_demand *demand = demand_random(&random);
		_cleanup_(mtl_demand_freep) struct mtl_demand *sum = NULL;

		assert_int_equal(mtl_demand_sum(&demand, 1, "it", &sum), 0);
		assert_true(sum->work == demand->work);
		assert_true(sum->footprint_bytes == demand->footprint_bytes);
		for (size_t i = 0; i < demand->n; i++) {
			double low, high, own_low, own_high, size = demand->points[i].size_bytes;

			assert_true(mtl_demand_misses(sum, size, &low, &high) ==
			            mtl_demand_misses(demand, size, &own_low, &own_high));
			assert_true(low == own_low && high == own_high);
		}
		mtl_demand_free((struct mtl_demand *)demand);
	}
}

/* By hand. One fills 10 in 20 accesses of 1000 and 20 in 50; the other the same in half the time.
 * In 20 / 1000 they touch 10 + 20 and miss 800 + 500 times. */
static void two_by_hand(void **state)
{
	struct mtl_demand *one =
	        demand_of("{\"accesses\":1000,\"distinct\":20,\"line_bytes\":1,\"points\":["
	                  "{\"size_bytes\":10,\"fill_time_accesses\":20,\"miss_ratio\":0.8},"
	                  "{\"size_bytes\":20,\"fill_time_accesses\":50,\"miss_ratio\":0.02}]}",
	                100);
	struct mtl_demand *other =
	        demand_of("{\"accesses\":1000,\"distinct\":20,\"line_bytes\":1,\"points\":["
	                  "{\"size_bytes\":10,\"fill_time_accesses\":10,\"miss_ratio\":0.7},"
	                  "{\"size_bytes\":20,\"fill_time_accesses\":20,\"miss_ratio\":0.5}]}",
	                100);
	const struct mtl_demand *demands[] = {one, other};
	_cleanup_(mtl_demand_freep) struct mtl_demand *sum = NULL;

	(void)state;
	assert_int_equal(mtl_demand_sum(demands, 2, "a rather long name", &sum), 0);
	near(mtl_demand_footprint(sum, 0.02), 30, 1);
	near(mtl_demand_misses(sum, 30, NULL, NULL), 1300, 1);
	near(mtl_demand_misses(sum, 15, NULL, NULL), 900 + 700, 1); /* in 10 / 1000 */
	near(sum->smallest_known_bytes, 30, 1);                     /* one from 10, in 20 / 1000 */
	near(sum->work, 20, 1);
	assert_string_equal(sum->name, "a rather long name");
	mtl_demand_free(one);
	mtl_demand_free(other);
}

static void what_cannot_be_is_refused(void **state)
{
	uint64_t random = 6;
	struct mtl_demand *one = demand_random(&random), *other = demand_random(&random);
	const struct mtl_demand *demands[] = {one, other};
	struct mtl_demand *sum = NULL;

	(void)state;
	assert_int_equal(mtl_demand_sum(demands, 0, "it", &sum), -EINVAL);
	strcpy(other->unit, "second");
	assert_int_equal(mtl_demand_sum(demands, 2, "it", &sum), -EINVAL);
	assert_null(sum);
	mtl_demand_free(one);
	mtl_demand_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(any_size_is_as_its_members_have_it),
	        cmocka_unit_test(footprints_add_up),
	        cmocka_unit_test(in_company_it_is_its_members),
	        cmocka_unit_test(it_is_a_demand),
	        cmocka_unit_test(one_is_itself),
	        cmocka_unit_test(two_by_hand),
	        cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

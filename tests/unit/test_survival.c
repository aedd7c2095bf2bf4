/* SPDX-License-Identifier: MIT */
/* Survival against Kaplan-Meier written out, against counting, and against the truth. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "simulate.h"
#include "survival.h"

#define FEW 80

static struct mtl_tally tally;
static struct mtl_survival survival;

static void samples_of(const struct mtl_observation *o, size_t n, struct mtl_samples *ret)
{
	assert_int_equal(mtl_samples_from_observations(o, n, SIM_END, 0, ret), 0);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A grid that holds every event time: on it the estimate must be the exact one. */
static void grid_of_events(const struct mtl_observation *o, size_t n, struct mtl_grid *ret)
{
	double times[FEW];
	size_t events = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(o[i].touched[0]))
			times[events++] = o[i].touched[0];
	qsort(times, events, sizeof(*times), by_value);
	ret->n = 0;
	for (size_t i = 0; i < events; i++)
		if (ret->n == 0 || times[i] > ret->window[ret->n - 1])
			ret->window[ret->n++] = times[i];
	assert_true(ret->n <= GRID_MAX);
}

/* Kaplan-Meier as in a textbook: product over event times of 1 - deaths / at risk. */
static double kaplan_meier(const struct mtl_observation *o, size_t n, const double *times,
        size_t n_times, double until)
{
	double survival_function = 1;

	for (size_t k = 0; k < n_times && times[k] <= until; k++) {
		double deaths = 0, at_risk = 0;
		for (size_t i = 0; i < n; i++) {
			double end = fmin(o[i].touched[0], o[i].deadline);
			at_risk += end >= times[k] ? o[i].weight : 0;
			deaths += o[i].touched[0] == (float)times[k] ? o[i].weight : 0;
		}
		survival_function *= 1 - deaths / at_risk;
	}
	return survival_function;
}

static void one_word_is_kaplan_meier(void **state)
{
	uint64_t random = 11;
	(void)state;

	for (unsigned run = 0; run < 20; run++) {
		struct mtl_observation o[FEW];
		struct mtl_samples samples;
		struct mtl_grid grid;
		for (size_t i = 0; i < FEW; i++) {
			sim_observe(&random, sim_random_line, 1, 1, &o[i]);
			o[i].weight = 1 + 0.99 * sim_uniform(&random); /* one stratum */
			o[i].deadline = ceil(sim_uniform(&random) * 40) / 1024;
			/* on a coarse raster, so that touches and deadlines tie */
			double time = ceil(-log(sim_uniform(&random)) * 20) / 1024;
			o[i].touched[0] = time <= o[i].deadline ? time : INFINITY;
		}
		grid_of_events(o, FEW, &grid);
		samples_of(o, FEW, &samples);
		mtl_samples_on_grid(&samples, &grid);
		mtl_survival_from_samples(&samples, NULL, &grid, &tally, &survival);
		for (size_t g = 0; g < grid.n; g++)
			assert_true(fabs(survival.occupied[KIND_WORD][g][0] -
			                    kaplan_meier(o, FEW, grid.window, grid.n,
			                            grid.window[g])) < 1e-12);
		mtl_samples_done(&samples);
	}
}

/* The 6-MP arm of Freireich et al. (1963), repeated so that there are enough observations. */
static void known_answer(void **state)
{
	static const struct {
		float time;
		bool censored;
	} remission[] = {{6, 0}, {6, 0}, {6, 0}, {6, 1}, {7, 0}, {9, 1}, {10, 0}, {10, 1}, {11, 1},
	        {13, 0}, {16, 0}, {17, 1}, {19, 1}, {20, 1}, {22, 0}, {23, 0}, {25, 1}, {32, 1},
	        {32, 1}, {34, 1}, {35, 1}};
	static const double expected[] = {0.8571, 0.8067, 0.7529, 0.6902, 0.6275, 0.5378, 0.4482};
	struct mtl_grid grid = {7, {6, 7, 10, 13, 16, 22, 23}};
	struct mtl_observation o[63];
	struct mtl_samples samples;
	(void)state;

	for (size_t i = 0; i < 63; i++)
		o[i] = (struct mtl_observation){
		        .deadline = remission[i % 21].censored ? remission[i % 21].time : 36,
		        .touched = {remission[i % 21].censored ? INFINITY : remission[i % 21].time},
		        .weight = 1,
		        .slots = 1};
	samples_of(o, 63, &samples);
	mtl_samples_on_grid(&samples, &grid);
	mtl_survival_from_samples(&samples, NULL, &grid, &tally, &survival);
	for (size_t g = 0; g < grid.n; g++)
		assert_true(fabs(survival.occupied[KIND_WORD][g][0] - expected[g]) < 1e-4);
	mtl_samples_done(&samples);
}

static void uncensored_is_counting(void **state)
{
	uint64_t random = 12;
	struct mtl_observation o[200];
	struct mtl_samples samples;
	struct mtl_grid grid = {4, {0.002, 0.005, 0.02, 0.3}};
	(void)state;

	sim_observe_all(&random, sim_random, 4, 1, o, 200);
	for (size_t i = 0; i < 200; i++) {
		double touched[MTL_WORDS_PER_LINE];
		o[i].weight = 1 + i % 7;
		o[i].deadline = 0.3;
		sim_random(&random, touched);
		sim_watch(&random, touched, 4, &o[i]);
	}
	samples_of(o, 200, &samples);
	mtl_samples_on_grid(&samples, &grid);
	mtl_survival_from_samples(&samples, NULL, &grid, &tally, &survival);
	for (size_t g = 0; g < grid.n; g++) {
		double count[STATES] = {0}, all = 0;
		for (size_t i = 0; i < 200; i++) {
			unsigned k = 0;
			for (unsigned s = 0; s < 4; s++)
				k += o[i].touched[s] <= grid.window[g];
			count[k] += o[i].weight;
			all += o[i].weight;
		}
		for (unsigned k = 0; k < STATES; k++)
			assert_true(
			        fabs(survival.occupied[KIND_QUAD][g][k] - count[k] / all) < 1e-12);
	}
	mtl_samples_done(&samples);
}

/* The truth lies within 4.5 standard errors of the mean over many small, censored runs. */
static void unbiased_under_log_uniform_deadlines(void **state)
{
	enum { RUNS = 200, N = 200 };
	static struct mtl_observation o[N];
	struct mtl_grid grid = {4, {0.003, 0.006, 0.01, 0.02}};
	double sum[4][STATES] = {{0}}, squares[4][STATES] = {{0}};
	uint64_t random = 13;
	(void)state;

	for (unsigned run = 0; run < RUNS; run++) {
		struct mtl_samples samples;
		sim_observe_all(&random, sim_random, 4, 1, o, N);
		samples_of(o, N, &samples);
		mtl_samples_on_grid(&samples, &grid);
		mtl_survival_from_samples(&samples, NULL, &grid, &tally, &survival);
		for (size_t g = 0; g < grid.n; g++)
			for (unsigned k = 0; k < STATES; k++) {
				double p = survival.occupied[KIND_QUAD][g][k];
				sum[g][k] += p;
				squares[g][k] += p * p;
			}
		mtl_samples_done(&samples);
	}
	for (size_t g = 0; g < grid.n; g++) {
		double p = 1 - exp(-grid.window[g] / SIM_PERIOD / MTL_WORDS_PER_LINE);
		static const double choose[] = {1, 4, 6, 4, 1};
		for (unsigned k = 0; k < STATES; k++) {
			double truth = choose[k] * pow(p, k) * pow(1 - p, 4 - k);
			double mean = sum[g][k] / RUNS;
			double error = sqrt((squares[g][k] / RUNS - mean * mean) / RUNS);
			assert_true(fabs(mean - truth) <= 4.5 * error + 1e-4);
		}
	}
}

static void refuses(struct mtl_observation bad)
{
	struct mtl_observation o[FEW];
	struct mtl_samples samples = {.n = 77};

	for (size_t i = 0; i < FEW; i++)
		o[i] = (struct mtl_observation){
		        .deadline = 1, .weight = 1, .slots = 1, .touched = {INFINITY}};
	assert_int_equal(mtl_samples_from_observations(o, FEW, SIM_END, 0, &samples), 0);
	mtl_samples_done(&samples);
	samples.n = 77;
	o[FEW / 2] = bad;
	assert_int_equal(mtl_samples_from_observations(o, FEW, SIM_END, 0, &samples), -EINVAL);
	assert_int_equal(samples.n, 77);
}

static void what_cannot_be_is_refused(void **state)
{
	const struct mtl_observation good = {
	        .deadline = 1, .weight = 1, .slots = 1, .touched = {INFINITY}};
	struct mtl_observation bad;
	(void)state;

#define REFUSED(member, value) (bad = good, bad.member = (value), refuses(bad))
	REFUSED(deadline, 0);
	REFUSED(deadline, -1);
	REFUSED(deadline, NAN);
	REFUSED(deadline, INFINITY);
	REFUSED(weight, 0);
	REFUSED(weight, -1);
	REFUSED(weight, NAN);
	REFUSED(weight, INFINITY);
	REFUSED(weight, 1e30);
	REFUSED(moment, NAN);
	REFUSED(moment, INFINITY);
	REFUSED(slots, 0);
	REFUSED(slots, MTL_SLOTS_MAX + 1);
	REFUSED(touched[0], NAN);
	bad = good;
	bad.slots = 2;
	bad.touched[1] = INFINITY;
	bad.whole_line = 1;
	refuses(bad);
}

static void enough_means_enough(void **state)
{
	struct mtl_observation o[MTL_OBSERVATIONS_NEEDED];
	struct mtl_samples samples;
	(void)state;

	for (size_t i = 0; i < MTL_OBSERVATIONS_NEEDED; i++)
		o[i] = (struct mtl_observation){
		        .deadline = 1, .weight = 1, .slots = 1, .touched = {INFINITY}};
	assert_int_equal(mtl_samples_from_observations(NULL, 0, 0, 0, &samples), -ENODATA);
	assert_int_equal(
	        mtl_samples_from_observations(o, MTL_OBSERVATIONS_NEEDED - 1, SIM_END, 0, &samples),
	        -ENODATA);
	assert_int_equal(
	        mtl_samples_from_observations(o, MTL_OBSERVATIONS_NEEDED, SIM_END, 0, &samples), 0);
	mtl_samples_done(&samples);
	/* one whose deadline has not passed does not count, touched or not */
	o[0].moment = SIM_END - 0.5;
	o[0].touched[0] = 0.1;
	assert_int_equal(
	        mtl_samples_from_observations(o, MTL_OBSERVATIONS_NEEDED, SIM_END, 0, &samples),
	        -ENODATA);
}

static void touches_out_of_range(void **state)
{
	struct mtl_observation o[FEW];
	struct mtl_samples samples;
	(void)state;

	for (size_t i = 0; i < FEW; i++)
		o[i] = (struct mtl_observation){.deadline = 1,
		        .weight = 1,
		        .slots = 3,
		        .touched = {2, 0.5, -1e-5f}}; /* late, seen, a little early */
	samples_of(o, FEW, &samples);
	assert_true(samples.sample[0].touched[0] == 0);
	assert_true(samples.sample[0].touched[1] == 0.5f);
	assert_true(isinf(samples.sample[0].touched[2]));
	mtl_samples_done(&samples);
}

static void trusted_window_needs_watchers(void **state)
{
	struct mtl_observation o[100];
	struct mtl_samples samples;
	(void)state;

	for (size_t i = 0; i < 100; i++)
		o[i] = (struct mtl_observation){.deadline = (i * 37 % 100 + 1) / 10.0,
		        .weight = 5,
		        .slots = 1,
		        .touched = {INFINITY}};
	samples_of(o, 100, &samples);
	assert_true(fabs(mtl_effective_observations(&samples) - 100) < 1e-9);
	assert_true(mtl_trusted_window(&samples) == 8.1); /* 20 deadlines are that long or longer */
	mtl_samples_done(&samples);

	o[7].weight =
	        1e12; /* one line stands for nearly all, but deadlines know nothing of lines */
	samples_of(o, 100, &samples);
	assert_true(mtl_effective_observations(&samples) < 1.001);
	assert_true(mtl_trusted_window(&samples) == 8.1);
	mtl_samples_done(&samples);

	for (size_t i = 0; i < 100; i++)
		o[i].deadline = 0.25;
	samples_of(o, 100, &samples);
	assert_true(mtl_trusted_window(&samples) == 0.25);
	mtl_samples_done(&samples);
}

/* Hot lines drawn often, cold ones rarely: each estimated by themselves. */
static void strata_are_of_like_weight(void **state)
{
	static struct mtl_observation o[300];
	struct mtl_grid grid = {1, {0.1}};
	struct mtl_samples samples;
	double hot = 0;
	(void)state;

	for (size_t i = 0; i < 300; i++) {
		bool cold = i % 6 == 0;
		o[i] = (struct mtl_observation){.deadline = 0.05 + 0.1 * (i % 7 > 2),
		        .weight = cold ? 1e6 : 1 + i % 2 * 0.5,
		        .slots = 1,
		        .touched = {cold ? INFINITY : 0.01f}};
		hot += cold ? 0 : o[i].weight / 300;
	}
	samples_of(o, 300, &samples);
	mtl_samples_on_grid(&samples, &grid);
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(samples.sample[i].stratum, i >= 250);
	mtl_survival_from_samples(&samples, NULL, &grid, &tally, &survival);
	double touched = survival.occupied[KIND_WORD][0][1] * survival.lines;
	assert_true(fabs(touched / hot - 1) < 1e-12);
	mtl_samples_done(&samples);
}

static void decay_forgets(void **state)
{
	struct mtl_observation o[FEW];
	struct mtl_samples samples;
	(void)state;

	for (size_t i = 0; i < FEW; i++)
		o[i] = (struct mtl_observation){
		        .moment = i, .deadline = 1, .weight = 2, .slots = 1, .touched = {INFINITY}};
	assert_int_equal(mtl_samples_from_observations(o, FEW, SIM_END, 10, &samples), 0);
	assert_true(fabs(samples.sample[30].weight / samples.sample[20].weight - exp(1)) < 1e-9);
	assert_true(fabs(samples.sample[20].weight / samples.sample[20].decay - 2) < 1e-12);
	double effective = mtl_effective_observations(&samples);
	assert_true(effective > 19 && effective < 21); /* two windows' worth, (1 + q) / (1 - q) */
	mtl_samples_done(&samples);
}

static void grid_is_a_grid(void **state)
{
	uint64_t random = 14;
	(void)state;

	for (unsigned run = 0; run < 200; run++) {
		struct mtl_observation o[FEW];
		double scratch[FEW], shortest = sim_log_uniform(&random, 1e-6, 1e-2);
		double longest = shortest * (1.1 + 1000 * sim_uniform(&random));
		struct mtl_samples samples;
		struct mtl_grid grid;
		sim_observe_all(&random, run % 2 ? sim_nothing : sim_scan, 4, 1, o, FEW);
		samples_of(o, FEW, &samples);
		mtl_grid_from_samples(&samples, shortest, longest, scratch, &grid);
		assert_in_range(grid.n, 2, GRID_MAX);
		assert_true(fabs(grid.window[0] / shortest - 1) < 1e-9);
		assert_true(grid.window[grid.n - 1] == longest);
		for (size_t g = 1; g < grid.n; g++)
			assert_true(grid.window[g] > grid.window[g - 1]);
		mtl_samples_done(&samples);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(one_word_is_kaplan_meier),
	        cmocka_unit_test(known_answer),
	        cmocka_unit_test(uncensored_is_counting),
	        cmocka_unit_test(unbiased_under_log_uniform_deadlines),
	        cmocka_unit_test(what_cannot_be_is_refused),
	        cmocka_unit_test(enough_means_enough),
	        cmocka_unit_test(touches_out_of_range),
	        cmocka_unit_test(trusted_window_needs_watchers),
	        cmocka_unit_test(strata_are_of_like_weight),
	        cmocka_unit_test(decay_forgets),
	        cmocka_unit_test(grid_is_a_grid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Phases: how often a change is told of a program that is always the same, or that changes faster
 * than it is looked at, and how soon of one that has changed. Programs go round in `lines` lines of
 * ALL at LINES_A_SECOND. Looks are those of mtld: once a second, each with FALSE_ALARMS.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>

#include "phase.h"
#include "simulate.h"

#define ALL 400000.0
#define LINES_A_SECOND 16e6
#define LONGEST 0.15
#define SPAN 60.0
#define FALSE_ALARMS 2e-3
#define HELD 20000
#define LIGHT_RUNS 20

/* Lines gone through before and after each turn of `turn` seconds (0: never). */
struct program {
	double rate; /* observations a second */
	double lines, other, turn;
	double heat;             /* of draws are among the hot lines, */
	double from;             /* from this moment on */
	bool random_words, once; /* once: one turn and no more */
};

struct observed {
	struct mtl_observation o[HELD];
	size_t n;
	uint64_t random;
	double time, begin;
};

static bool has_turned(const struct program *program, double time)
{
	if (!(program->turn > 0))
		return false;
	return program->once ? time >= program->turn : (uint64_t)(time / program->turn) % 2;
}

static void draw(struct observed *seen, const struct program *program)
{
	double lines = has_turned(program, seen->time) ? program->other : program->lines;
	double heat = seen->time >= program->from ? program->heat : 0, touched[MTL_WORDS_PER_LINE];
	double chance = heat + (1 - heat) * lines / ALL, period = lines / LINES_A_SECOND;
	bool hot = sim_uniform(&seen->random) < chance;
	struct mtl_observation *o = &seen->o[seen->n++];

	*o = (struct mtl_observation){
	        .moment = seen->time,
	        .deadline = sim_log_uniform(&seen->random, LONGEST / 64, LONGEST),
	        .weight = hot ? lines / chance : (ALL - lines) / (1 - chance),
	};
	sim_all_words(touched, hot ? sim_uniform(&seen->random) * period : INFINITY);
	for (unsigned k = 0; hot && program->random_words && k < MTL_WORDS_PER_LINE; k++)
		touched[k] = -log(sim_uniform(&seen->random)) * period * MTL_WORDS_PER_LINE;
	sim_watch(&seen->random, touched, MTL_SLOTS_MAX, o);
}

/* On to that moment, what is too old forgotten. */
static void run(struct observed *seen, const struct program *program, double until)
{
	size_t gone = 0;

	while (gone < seen->n && seen->o[gone].moment < until - SPAN)
		gone++;
	seen->n -= gone;
	memmove(seen->o, seen->o + gone, seen->n * sizeof(seen->o[0]));
	for (;;) {
		double next = seen->time - log(sim_uniform(&seen->random)) / program->rate;

		if (next >= until)
			break;
		seen->time = next;
		draw(seen, program);
	}
	seen->time = until;
}

static struct mtl_phase look(struct observed *seen)
{
	struct mtl_phase_options options = {seen->begin, seen->time, SPAN, FALSE_ALARMS};
	struct mtl_phase phase;

	assert_int_equal(mtl_phase_from_observations(seen->o, seen->n, &options, &phase), 0);
	if (phase.changed)
		seen->begin = phase.moment;
	return phase;
}

static struct observed *observed_new(uint64_t seed)
{
	struct observed *seen = calloc(1, sizeof(*seen));

	assert_non_null(seen);
	seen->random = seed;
	return seen;
}

/* Changes told within that time, one look a second. */
static unsigned changes(const struct program *program, uint64_t seed, double seconds)
{
	struct observed *seen = observed_new(seed);
	unsigned told = 0;

	for (double now = 1; now <= seconds; now++) {
		run(seen, program, now);
		told += look(seen).changed;
	}
	free(seen);
	return told;
}

/* Some 40 a second is what a process is given at the usual pace; others are of many threads, or
 * cheap. */
static void no_change_is_told_of_what_stays(void **state)
{
	static const struct program programs[] = {
	        {.rate = 40, .lines = ALL * 0.9},
	        {.rate = 12, .lines = ALL / 4},
	        {.rate = 40, .lines = ALL / 4, .random_words = true},
	        /* lines that are touched are 1 in 400; from a minute on nine draws of ten are of
	           them */
	        {.rate = 40, .lines = ALL / 400, .heat = 0.9, .from = 60},
	        {.rate = 100, .lines = ALL / 400},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		assert_int_equal(changes(&programs[i], i + 1, RUNNING_ON_VALGRIND ? 40 : 600), 0);
}

/* They are the same to whoever looks for seconds: d grows instead. */
static void nor_of_what_changes_all_the_time(void **state)
{
	static const double turns[] = {0.005, 0.02, 0.1, 0.3, 0.6};

	(void)state;
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		struct program program = {
		        .rate = 100, .lines = 16384, .other = ALL * 0.98, .turn = turns[i]};

		assert_int_equal(changes(&program, i + 1, RUNNING_ON_VALGRIND ? 20 : 400), 0);
	}
}

static void neighbours_alike_are_dispersion(void **state)
{
	struct program steady = {.rate = 100, .lines = ALL * 0.98}, turning = steady;
	struct observed *seen = observed_new(1);

	(void)state;
	run(seen, &steady, 40);
	assert_true(look(seen).dispersion < 2.5);
	free(seen);
	turning.other = 16384;
	turning.turn = 0.3;
	seen = observed_new(1);
	run(seen, &turning, 40);
	assert_true(look(seen).dispersion > 4);
	free(seen);
}

/* Seconds after the change at which it is told; INFINITY: not within 10. */
static double told_after(const struct program *program, uint64_t seed, struct mtl_phase *ret_phase)
{
	struct observed *seen = observed_new(seed);
	double after = INFINITY;

	for (double now = 1; now <= program->turn + 10 && isinf(after); now++) {
		run(seen, program, now);
		*ret_phase = look(seen);
		if (ret_phase->changed)
			after = now - program->turn;
	}
	free(seen);
	return after;
}

/* 4 MB and then 32 MB, and back: whatever few observations there are. */
static void changes_are_told_soon(void **state)
{
	static const struct {
		double rate, soon;
	} paces[] = {{12, 10}, {40, 4}, {100, 4}};
	struct mtl_phase phase;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (unsigned seed = 1; seed <= sim_runs(20); seed++) {
			struct program grows = {.rate = paces[i].rate,
			        .lines = ALL * 4 / 32,
			        .other = ALL,
			        .turn = 25.4,
			        .once = true};
			struct program shrinks = grows;

			shrinks.lines = grows.other;
			shrinks.other = grows.lines;
			assert_true(told_after(&grows, seed, &phase) <= paces[i].soon);
			assert_true(phase.after > 2 * phase.before || isnan(phase.before));
			assert_true(fabs(phase.moment - 25.4) < 0.6 + 24 / paces[i].rate);
			assert_true(told_after(&shrinks, seed, &phase) <= paces[i].soon);
			assert_true(fabs(phase.moment - 25.4) < 0.6 + 24 / paces[i].rate);
		}
}

/* Every five seconds from 1 MB to 24 MB or back: the greater part of the turns is told of. */
static void turns_of_five_seconds_are_followed(void **state)
{
	struct program program = {.rate = 40, .lines = 16384, .other = ALL * 0.98, .turn = 5};
	double seconds = RUNNING_ON_VALGRIND ? 60 : 400;
	unsigned told = changes(&program, 3, seconds);

	(void)state;
	print_message("%u of %.0f turns told of\n", told, seconds / 5 - 1);
	assert_in_range(told, seconds / 5 * 0.8, seconds / 5 - 1);
}

/* One word of each of `lines` lines a pass, drawn evenly. */
static void draw_once(struct observed *seen, double lines, double pass, double deadline)
{
	struct mtl_observation *o = &seen->o[seen->n++];
	double touched[MTL_WORDS_PER_LINE];

	*o = (struct mtl_observation){.moment = seen->time, .deadline = deadline, .weight = lines};
	sim_all_words(touched, INFINITY);
	touched[0] = sim_uniform(&seen->random) * pass;
	sim_watch(&seen->random, touched, MTL_SLOTS_MAX, o);
}

/* As recorded of a program that went from 0.5 to 4 MB: lines of the small part are drawn, and most
 * are watched for less than a pass of the large one; of the few others it touched, in 1.5 ms, a
 * third as much. */
static void few_light_draws_beside_heavy_ones(void **state)
{
	unsigned told = 0;
	(void)state;

	for (uint64_t seed = 1; seed <= LIGHT_RUNS; seed++) {
		struct observed *seen = observed_new(seed);

		for (; seen->time < 20; seen->time += 0.005)
			draw_once(seen, 8192, 0.35e-3,
			        sim_uniform(&seen->random) < 0.025 ? 1.5e-3 : 0.2e-3);
		for (; seen->time < 27; seen->time += 0.01)
			draw_once(seen, 65536, 2.8e-3, 1.5e-3);
		told += look(seen).changed;
		free(seen);
	}
	assert_in_range(told, 9 * LIGHT_RUNS / 10, LIGHT_RUNS);
}

static void bad_input_is_refused(void **state)
{
	static const struct mtl_phase_options bad[] = {{NAN, 1, 1, 0.5}, {0, INFINITY, 1, 0.5},
	        {0, 1, 0, 0.5}, {0, 1, 1, 0}, {0, 1, 1, 1}};
	struct mtl_observation o = {.moment = 0.1, .deadline = 0.1, .weight = 1, .slots = 4};
	struct mtl_phase_options options = {0, 1, 1, 0.5};
	struct mtl_phase phase = {.probability = 7};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mtl_phase_from_observations(&o, 1, &bad[i], &phase), -EINVAL);
	o.slots = 5;
	assert_int_equal(mtl_phase_from_observations(&o, 1, &options, &phase), -EINVAL);
	assert_true(phase.probability == 7);
	o.slots = 4;
	assert_int_equal(mtl_phase_from_observations(&o, 1, &options, &phase), 0);
	assert_false(phase.changed);
	assert_true(isnan(phase.moment));
	assert_int_equal(mtl_phase_from_observations(NULL, 0, &options, &phase), 0);
	assert_false(phase.changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(no_change_is_told_of_what_stays),
	        cmocka_unit_test(nor_of_what_changes_all_the_time),
	        cmocka_unit_test(neighbours_alike_are_dispersion),
	        cmocka_unit_test(changes_are_told_soon),
	        cmocka_unit_test(turns_of_five_seconds_are_followed),
	        cmocka_unit_test(few_light_draws_beside_heavy_ones),
	        cmocka_unit_test(bad_input_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

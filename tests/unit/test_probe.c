/* SPDX-License-Identifier: MIT */
/* What a probe concludes: from simulated caches with known ways, from made-up curves of latency,
 * with the noise of a busy machine; the object it answers with. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../cli/probe.h"
#include "json_fields.h"

#define KIB 1024.0
#define MIB (1024 * KIB)
#define HIT 1.15
#define MISS 4.2
#define REPEATS 41
#define WAYS_MOST 32
#define LINES_MOST 64

/* --- a cache, and noise */

enum policy { LRU, RANDOM };

struct one_set {
	unsigned ways, n;
	int lines[WAYS_MOST]; /* most recent first */
};

static unsigned short seed[3];

static bool access_set(struct one_set *set, int line, enum policy policy)
{
	unsigned at = 0;

	while (at < set->n && set->lines[at] != line)
		at++;
	bool hit = at < set->n;

	if (!hit && set->n == set->ways)
		at = policy == LRU ? set->ways - 1 : (unsigned)nrand48(seed) % set->ways;
	else if (!hit)
		at = set->n++;
	memmove(set->lines + 1, set->lines, at * sizeof(*set->lines));
	set->lines[0] = line;
	return hit;
}

/* Nanoseconds of an access when so many lines of one set are visited in turn. */
static double chase(unsigned ways, unsigned lines, enum policy policy)
{
	struct one_set set = {.ways = ways};
	unsigned misses = 0, rounds = 60;

	for (unsigned i = 0; i < rounds * lines; i++)
		if (!access_set(&set, (int)(i % lines), policy) && i >= 20 * lines)
			misses++;
	return HIT + (MISS - HIT) * misses / ((rounds - 20) * lines);
}

/* Changes of frequency that last, jitter, and interruptions now and then. */
static double noisy(double nanoseconds, unsigned repeat, double share)
{
	double frequency = repeat / 7 % 2 ? 1.16 : 1;
	double jitter = 1 + share * (erand48(seed) - 0.5);

	return nanoseconds * frequency * jitter * (erand48(seed) < 0.1 ? 5 : 1);
}

struct experiment {
	unsigned ways, predicted, first, last;
	enum policy policy;
	bool broken; /* control */
	double noise;
};

static struct probe_step run(struct experiment e)
{
	struct probe_row rows[LINES_MOST];
	struct probe_step step = {.predicted = e.predicted};
	unsigned n = 0;

	seed[0] = 4711;
	for (unsigned lines = e.first; lines <= e.last; lines++) {
		double aliased[REPEATS], spread[REPEATS], reference[REPEATS];
		double slow = chase(e.ways, lines, e.policy);

		for (unsigned k = 0; k < REPEATS; k++) {
			aliased[k] = noisy(slow, k, e.noise);
			spread[k] = noisy(e.broken ? slow : HIT, k, e.noise);
			reference[k] = noisy(HIT, k, e.noise);
		}
		rows[n++] = probe_row_of(lines, aliased, spread, reference, NULL, REPEATS);
	}
	probe_judge(rows, n, 0, false, &step);
	return step;
}

static void ways_are_confirmed(void **state)
{
	(void)state;
	for (unsigned ways = 2; ways <= 20; ways++) {
		struct probe_step step = run((struct experiment){.ways = ways,
		        .predicted = ways + 1,
		        .first = 2,
		        .last = 2 * ways + 8,
		        .noise = 0.1});

		assert_int_equal(step.verdict, PROBE_CONFIRMED);
		assert_int_equal(step.measured, ways + 1);
		assert_true(step.step_ratio >= 2.5);
		assert_true(step.control_ratio < 1.15);
	}
}

static void other_ways_differ(void **state)
{
	struct probe_step step =
	        run((struct experiment){.ways = 12, .predicted = 9, .first = 2, .last = 24});

	(void)state;
	assert_int_equal(step.verdict, PROBE_DIFFERS);
	assert_int_equal(step.measured, 13);
	assert_non_null(strstr(step.reason, "at 13 and not at 9"));
}

static void a_broken_control_is_found_out(void **state)
{
	struct probe_step step = run((struct experiment){
	        .ways = 8, .predicted = 9, .first = 2, .last = 24, .broken = true, .noise = 0.1});

	(void)state;
	assert_int_equal(step.verdict, PROBE_CONTROL_BROKEN);
	assert_int_equal(step.measured, 0);
	assert_true(step.control_ratio > 2);
}

static void no_step_is_no_result(void **state)
{
	struct probe_step step =
	        run((struct experiment){.ways = 30, .predicted = 9, .first = 2, .last = 24});

	(void)state;
	assert_int_equal(step.verdict, PROBE_NOT_MEASURABLE);
	assert_int_equal(step.measured, 0);
	assert_non_null(strstr(step.reason, "no step up to 24"));
}

static void what_begins_slow_is_no_step(void **state)
{
	struct probe_step step =
	        run((struct experiment){.ways = 8, .predicted = 9, .first = 14, .last = 24});

	(void)state;
	assert_int_equal(step.verdict, PROBE_NOT_MEASURABLE);
	assert_int_equal(step.measured, 0);
}

/* Random replacement keeps some of the lines: the rise is gradual, and w is not read off it. */
static void random_replacement_is_never_a_wrong_number(void **state)
{
	(void)state;
	for (unsigned ways = 4; ways <= 16; ways++) {
		struct probe_step step = run((struct experiment){.ways = ways,
		        .predicted = ways + 1,
		        .first = 2,
		        .last = 2 * ways + 8,
		        .policy = RANDOM,
		        .noise = 0.1});

		assert_true(step.verdict == PROBE_NOT_MEASURABLE ||
		            (step.verdict == PROBE_CONFIRMED && step.measured == ways + 1));
	}
}

/* However noisy, a number that is given is the right one. */
static void noise_is_never_a_wrong_number(void **state)
{
	static const double shares[] = {0.2, 0.5, 1, 1.6};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct probe_step step = run((struct experiment){
		        .ways = 8, .predicted = 9, .first = 2, .last = 24, .noise = shares[i]});

		assert_true(step.verdict == PROBE_NOT_MEASURABLE ||
		            (step.verdict == PROBE_CONFIRMED && step.measured == 9));
	}
}

static void nothing_predicted_nothing_confirmed(void **state)
{
	struct probe_step step = run((struct experiment){.ways = 8, .first = 2, .last = 24});

	(void)state;
	assert_int_equal(step.verdict, PROBE_NOT_MEASURABLE);
	assert_int_equal(step.measured, 9);
}

/* As measured on a core whose other thread was busy: it looks like 10 ways, and there are 12. */
static void ways_that_others_use_are_no_fewer_ways(void **state)
{
	static const double aliased[] = {
	        1, 1, 1, 1.02, 1.04, 1.1, 2.1, 2.6, 3.4, 3.5, 3.5, 3.5, 3.5};
	struct probe_row rows[sizeof(aliased) / sizeof(aliased[0])];
	struct probe_step step = {.predicted = 13};
	unsigned n = sizeof(aliased) / sizeof(aliased[0]);

	(void)state;
	for (unsigned i = 0; i < n; i++)
		rows[i] = (struct probe_row){
		        .count = 5 + i, .aliased = aliased[i], .spread = 1, .noise = 0.02};
	probe_judge(rows, n, 0, false, &step);
	assert_int_equal(step.verdict, PROBE_NOT_MEASURABLE);
	assert_int_equal(step.measured, 0);
	assert_non_null(strstr(step.reason, "a ramp and not a step"));
}

/* Pages of a TLB of 96 entries, some of which are taken: it may rise over some rows. */
static void a_tlb_may_be_off_a_little(void **state)
{
	struct probe_row rows[40];
	struct probe_step step = {.predicted = 97};
	unsigned n = 0;

	(void)state;
	for (unsigned pages = 16; pages <= 160; pages += 4, n++)
		rows[n] = (struct probe_row){.count = pages,
		        .aliased = pages < 88   ? 1
		                   : pages < 96 ? 1.4
		                                : 2.7,
		        .spread = 1.02,
		        .noise = 0.02};
	probe_judge(rows, n, 0.15, true, &step);
	assert_int_equal(step.verdict, PROBE_CONFIRMED);
	assert_int_equal(step.measured, 96);
	step.predicted = 65;
	probe_judge(rows, n, 0.15, true, &step);
	assert_int_equal(step.verdict, PROBE_DIFFERS);
}

/* --- repeats */

struct script {
	const struct probe_step *steps;
	unsigned at;
};

static int play(void *userdata, struct probe_step *step)
{
	struct script *script = userdata;

	*step = script->steps[script->at++];
	return 0;
}

#define C9                                                                                         \
	{                                                                                          \
		.verdict = PROBE_CONFIRMED, .measured = 9                                          \
	}
#define D8                                                                                         \
	{                                                                                          \
		.verdict = PROBE_DIFFERS, .measured = 8                                            \
	}
#define D7                                                                                         \
	{                                                                                          \
		.verdict = PROBE_DIFFERS, .measured = 7                                            \
	}
#define NO                                                                                         \
	{                                                                                          \
		.verdict = PROBE_NOT_MEASURABLE                                                    \
	}

static void numbers_not_predicted_are_measured_twice(void **state)
{
	static const struct {
		struct probe_step steps[4];
		enum probe_verdict verdict;
		unsigned measured, runs;
	} cases[] = {
	        {{C9}, PROBE_CONFIRMED, 9, 1},
	        {{D8, D8}, PROBE_DIFFERS, 8, 2},
	        {{D8, C9, C9}, PROBE_CONFIRMED, 9, 3},
	        {{D8, D7, NO, NO}, PROBE_NOT_MEASURABLE, 0, 4},
	        {{D8, C9, D8, C9}, PROBE_NOT_MEASURABLE, 0, 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct script script = {cases[i].steps, 0};
		struct probe_step step = {.predicted = 9};

		assert_int_equal(probe_repeat(play, &script, &step, 0), 0);
		assert_int_equal(step.verdict, cases[i].verdict);
		assert_int_equal(step.measured, cases[i].measured);
		assert_int_equal(script.at, cases[i].runs);
	}
}

/* --- capacities */

#define CACHES_MOST 3

struct hierarchy {
	double bytes[CACHES_MOST], nanoseconds[CACHES_MOST + 1];
	unsigned n;
};

/* Pages come at random: a set is over its ways with a probability that passes 1/2 at the size. */
static double latency(const struct hierarchy *h, double bytes)
{
	double nanoseconds = h->nanoseconds[0];

	for (unsigned i = 0; i < h->n; i++)
		nanoseconds += (h->nanoseconds[i + 1] - h->nanoseconds[i]) /
		               (1 + exp(-8 * log2(bytes / h->bytes[i])));
	return nanoseconds;
}

static struct probe_curve curve_of(const struct hierarchy *h, double most, double noise)
{
	struct probe_curve curve = {0};

	seed[0] = 42;
	for (double bytes = 4096; bytes <= most; bytes *= exp2(0.25), curve.n++) {
		curve.bytes[curve.n] = bytes;
		curve.quiet[curve.n] = latency(h, bytes) * (1 + noise * (erand48(seed) - 0.3));
	}
	return curve;
}

static const struct hierarchy usual = {{48 * KIB, MIB, 16 * MIB}, {1.15, 4.2, 18, 130}, 3};

static void capacities_are_found(void **state)
{
	static const double noises[] = {0, 0.1, 0.25};

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct probe_curve curve = curve_of(&usual, 128 * MIB, noises[k]);
		double bytes[CACHE_LEVELS_MAX];

		assert_int_equal(probe_capacities(&curve, bytes, CACHE_LEVELS_MAX), 3);
		for (unsigned i = 0; i < 3; i++)
			assert_true(fabs(log2(bytes[i] / usual.bytes[i])) < log2(1.25));
	}
}

static void plateaus_are_found(void **state)
{
	struct probe_curve curve = curve_of(&usual, 128 * MIB, 0.1);
	struct probe_plateau plateaus[4];
	double logs[PROBE_SIZES_MAX];

	(void)state;
	assert_int_equal(probe_plateaus(&curve, logs, plateaus, 4), 4);
	for (unsigned i = 0; i < 4; i++)
		assert_true(fabs(log2(plateaus[i].nanoseconds / usual.nanoseconds[i])) < 0.4);
}

/* With somebody else in the third cache memory follows the second: its size would come out wrong.
 */
static void a_hidden_level_hides_capacities(void **state)
{
	static const struct hierarchy hidden = {{48 * KIB, MIB}, {1.15, 4.2, 130}, 2};
	struct probe_curve curve = curve_of(&hidden, 64 * MIB, 0.1);
	double bytes[CACHE_LEVELS_MAX];

	(void)state;
	assert_int_equal(probe_capacities(&curve, bytes, CACHE_LEVELS_MAX), 2);
	assert_true(fabs(log2(bytes[0] / hidden.bytes[0])) < log2(1.25));
	assert_true(isnan(bytes[1]));
}

static void what_is_flat_has_no_capacity(void **state)
{
	static const struct hierarchy flat = {{0}, {1.15}, 0};
	struct probe_curve curve = curve_of(&flat, MIB, 0.1);
	double bytes[CACHE_LEVELS_MAX];

	(void)state;
	assert_int_equal(probe_capacities(&curve, bytes, CACHE_LEVELS_MAX), 0);
}

static struct probe_level *level_of(struct probe *probe, unsigned level, double said,
        enum probe_verdict verdict, double measured)
{
	static const struct probe nothing;
	double capacities[CACHE_LEVELS_MAX] = {[0] = NAN};

	*probe = nothing;
	probe->n_levels = 1;
	probe->levels[0].said = (struct cache_level){.level = level, .size_bytes = said};
	probe->levels[0].step.verdict = verdict;
	for (unsigned i = 0; i < CACHE_LEVELS_MAX; i++)
		capacities[i] = measured;
	probe_judge_capacities(probe, capacities, CACHE_LEVELS_MAX);
	return &probe->levels[0];
}

static void capacities_count_where_ways_do_not(void **state)
{
	static struct probe probe;

	(void)state;
	assert_int_equal(level_of(&probe, 1, 48 * KIB, PROBE_CONFIRMED, 10 * KIB)->step.verdict,
	        PROBE_CONFIRMED);
	assert_int_equal(level_of(&probe, 2, MIB, PROBE_NOT_MEASURABLE, 700 * KIB)->step.verdict,
	        PROBE_NOT_MEASURABLE);
	assert_int_equal(level_of(&probe, 2, MIB, PROBE_NOT_MEASURABLE, 300 * KIB)->step.verdict,
	        PROBE_DIFFERS);
	assert_int_equal(level_of(&probe, 3, 508 * MIB, PROBE_NOT_MEASURABLE, MIB)->step.verdict,
	        PROBE_NOT_MEASURABLE);
	assert_int_equal(level_of(&probe, 2, MIB, PROBE_CONTROL_BROKEN, MIB / 4)->step.verdict,
	        PROBE_CONTROL_BROKEN);
	assert_int_equal(level_of(&probe, 2, MIB, PROBE_NOT_MEASURABLE, NAN)->step.verdict,
	        PROBE_NOT_MEASURABLE);
}

/* --- predictions and answers */

static const struct cache_geometry said = {.source = CACHE_FROM_SYSFS,
        .levels = {{.level = 1,
                           .type = "Data",
                           .size_bytes = 48 * KIB,
                           .ways = 12,
                           .sets = 64,
                           .line_bytes = 64},
                {.level = 2, .type = "Unified", .size_bytes = MIB}},
        .n = 2,
        .tlb_entries = 96};

static void predictions_follow(void **state)
{
	static struct probe probe;

	(void)state;
	probe_predict(&said, &probe);
	assert_int_equal(probe.n_levels, 2);
	assert_int_equal(probe.levels[0].step.predicted, 13);
	assert_int_equal(probe.levels[1].step.predicted, 0);
	assert_int_equal(probe.tlb.step.predicted, 97);
}

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(object, name, &value));
	return value;
}

static void the_object_has_its_members(void **state)
{
	static const char *const members[] = {"level", "type", "size_bytes", "ways", "sets",
	        "line_bytes", "aliasing_stride_bytes", "predicted_onset", "measured_onset",
	        "step_ratio", "control_ratio", "measured_capacity_bytes", "verdict", "reason"};
	static const char *const of_tlb[] = {"page_bytes", "predicted_entries", "measured_entries",
	        "measured_reach_bytes", "step_ratio", "control_ratio", "huge_page_ratio", "verdict",
	        "reason"};
	_cleanup_json_ struct json_object *object = NULL;
	static struct probe probe;
	struct json_object *level;

	(void)state;
	probe_predict(&said, &probe);
	assert_int_equal(probe_to_json(&probe, &object), 0);
	assert_null(member(object, "tlb"));
	json_object_put(object);
	probe.has_tlb = true;
	assert_int_equal(probe_to_json(&probe, &object), 0);
	level = json_object_array_get_idx(member(object, "levels"), 0);
	assert_int_equal(json_object_object_length(level), sizeof(members) / sizeof(members[0]));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		member(level, members[i]);
	for (size_t i = 0; i < sizeof(of_tlb) / sizeof(of_tlb[0]); i++)
		member(member(object, "tlb"), of_tlb[i]);
	assert_int_equal(json_object_get_int(member(level, "aliasing_stride_bytes")), 4096);
	assert_int_equal(json_object_get_int(member(level, "predicted_onset")), 13);
	assert_null(member(level, "measured_onset"));
	assert_string_equal(json_object_get_string(member(level, "verdict")), "not-measurable");
	assert_string_equal(json_object_get_string(member(object, "source")), "sysfs");
	level = json_object_array_get_idx(member(object, "levels"), 1);
	assert_null(member(level, "ways"));
}

/* What is written is what is read again. */
static void the_object_is_a_geometry(void **state)
{
	_cleanup_json_ struct json_object *object = NULL;
	struct cache_geometry geometry;
	static struct probe probe = {.cpu = {.vendor = "GenuineIntel", .family = "6"}};

	(void)state;
	probe_predict(&said, &probe);
	probe.levels[0].step.measured = 9;
	probe.levels[0].step.verdict = PROBE_DIFFERS;
	probe.levels[0].capacity_bytes = 33 * KIB;
	probe.levels[1].capacity_bytes = 300 * KIB;
	assert_int_equal(probe_to_json(&probe, &object), 0);
	assert_int_equal(cache_geometry_from_probe(object, &probe.cpu, &geometry), 0);
	assert_int_equal(geometry.n, 2);
	assert_int_equal(geometry.levels[0].ways, 8);
	assert_int_equal(geometry.levels[0].sets, 64);
	assert_true(geometry.levels[0].size_bytes == 32 * KIB);
	assert_true(geometry.levels[1].size_bytes == 300 * KIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(ways_are_confirmed),
	        cmocka_unit_test(other_ways_differ),
	        cmocka_unit_test(a_broken_control_is_found_out),
	        cmocka_unit_test(no_step_is_no_result),
	        cmocka_unit_test(what_begins_slow_is_no_step),
	        cmocka_unit_test(random_replacement_is_never_a_wrong_number),
	        cmocka_unit_test(noise_is_never_a_wrong_number),
	        cmocka_unit_test(nothing_predicted_nothing_confirmed),
	        cmocka_unit_test(ways_that_others_use_are_no_fewer_ways),
	        cmocka_unit_test(a_tlb_may_be_off_a_little),
	        cmocka_unit_test(numbers_not_predicted_are_measured_twice),
	        cmocka_unit_test(capacities_are_found),
	        cmocka_unit_test(plateaus_are_found),
	        cmocka_unit_test(a_hidden_level_hides_capacities),
	        cmocka_unit_test(what_is_flat_has_no_capacity),
	        cmocka_unit_test(capacities_count_where_ways_do_not),
	        cmocka_unit_test(predictions_follow),
	        cmocka_unit_test(the_object_has_its_members),
	        cmocka_unit_test(the_object_is_a_geometry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

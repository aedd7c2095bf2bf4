/* SPDX-License-Identifier: MIT */
/*
 * `mtl partition` from files: divisions against all divisions tried one by one, a case done by
 * hand, formats, advice that is refused, and input that is.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "command_fixture.h"
#include "demand_fixture.h"

#define CLOSE 1e-9
#define WAYS 8

/* Misses fall to 0.1 at 60; at 20, 40; and slowly. Of 1000 accesses. */
#define CLIFF "20:20:1 40:40:1 60:-:0.1"
#define EARLY "20:50:0.2 40:-:0.15"
#define SLOPE "20:20:0.9 40:45:0.7 60:80:0.55 80:120:0.4 160:-:0.16"

static int partition(char *const *files, const char *const *words)
{
	struct options options = options_of(COMMAND_PARTITION, words);
	char *operands[FILES_MAX];
	int n = 0, code;

	while (files[n]) {
		operands[n] = files[n];
		n++;
	}
	code = run_command(command_partition, &options, n, operands);
	options_done(&options);
	return code;
}

static void near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= CLOSE * fmax(1, fabs(wanted))))
		fail_msg("%.17g is not %.17g", value, wanted);
}

static void is_group(struct json_object *object, size_t i, const char *name, int ways,
        const char *mask, double misses)
{
	struct json_object *group = element(object, "groups", i);

	assert_string_equal(object_text(group, "name"), name);
	assert_int_equal(object_number(group, "ways"), ways);
	assert_string_equal(object_text(group, "mask"), mask);
	near(object_number(group, "misses"), misses);
	near(object_number(group, "miss_ratio"), misses / 1000);
}

/* 5 ways of 20: 3 for the cliff (100 misses), 1 for each other (200, 900): 1200. Equal shares are
 * 2, 2, 1: 1000 + 150 + 900 = 2050. */
static void a_case_by_hand(void **state)
{
	char *files[] = {trace_file("cliff.json", CLIFF, 60), trace_file("early.json", EARLY, 40),
	        trace_file("slope.json", SLOPE, 160), NULL};
	const char *const json[] = {"--ways=5", "--size=100", "--json", NULL};
	const char *const csv[] = {"--ways=5", "--size=100", "--csv", NULL};
	const char *const table[] = {"--ways=5", "--size=100", NULL};
	struct json_object *object;

	(void)state;
	assert_int_equal(partition(files, json), MTL_DONE);
	assert_string_equal(errors, "");
	object = answer();
	is_group(object, 0, "cliff", 3, "0x7", 100);
	is_group(object, 1, "early", 1, "0x8", 200);
	is_group(object, 2, "slope", 1, "0x10", 900);
	near(object_number(object, "total"), 1200);
	near(object_number(object, "equal_share"), 2050);
	near(object_number(object, "regret_bound"), 0);
	assert_true(object_number(object, "advised"));
	assert_string_equal(object_text(object, "advice"), "division");
	assert_string_equal(object_text(element(object, "groups", 0), "reason"),
	        "1 way more than an equal share spares it 900 misses (-90 %)");
	assert_string_equal(object_text(element(object, "groups", 1), "reason"),
	        "1 way fewer than an equal share costs it 50 misses (+33.3 %)");
	json_object_put(object);
	assert_int_equal(partition(files, csv), MTL_DONE);
	assert_true(is_said(output, "name,ways,mask,misses,equal_share,unpartitioned\n"
	                            "\"cliff\",3,0x7,100,1000,"));
	assert_int_equal(partition(files, table), MTL_DONE);
	assert_true(is_said(output, "cliff: 1 way more than an equal share spares it 900 misses"));
	assert_true(
	        is_said(output, "slope: an equal share: one way more would spare it 200 misses, "
	                        "one fewer cost\nit 100"));
	assert_true(is_said(output, "41.5 % fewer misses than with equal shares"));
}

/* What is undivided, from the theory's own function, which its own tests hold. */
static void undivided_is_what_sharing_predicts(void **state)
{
	static const char *const points[] = {CLIFF, EARLY};
	char *files[] = {trace_file("a.json", CLIFF, 60), trace_file("b.json", EARLY, 40), NULL};
	const char *const words[] = {"--ways=5", "--size=100", "--json", NULL};
	const struct mtl_demand *demands[2];
	double time, occupancy[2], misses[2];
	struct json_object *object;
	char text[4096];

	(void)state;
	for (int i = 0; i < 2; i++) {
		trace_text(points[i], i ? 40 : 60, text, sizeof(text));
		demands[i] = demand_of(text, 100);
	}
	assert_int_equal(mtl_demands_share(demands, 2, 100, &time, occupancy, misses), 0);
	assert_int_equal(partition(files, words), MTL_DONE);
	object = answer();
	near(object_number(object, "unpartitioned"), misses[0] + misses[1]);
	near(object_number(element(object, "groups", 0), "unpartitioned"), misses[0]);
	json_object_put(object);
	for (int i = 0; i < 2; i++)
		mtl_demand_free((struct mtl_demand *)demands[i]);
}

/* --- all divisions, one by one */

struct trial {
	struct mtl_demand *demands[3];
	double weights[3];
	unsigned least;
	double way;
};

static double misses_of(const struct trial *trial, int i, unsigned ways)
{
	return mtl_demand_misses(trial->demands[i], ways * trial->way, NULL, NULL);
}

static double total_of(const struct trial *trial, const unsigned *ways)
{
	double total = 0;

	for (int i = 0; i < 3; i++)
		total += trial->weights[i] * misses_of(trial, i, ways[i]);
	return total;
}

static double worst_of(const struct trial *trial, const unsigned *ways)
{
	double worst = 1;

	for (int i = 0; i < 3; i++)
		worst = fmax(worst, (trial->demands[i]->work + misses_of(trial, i, ways[i])) /
		                            (trial->demands[i]->work + misses_of(trial, i, WAYS)));
	return worst;
}

static bool keeps_guarantee(const struct trial *trial, const unsigned *ways)
{
	for (int i = 0; i < 3; i++)
		if (misses_of(trial, i, ways[i]) > misses_of(trial, i, i < WAYS % 3 ? 3 : 2))
			return false;
	return true;
}

/* Least total, and least worst slowdown, of the divisions that an objective allows. */
static void try_all(const struct trial *trial, bool guarantee, double *ret_total, double *ret_worst)
{
	*ret_total = *ret_worst = INFINITY;
	for (unsigned a = trial->least; a <= WAYS; a++) {
		for (unsigned b = trial->least; a + b + trial->least <= WAYS; b++) {
			const unsigned ways[] = {a, b, WAYS - a - b};

			if (guarantee && !keeps_guarantee(trial, ways))
				continue;
			*ret_total = fmin(*ret_total, total_of(trial, ways));
			*ret_worst = fmin(*ret_worst, worst_of(trial, ways));
		}
	}
}

static void ways_of(struct json_object *object, unsigned *ret_ways)
{
	unsigned sum = 0;

	for (size_t i = 0; i < 3; i++) {
		ret_ways[i] = (unsigned)object_number(element(object, "groups", i), "ways");
		sum += ret_ways[i];
	}
	assert_int_equal(sum, WAYS);
}

static void masks_are_contiguous_and_apart(struct json_object *object)
{
	unsigned long at = 0;

	for (size_t i = 0; i < 3; i++) {
		struct json_object *group = element(object, "groups", i);
		unsigned long ways = (unsigned long)object_number(group, "ways");

		assert_int_equal(
		        strtoul(object_text(group, "mask"), NULL, 16), ((1ul << ways) - 1) << at);
		at += ways;
	}
}

static char *random_points(uint64_t *random, char *ret_text)
{
	double ratio = 0.5 + sim_uniform(random) / 2;
	int at = 0, time = 0;

	for (int i = 1; i <= 8; i++) {
		time += 5 + (int)(sim_uniform(random) * 20);
		at += sprintf(ret_text + at, "%s%d:%d:%.3f", i > 1 ? " " : "", i * 10, time, ratio);
		ratio *= sim_uniform(random) < 0.5 ? sim_uniform(random) : 1;
	}
	return ret_text;
}

static void is_best(const struct trial *trial, struct json_object *object, const char *objective)
{
	double total, worst;
	unsigned ways[3];

	ways_of(object, ways);
	masks_are_contiguous_and_apart(object);
	try_all(trial, strcmp(objective, "guarantee") == 0, &total, &worst);
	near(object_number(object, "total"), total_of(trial, ways));
	if (strcmp(objective, "fair") == 0)
		near(worst_of(trial, ways), worst);
	else
		near(total_of(trial, ways), total);
	if (strcmp(objective, "guarantee") == 0)
		assert_true(keeps_guarantee(trial, ways));
}

static void divisions_are_the_best_of_all(void **state)
{
	static const char *const objectives[] = {"total", "fair", "guarantee"};
	static const char *const names[] = {"a.json", "b.json", "c.json"};
	uint64_t random = 6;

	(void)state;
	for (int round = 0; round < 30; round++) {
		struct trial trial = {.weights = {1, 1 + round % 3, 1},
		        .least = 1 + (unsigned)round % 2,
		        .way = 80.0 / WAYS};
		char points[512], text[4096], objective[32], weight[32], least[32];
		const char *const words[] = {"--ways=8", "--size=80", "--json", "--miss-cost=10",
		        objective, weight, least, NULL};
		char *files[4] = {NULL};
		struct json_object *object;

		for (int i = 0; i < 3; i++) {
			files[i] = trace_file(names[i], random_points(&random, points), 80);
			trace_text(points, 80, text, sizeof(text));
			trial.demands[i] = demand_of(text, 10);
		}
		snprintf(objective, sizeof(objective), "--objective=%s", objectives[round % 3]);
		snprintf(weight, sizeof(weight), "--weight=b=%d", 1 + round % 3);
		snprintf(least, sizeof(least), "--least=%u", trial.least);
		assert_int_equal(partition(files, words), MTL_DONE);
		object = answer();
		is_best(&trial, object, objectives[round % 3]);
		json_object_put(object);
		for (int i = 0; i < 3; i++) {
			unlink(files[i]);
			mtl_demand_free(trial.demands[i]);
		}
		n_paths = 0;
	}
}

static void groups_share_where_it_is_better(void **state)
{
	/* a needs 4 ways of 5; b and c touch so little that one is enough for both */
	char *files[] = {trace_file("a.json", "10:10:1 20:20:1 30:30:1 40:-:0.04", 40),
	        trace_file("b.json", "5:900:0.005 10:-:0.005", 5),
	        trace_file("c.json", "5:900:0.005 10:-:0.005", 5), NULL};
	const char *const apart[] = {"--ways=5", "--size=50", "--json", NULL};
	const char *const words[] = {"--ways=5", "--size=50", "--json", "--clusters", NULL};
	struct json_object *object;

	(void)state;
	assert_int_equal(partition(files, apart), MTL_DONE);
	object = answer();
	is_group(object, 0, "a", 2, "0x3", 1000);
	json_object_put(object);
	assert_int_equal(partition(files, words), MTL_DONE);
	object = answer();
	is_group(object, 0, "a", 4, "0xf", 40);
	is_group(object, 1, "b", 1, "0x10", 5);
	is_group(object, 2, "c", 1, "0x10", 5);
	assert_int_equal(object_number(element(object, "groups", 2), "cluster"), 1);
	assert_string_equal(object_text(element(object, "groups", 1), "reason"),
	        "occupies 5B of a part it shares with c");
	assert_true(isnan(object_number(object, "regret_bound"))); /* null */
	json_object_put(object);
}

/* --- live curves and what they leave open */

static struct live steep(double width)
{
	return (struct live){.footprint = 2000,
	        .resolution = 1,
	        .step = 100,
	        .width = width,
	        .misses = {1000, 900, 800, 700, 600, 500, 400, 300, 200, 100},
	        .n = 10};
}

static struct live quick(double width)
{
	return (struct live){.footprint = 2000,
	        .resolution = 1,
	        .step = 100,
	        .width = width,
	        .misses = {500, 10, 10, 10, 10, 10, 10, 10, 10, 10},
	        .n = 10};
}

/* 8 ways for the steep, 2 for the quick: 300 + 10 per CPU second, half of it per second; equal
 * shares: 600 + 10. */
static void certain_curves_give_advice(void **state)
{
	struct live a = steep(0.05), b = quick(0.05);
	char *files[] = {live_file("a.json", &a), live_file("b.json", &b), NULL};
	const char *const words[] = {"--ways=10", "--size=1000", "--json", NULL};
	struct json_object *object, *gain = NULL;

	(void)state;
	assert_int_equal(partition(files, words), MTL_DONE);
	object = answer();
	assert_int_equal(object_number(element(object, "groups", 0), "ways"), 8);
	near(object_number(element(object, "groups", 0), "misses_per_second"), 150);
	near(object_number(object, "total"), 155);
	near(object_number(object, "equal_share"), 305);
	assert_string_equal(object_text(object, "unit"), "second");
	assert_true(json_object_object_get_ex(object, "over_equal_share", &gain));
	near(object_number(gain, "gain"), 150);
	/* a: 285 - 157.5; b, with fewer: 4.75 - 5.25 */
	near(object_number(gain, "low"), 127.5 - 0.5);
	/* a: 315 - 142.5; b, which cannot gain: 0 */
	near(object_number(gain, "high"), 172.5);
	near(object_number(object, "regret_bound"), 0); /* 7, 3: a loses 32.5, b gains 0.5 */
	json_object_put(object);
}

/* a gets 9 ways, b, to whom they are all the same, 1. With 8, 2 a has 0.5 more, by which b, between
 * 4.5 and 5.5 with any number, could have 1 less. That a is uncertain too does not count: it cannot
 * miss less with fewer ways. */
static void regret_by_hand(void **state)
{
	struct live a = {.footprint = 2000,
	        .resolution = 1,
	        .step = 100,
	        .misses = {100, 99, 98, 97, 96, 95, 94, 93, 92, 91},
	        .n = 10};
	struct live b = {.footprint = 2000, .resolution = 1, .step = 100, .width = 0.1, .n = 10};
	char *files[] = {live_file("a.json", &a), NULL, NULL};
	const char *const words[] = {"--ways=10", "--size=1000", "--json", NULL};
	struct json_object *object;

	(void)state;
	for (int i = 0; i < b.n; i++)
		b.misses[i] = 10;
	files[1] = live_file("b.json", &b);
	assert_int_equal(partition(files, words), MTL_DONE);
	object = answer();
	assert_int_equal(object_number(element(object, "groups", 0), "ways"), 9);
	near(object_number(object, "regret_bound"), 0.5);
	json_object_put(object);
	a.width = 0.1;
	b.width = 0;
	files[0] = live_file("c.json", &a);
	files[1] = live_file("d.json", &b);
	assert_int_equal(partition(files, words), MTL_DONE);
	object = answer();
	assert_int_equal(object_number(element(object, "groups", 0), "ways"), 9);
	near(object_number(object, "regret_bound"), 0);
	json_object_put(object);
}

/* 1, 2, 2 ways have more misses than the undivided cache, but there early has more than with an
 * equal share. */
static void what_robs_a_group_is_no_rival_of_a_guarantee(void **state)
{
	char *files[] = {trace_file("cliff.json", CLIFF, 60), trace_file("early.json", EARLY, 40),
	        trace_file("slope.json", SLOPE, 160), NULL};
	const char *const words[] = {"--ways=5", "--size=100", "--objective=guarantee",
	        "--weight=cliff=4", "--json", NULL};
	struct json_object *object;

	(void)state;
	assert_int_equal(partition(files, words), MTL_DONE);
	object = answer();
	near(object_number(object, "total"), 4850);
	assert_true(object_number(object, "unpartitioned") < 4850);
	assert_true(object_number(object, "advised"));
	assert_true(is_said(object_text(object, "verdict"),
	        "undivided, where early misses more than with an equal share"));
	json_object_put(object);
}

static void uncertain_curves_give_none(void **state)
{
	struct live a = steep(0.6), b = quick(0.6);
	char *files[] = {live_file("a.json", &a), live_file("b.json", &b), NULL};
	const char *const words[] = {"--ways=10", "--size=1000", "--json", NULL};

	(void)state;
	assert_int_equal(partition(files, words), MTL_NOT_ENOUGH);
	assert_string_equal(output, "");
	assert_true(is_said(errors, "too uncertain to tell whether the best division (8, 2 ways)"));
	/* least: a falls by nothing, b rises from 0.4 x 5 to 1.6 x 5 */
	assert_true(
	        is_said(errors, "than an equal share, 150 misses/s fewer, or anything from -6 to"));
	assert_true(is_said(errors, "than the cache undivided"));
}

static void fairness_is_uncertain_too(void **state)
{
	struct live a = steep(0.6), b = quick(0.9);
	char *files[] = {live_file("a.json", &a), NULL, NULL};
	const char *const words[] = {
	        "--ways=10", "--size=1000", "--objective=fair", "--miss-cost=1e-3", NULL};

	(void)state;
	b.misses[1] = 200;
	files[1] = live_file("b.json", &b);
	assert_int_equal(partition(files, words), MTL_NOT_ENOUGH);
	assert_true(is_said(errors, "less of the worst slowdown"));
}

static void what_a_curve_does_not_know_is_not_given(void **state)
{
	struct live a = steep(0.01), b = quick(0.01);
	char *files[] = {NULL, NULL, NULL};
	const char *const words[] = {"--ways=10", "--size=1000", NULL};
	const char *const few[] = {"--ways=10", "--size=500", NULL};

	(void)state;
	b.resolution = 350;
	files[0] = live_file("a.json", &a);
	files[1] = live_file("b.json", &b);
	assert_int_equal(partition(files, words), MTL_DONE);
	assert_true(is_said(output, "fewer than 4 ways were"));
	assert_true(is_said(output, "\na         6  600B"));
	a.resolution = 450;
	files[0] = live_file("c.json", &a);
	assert_int_equal(partition(files, few), MTL_NOT_ENOUGH);
	assert_true(is_said(errors, "that of c begins at 450B"));
	assert_true(is_said(errors, "; observe it for longer\n"));
	a.resolution = b.resolution = 0;
	b.step = 450;
	b.footprint = 400;
	files[0] = live_file("d.json", &a);
	files[1] = live_file("e.json", &b);
	assert_int_equal(partition(files, few), MTL_NOT_ENOUGH);
	assert_true(is_said(errors, "that of e begins at 450B"));
	assert_true(is_said(errors, "; give `mtl curve` smaller --sizes\n"));
	files[1] = trace_file("f.json", "450:450:1 600:-:0.1", 600);
	files[0] = trace_file("g.json", "450:450:1 600:-:0.1", 600);
	assert_int_equal(partition(files, few), MTL_NOT_ENOUGH);
	assert_true(is_said(errors, "; give `mtl trace` smaller --sizes\n"));
}

/* Two of the same take half each already. */
static void no_gain_is_no_advice(void **state)
{
	char *files[] = {trace_file("a.json", SLOPE, 160), trace_file("b.json", SLOPE, 160), NULL};
	const char *const words[] = {"--ways=4", "--size=80", "--json", NULL};
	struct json_object *object;

	(void)state;
	assert_int_equal(partition(files, words), MTL_DONE);
	object = answer();
	is_group(object, 0, "a", 2, "0x3", 700);
	assert_false(object_number(object, "advised"));
	assert_string_equal(object_text(object, "advice"), "undivided");
	assert_true(is_said(object_text(object, "verdict"), "better leave the cache undivided"));
	json_object_put(object);
}

/* The early one needs no more than its half, and the stream beside it gains nothing by more than
 * that: undivided it only drives the early one out. */
static void equal_shares_that_do_as_well_are_the_advice(void **state)
{
	char *files[] = {trace_file("early.json", "20:50:0.9 40:-:0.1", 40),
	        trace_file("stream.json", "20:20:1 160:160:1 320:-:0.1", 320), NULL};
	const char *const words[] = {"--ways=4", "--size=80", "--json", NULL};
	struct json_object *object, *over = NULL;

	(void)state;
	assert_int_equal(partition(files, words), MTL_DONE);
	object = answer();
	is_group(object, 0, "early", 2, "0x3", 100);
	assert_true(object_number(object, "unpartitioned") > object_number(object, "total"));
	json_object_object_get_ex(object, "over_equal_share", &over);
	near(object_number(over, "gain"), 0);
	assert_false(object_number(object, "advised"));
	assert_string_equal(object_text(object, "advice"), "equal_shares");
	assert_true(is_said(object_text(object, "verdict"), "; equal shares do as well."));
	json_object_put(object);
}

/* --- what is refused */

static void refused(char *const *files, const char *const *words, int status, const char *said)
{
	assert_int_equal(partition(files, words), status);
	assert_string_equal(output, "");
	assert_true(is_said(errors, said));
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void bad_input_is_refused(void **state)
{
	char *files[] = {trace_file("a.json", CLIFF, 60), trace_file("b.json", EARLY, 40), NULL};
	char *twice[] = {files[0], files[0], NULL}, *none[] = {NULL};
	char *live[] = {files[0], NULL, NULL}, *foreign[] = {files[0], NULL, NULL};
	struct live curve = steep(0);

	(void)state;
	live[1] = live_file("c.json", &curve);
	foreign[1] = file_with("d.json", "[]");
	refused(files, WORDS("--ways=4"), MTL_USAGE, "--ways goes with --size");
	refused(files, WORDS("--ways=3", "--size=100"), MTL_USAGE, "do not make 3 equal ways");
	refused(files, WORDS("--ways=1", "--size=100"), MTL_USAGE, "2 groups are more than 1 way:");
	refused(files, WORDS("--ways=5", "--size=100", "--least=3"), MTL_USAGE,
	        "2 groups cannot have 3 ways each of 5");
	refused(files, WORDS("--ways=5", "--size=100", "--weight=x=2"), MTL_USAGE,
	        "no group is called x");
	refused(files + 1, WORDS("--ways=5", "--size=100"), MTL_USAGE, "name two or more");
	refused(twice, WORDS("--ways=5", "--size=100"), MTL_USAGE, "two operands are called a");
	refused(live, WORDS("--ways=5", "--size=100"), MTL_USAGE,
	        "a is a trace and c a live curve");
	refused(foreign, WORDS("--ways=5", "--size=100"), MTL_FAILED, "d.json is not a curve of");
	refused(files, WORDS("--apply"), MTL_USAGE, "a.json is a file");
	refused(files, WORDS("--revert"), MTL_USAGE, "--revert takes no operands");
	refused(none, WORDS("--ways=5", "--size=100"), MTL_USAGE, "PID|FILE|GROUP... is missing");
	refused(files, WORDS("--root=/nowhere"), MTL_USAGE, "give --ways N and --size SIZE");
}

static void is_bad_option(const char *word, const char *said)
{
	char name[] = "partition", copy[64], *argv[] = {name, copy, NULL}, error[512] = "";
	struct options options;

	options_init(&options);
	snprintf(copy, sizeof(copy), "%s", word);
	assert_true(options_parse(COMMAND_PARTITION, 2, argv, &options, error, sizeof(error)) < 0);
	assert_true(is_said(error, said));
	options_done(&options);
}

static void bad_options_are_refused(void **state)
{
	(void)state;
	is_bad_option("--ways=0", "give 1 to 64");
	is_bad_option("--ways=65", "give 1 to 64");
	is_bad_option("--ways=4x", "give 1 to 64");
	is_bad_option("--least=-1", "give 1 to 64");
	is_bad_option("--objective=best", "choose total, fair or guarantee");
	is_bad_option("--weight=a", "give NAME=W");
	is_bad_option("--weight=a=1,", "give NAME=W");
	is_bad_option("--weight==1", "give NAME=W");
	is_bad_option("--weight=a=0", "not a positive number");
	is_bad_option("--weight=a=inf", "not a positive number");
	is_bad_option("--weight=a=1,b=1,a=2", "'a' is given two weights");
	is_bad_option("--miss-cost=-1", "not a positive number");
	is_bad_option("--miss-cost=0x1", "not a positive number");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, files_setup, files_teardown)
	        TEST(a_case_by_hand),
	        TEST(undivided_is_what_sharing_predicts),
	        TEST(divisions_are_the_best_of_all),
	        TEST(groups_share_where_it_is_better),
	        TEST(certain_curves_give_advice),
	        TEST(regret_by_hand),
	        TEST(what_robs_a_group_is_no_rival_of_a_guarantee),
	        TEST(uncertain_curves_give_none),
	        TEST(fairness_is_uncertain_too),
	        TEST(what_a_curve_does_not_know_is_not_given),
	        TEST(no_gain_is_no_advice),
	        TEST(equal_shares_that_do_as_well_are_the_advice),
	        TEST(bad_input_is_refused),
	        TEST(bad_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

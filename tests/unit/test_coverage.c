/* SPDX-License-Identifier: MIT */
/* Line coverage from exact word statistics: what the inversion itself gets right, and how well. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "line_coverage.h"
#include "simulate.h"

#define BINS 40

static struct mtl_coverage_model model;
static struct mtl_survival survival;
static struct mtl_line_coverage coverage;

/* P(j -> j' words touched) within one step of the grid, and P(j) before it. */
struct truth {
	double words[BINS + 1][WORD_STATES];
	double rates[BINS][WORD_STATES][WORD_STATES];
};

static double choose(int n, int k)
{
	double ways = k >= 0 && k <= n;

	for (int i = 0; i < k && ways > 0; i++)
		ways = ways * (n - i) / (i + 1);
	return ways;
}

/* Each word touched with its own hazard within a step: Binomial(8 - j, hazard) more words. */
static void random_words(struct truth *truth, double hazard, double first)
{
	truth->words[0][0] = first;
	for (unsigned g = 0; g < BINS; g++)
		for (int j = 0; j < WORD_STATES; j++)
			for (int l = j; l < WORD_STATES; l++)
				truth->rates[g][j][l] = choose(8 - j, l - j) * pow(hazard, l - j) *
				                        pow(1 - hazard, 8 - l);
}

/* Of the lines untouched, an equal part of all is touched in each step: by `one` word or by all. */
static void scan_words(struct truth *truth, double one)
{
	for (unsigned g = 0; g < BINS; g++) {
		for (int j = 0; j < WORD_STATES; j++)
			truth->rates[g][j][j] = 1;
		truth->rates[g][0][0] = 1 - 1.0 / (BINS - g);
		truth->rates[g][0][1] = one / (BINS - g);
		truth->rates[g][0][8] = (1 - one) / (BINS - g);
	}
}

static void follow(struct truth *truth)
{
	truth->words[0][0] = 1;
	for (unsigned g = 0; g < BINS; g++)
		for (int j = 0; j < WORD_STATES; j++)
			for (int l = j; l < WORD_STATES; l++)
				truth->words[g + 1][l] +=
				        truth->words[g][j] * truth->rates[g][j][l];
}

/* What `slots` watched words (0: the whole line) would show of it, without any noise. */
static void watch(const struct truth *truth, unsigned kind, double at_risk)
{
	for (unsigned g = 0; g < BINS; g++) {
		survival.at_risk[kind][g] = at_risk;
		for (size_t i = 0; i < model.n_transitions[kind]; i++) {
			const struct mtl_transition *t = &model.transition[kind][i];
			double p = truth->words[g][t->words] *
			           truth->rates[g][t->words][t->words_then] * t->probability;
			survival.occupied[kind][g][t->seen_then] += p;
			if (t->seen_then > t->seen)
				survival.moved[kind][g][t->seen][t->seen_then] += p;
		}
	}
}

static double worst_error(const struct truth *truth, const struct mtl_samples *samples)
{
	double worst = 0;

	mtl_line_coverage_from_survival(&model, &survival, samples, BINS, &coverage);
	for (unsigned g = 0; g < BINS; g++)
		worst = fmax(worst, fabs(coverage.lines[g] - (1 - truth->words[g + 1][0])));
	return worst;
}

static double worst_error_of(struct truth *truth, unsigned kind)
{
	struct mtl_samples samples = {0};

	samples.present[kind] = true;
	memset(&survival, 0, sizeof(survival));
	follow(truth);
	watch(truth, kind, 1);
	return worst_error(truth, &samples);
}

static void model_is_a_probability(void **state)
{
	(void)state;

	for (unsigned kind = 0; kind < KINDS; kind++) {
		double sum[WORD_STATES][WORD_STATES] = {{0}};
		assert_in_range(model.n_transitions[kind], 1, TRANSITIONS_MAX);
		for (size_t i = 0; i < model.n_transitions[kind]; i++) {
			const struct mtl_transition *t = &model.transition[kind][i];
			assert_true(t->seen <= t->seen_then && t->words <= t->words_then);
			sum[t->words][t->words_then] += t->probability;
		}
		for (unsigned j = 0; j < WORD_STATES; j++)
			for (unsigned l = j; l < WORD_STATES; l++)
				assert_true(fabs(sum[j][l] - 1) < 1e-12);
	}
}

/* The formulas against counting every way to draw the words: masks of 8 bits. */
static void model_is_what_counting_gives(void **state)
{
	(void)state;

	for (size_t i = 0; i < model.n_transitions[KIND_QUAD]; i++) {
		const struct mtl_transition *t = &model.transition[KIND_QUAD][i];
		unsigned before = (1u << t->words) - 1, after = (1u << t->words_then) - 1;
		unsigned hits = 0, all = 0;
		for (unsigned mask = 0; mask < 256; mask++) {
			if (__builtin_popcount(mask) != 4)
				continue;
			all++;
			hits += (unsigned)__builtin_popcount(mask & before) == t->seen &&
			        (unsigned)__builtin_popcount(mask & after) == t->seen_then;
		}
		assert_true(fabs(t->probability - (double)hits / all) < 1e-12);
	}
}

static void strides_and_dense_lines(void **state)
{
	static const struct {
		double one, bound;
	} cases[] = {{1, 0.005}, {0, 1e-4}, {0.5, 0.005}, {0.1, 0.005}, {0.9, 0.005}};
	(void)state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (unsigned slots = 3; slots <= 4; slots++) {
			struct truth truth = {0};
			scan_words(&truth, cases[i].one);
			assert_true(worst_error_of(&truth, slots) < cases[i].bound);
		}
}

/* The numbers of THEORY.md: without noise the inversion itself is off by this much at most. */
static void random_words_are_close(void **state)
{
	static const double bound[] = {[2] = 0.01, [3] = 0.004, [4] = 0.002};
	(void)state;

	for (unsigned slots = 2; slots <= 4; slots++) {
		struct truth truth = {0};
		random_words(&truth, 0.02, 1);
		assert_true(worst_error_of(&truth, slots) < bound[slots]);
	}
}

static void whole_lines_are_exact(void **state)
{
	struct truth random = {0}, mixed = {0};
	(void)state;

	random_words(&random, 0.02, 1);
	assert_true(worst_error_of(&random, KIND_WHOLE_LINE) < 1e-4);
	scan_words(&mixed, 0.5);
	assert_true(worst_error_of(&mixed, KIND_WHOLE_LINE) < 1e-4);
}

/* Single words say no more than: between the words touched and eight times as many. */
static void single_words_lie_between(void **state)
{
	struct truth stride = {0}, dense = {0};
	(void)state;

	scan_words(&stride, 1);
	worst_error_of(&stride, KIND_WORD);
	assert_true(coverage.lines[BINS - 1] >= 1.0 / 8 && coverage.lines[BINS - 1] <= 1);
	scan_words(&dense, 0);
	worst_error_of(&dense, KIND_WORD);
	assert_true(coverage.lines[BINS - 1] > 0.98);
}

static void kinds_together(void **state)
{
	struct mtl_samples samples = {
	        .present = {[KIND_WHOLE_LINE] = true, [3] = true, [4] = true}};
	struct truth truth = {0};
	(void)state;

	memset(&survival, 0, sizeof(survival));
	scan_words(&truth, 0.5);
	follow(&truth);
	watch(&truth, 3, 50);
	watch(&truth, 4, 1000);
	watch(&truth, KIND_WHOLE_LINE, 10);
	assert_true(worst_error(&truth, &samples) < 0.002);
	/* one that has nobody at risk any more says nothing, right or wrong */
	for (unsigned g = BINS / 2; g < BINS; g++) {
		survival.at_risk[3][g] = 0;
		memset(survival.moved[3][g], 0, sizeof(survival.moved[3][g]));
	}
	assert_true(worst_error(&truth, &samples) < 0.002);
}

static void nothing_touched_stays_nothing(void **state)
{
	struct truth truth = {0};
	(void)state;

	for (unsigned g = 0; g < BINS; g++)
		for (unsigned j = 0; j < WORD_STATES; j++)
			truth.rates[g][j][j] = 1;
	assert_true(worst_error_of(&truth, KIND_QUAD) == 0);
}

/* Coverage never falls, whatever is seen. */
static void coverage_rises(void **state)
{
	struct mtl_samples samples = {.present = {[2] = true, [4] = true}};
	uint64_t random = 21;
	(void)state;

	for (unsigned run = 0; run < sim_runs(200); run++) {
		memset(&survival, 0, sizeof(survival));
		for (unsigned kind = 2; kind <= 4; kind += 2) {
			double now[STATES] = {1};
			for (unsigned g = 0; g < BINS; g++) {
				survival.at_risk[kind][g] = sim_uniform(&random);
				for (unsigned j = 0; j < kind; j++)
					for (unsigned k = j + 1; k <= kind; k++) {
						double p = now[j] * sim_uniform(&random) / 8;
						survival.moved[kind][g][j][k] = p;
						now[j] -= p;
						now[k] += p;
					}
				memcpy(survival.occupied[kind][g], now, sizeof(now));
			}
		}
		mtl_line_coverage_from_survival(&model, &survival, &samples, BINS, &coverage);
		for (unsigned g = 0; g < BINS; g++) {
			assert_true(coverage.lines[g] >= 0 && coverage.lines[g] <= 1);
			assert_true(g == 0 || coverage.lines[g] >= coverage.lines[g - 1] - 1e-12);
		}
	}
}

/* For strides P(line touched) = 2 P(k = 1), for dense lines P(k = 4): the influence says so. */
static void influence_is_the_slope(void **state)
{
	static struct mtl_influence influence;
	struct mtl_sample one = {.weight = 1, .decay = 1}, sample[1000];
	struct mtl_samples samples = {sample, 1000, 0, {[KIND_QUAD] = true}};
	struct truth stride = {0}, dense = {0};
	(void)state;

	for (size_t i = 0; i < 1000; i++)
		sample[i] = one;
	scan_words(&stride, 1);
	worst_error_of(&stride, KIND_QUAD);
	mtl_influence_from_coverage(&model, &survival, &samples, BINS, &coverage, &influence);
	double(*of)[STATES] = influence.of[KIND_QUAD];
	assert_true(fabs(of[BINS / 2][1] - of[BINS / 2][0] - 2) < 0.2);
	scan_words(memset(&dense, 0, sizeof(dense)), 0);
	worst_error_of(&dense, KIND_QUAD);
	mtl_influence_from_coverage(&model, &survival, &samples, BINS, &coverage, &influence);
	assert_true(fabs(of[BINS / 2][4] - of[BINS / 2][0] - 1) < 0.1);
}

static int setup(void **state)
{
	(void)state;
	mtl_coverage_model(&model);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(model_is_a_probability),
	        cmocka_unit_test(model_is_what_counting_gives),
	        cmocka_unit_test(strides_and_dense_lines),
	        cmocka_unit_test(random_words_are_close),
	        cmocka_unit_test(whole_lines_are_exact),
	        cmocka_unit_test(single_words_lie_between),
	        cmocka_unit_test(kinds_together),
	        cmocka_unit_test(nothing_touched_stays_nothing),
	        cmocka_unit_test(coverage_rises),
	        cmocka_unit_test(influence_is_the_slope),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

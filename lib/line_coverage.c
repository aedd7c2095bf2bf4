/* SPDX-License-Identifier: MIT */
/*
 * Line coverage: from how many watched words were touched to whether the line was.
 *
 * A quad watches s of a line's 8 words, drawn at random. When j words of the line are touched by T,
 * the number k of watched ones that are is hypergeometric:
 *
 *     P(k | j) = C(j, k) C(8 - j, s - k) / C(8, s)
 *
 * so the occupation probabilities P(k) of the watched words are a mixture over j. Its weights P(j)
 * are found by maximum likelihood (expectation-maximisation); P(line touched) = 1 - P(j = 0).
 * Observations with fewer words, or with the whole line watched (k = 1 if and only if j > 0), enter
 * the same likelihood with the weight they have at risk.
 *
 * Four words fix the first four factorial moments of j and no more, so P(j = 0) is not always
 * determined by P(k) alone: among mixtures that fit equally well the iteration ends in one near its
 * start, which is the solution for the next shorter window. At j in {0, 1} (strides), {0, 8}
 * (dense) and mixtures of the two it is determined. The number of iterations is bounded: more of
 * them follow the noise of P(k) further (docs/THEORY.md has the simulation).
 */

#include <math.h>
#include <string.h>
#include "line_coverage.h"

#define FIRST_ITERATIONS 200
#define NEXT_ITERATIONS 40
/* The iteration has settled when P(line touched) moves by less than this fraction. */
#define SETTLED 1e-6
/* A start keeps every j possible with at least this share spread over all. */
#define SPREAD 0.05

static double choose(unsigned n, unsigned k)
{
	double ways = 1;

	if (k > n)
		return 0;
	for (unsigned i = 1; i <= k; i++)
		ways = ways * (n - k + i) / i;
	return ways;
}

void mtl_coverage_model(struct mtl_coverage_model *ret_model)
{
	memset(ret_model, 0, sizeof(*ret_model));
	for (unsigned j = 0; j < WORD_STATES; j++) {
		ret_model->likelihood[KIND_WHOLE_LINE][j][j > 0] = 1;
		for (unsigned s = KIND_WORD; s < KINDS; s++)
			for (unsigned k = 0; k <= s; k++)
				ret_model->likelihood[s][j][k] =
				        choose(j, k) * choose(MTL_WORDS_PER_LINE - j, s - k) /
				        choose(MTL_WORDS_PER_LINE, s);
	}
}

/* One kind's share of an iteration: gain[j] += share x sum_k P(k) P(k | j) / P_model(k). */
static void add_gain(const double likelihood[WORD_STATES][STATES], const double occupied[STATES],
        double share, const double words[WORD_STATES], double gain[WORD_STATES])
{
	double ratio[STATES] = {0};

	for (unsigned j = 0; j < WORD_STATES; j++)
		for (unsigned k = 0; k < STATES; k++)
			ratio[k] += likelihood[j][k] * words[j];
	for (unsigned k = 0; k < STATES; k++)
		ratio[k] = ratio[k] > 0 ? share * occupied[k] / ratio[k] : 0;
	for (unsigned j = 0; j < WORD_STATES; j++)
		for (unsigned k = 0; k < STATES; k++)
			gain[j] += likelihood[j][k] * ratio[k];
}

static void normalise(double *values, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += values[i];
	for (unsigned i = 0; i < n && sum > 0; i++)
		values[i] /= sum;
}

/* What each kind says weighs as much as it still has at risk. */
static void shares_at(const struct mtl_survival *survival, const struct mtl_samples *samples,
        size_t g, double ret_share[KINDS])
{
	for (unsigned kind = 0; kind < KINDS; kind++)
		ret_share[kind] = samples->present[kind] ? fmax(survival->at_risk[kind][g], 0) : 0;
	normalise(ret_share, KINDS);
	for (unsigned kind = 0; kind < KINDS; kind++)
		if (ret_share[kind] < 1e-9)
			ret_share[kind] = 0;
}

/* Maximum likelihood at window g, from the start in words[]; returns P(line touched). */
static double fit(const struct mtl_coverage_model *model, const struct mtl_survival *survival,
        const double share[KINDS], size_t g, double words[WORD_STATES])
{
	for (unsigned left = g ? NEXT_ITERATIONS : FIRST_ITERATIONS; left > 0; left--) {
		double gain[WORD_STATES] = {0}, before = words[0];
		for (unsigned kind = 0; kind < KINDS; kind++)
			if (share[kind] > 0)
				add_gain(model->likelihood[kind], survival->occupied[kind][g],
				        share[kind], words, gain);
		for (unsigned j = 0; j < WORD_STATES; j++)
			words[j] *= gain[j];
		normalise(words, WORD_STATES);
		if (fabs(words[0] - before) <= SETTLED * (1 - words[0]))
			break;
	}
	return 1 - words[0];
}

/* The solution for the window before, or no idea at all, with every j left possible. */
static void start_at(const struct mtl_line_coverage *coverage, size_t g, double words[WORD_STATES])
{
	for (unsigned j = 0; j < WORD_STATES; j++)
		words[j] = (g ? (1 - SPREAD) * coverage->words[g - 1][j] : 0) +
		           (g ? SPREAD : 1) / WORD_STATES;
}

void mtl_line_coverage_from_survival(const struct mtl_coverage_model *model,
        const struct mtl_survival *survival, const struct mtl_samples *samples, size_t bins,
        struct mtl_line_coverage *ret_coverage)
{
	double share[KINDS];

	for (size_t g = 0; g < bins; g++) {
		shares_at(survival, samples, g, share);
		start_at(ret_coverage, g, ret_coverage->words[g]);
		double lines = fit(model, survival, share, g, ret_coverage->words[g]);
		ret_coverage->lines[g] = g ? fmax(ret_coverage->lines[g - 1], lines) : lines;
	}
}

/* Slope of the fit towards "all in state k", over a step as large as the noise of P(k). */
static double influence_of(const struct mtl_coverage_model *model, struct mtl_survival *survival,
        const double share[KINDS], const struct mtl_line_coverage *coverage, size_t g,
        unsigned kind, unsigned k, double effective)
{
	double *occupied = survival->occupied[kind][g], kept[STATES], words[WORD_STATES];
	double variance = fmax(occupied[k] * (1 - occupied[k]), 1 / effective) / effective;
	double step = fmin(sqrt(variance), 0.5);

	memcpy(kept, occupied, sizeof(kept));
	for (unsigned i = 0; i < STATES; i++)
		occupied[i] = (1 - step) * kept[i] + (i == k ? step : 0);
	start_at(coverage, g, words);
	double moved = fit(model, survival, share, g, words);
	memcpy(occupied, kept, sizeof(kept));
	return (moved - (1 - coverage->words[g][0])) / step;
}

void mtl_influence_from_coverage(const struct mtl_coverage_model *model,
        struct mtl_survival *survival, const struct mtl_samples *samples, size_t bins,
        const struct mtl_line_coverage *coverage, struct mtl_influence *ret_influence)
{
	double share[KINDS], effective = mtl_effective_observations(samples);

	memset(ret_influence, 0, sizeof(*ret_influence));
	for (size_t g = 0; g < bins; g++) {
		shares_at(survival, samples, g, share);
		for (unsigned kind = 0; kind < KINDS; kind++)
			for (unsigned k = 0; k < STATES; k++)
				if (share[kind] > 0 && survival->occupied[kind][g][k] > 0)
					ret_influence->of[kind][g][k] = influence_of(model,
					        survival, share, coverage, g, kind, k, effective);
	}
}

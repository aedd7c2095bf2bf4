/* SPDX-License-Identifier: MIT */
/*
 * Line coverage: from how many watched words were touched to whether the line was.
 *
 * A quad watches s of a line's 8 words, drawn at random. When j words of the line are touched, the
 * number k of watched ones that are is hypergeometric:
 *
 *     P(k | j) = C(j, k) C(8 - j, s - k) / C(8, s)
 *
 * and when the line goes on from j to j' touched words, whatever makes it do so, the new ones are
 * spread over the untouched ones alike:
 *
 *     P(k' | k, j, j') = C(s - k, k' - k) C(8 - j - s + k, j' - j - k' + k) / C(8 - j, j' - j)
 *
 * Starting from P(j = 0) = 1 at T = 0, each step of the grid finds the transition probabilities
 * Q(j -> j') that maximise the likelihood of the observed steps k -> k' (expectation-maximisation),
 * and moves P(j) on by them, then a little towards the counts at the step's end, lest the errors of
 * all steps add up; P(line touched by T) = 1 - P(j = 0). That the steps are used, and not
 * only how many words are touched at T, is worth having: counts at one T fix no more than the first
 * four moments of j, and P(j = 0) at 3/4 covered by random words is then 1.4 times as noisy
 * (docs/THEORY.md). Observations with fewer words, or with the whole line watched (k = 1 if and
 * only if j > 0), enter the same likelihood with the weight they have at risk. Single words alone
 * do not tell lines from words: the answer then lies between the two.
 *
 * A line with a touched word is seen to be touched with probability s / 8 at least, so no more than
 * 8 / s of what is seen to be touched in the end is touched at all. The rest, most of a big memory
 * with a small hot set, is left out of the fit (`pool` is what stays): among many lines that are
 * never touched, the iteration takes touched ones of which nothing was seen for more of these.
 */

#include <math.h>
#include <string.h>
#include "line_coverage.h"

/*
 * Steps of expectation-maximisation by kind: fewer words take more of them to tell apart what a
 * line did; more than that follows the noise further.
 */
static const unsigned iterations[KINDS] = {32, 32, 128, 64, 64};

/* The iteration has settled when it moves less than this fraction of what moves in the step. */
#define SETTLED 1e-4
/* At first, half of what moves is one more word, half is spread over all numbers above. */
#define ONE_MORE 0.5
/* Iterations on the counts after each step. */
#define CORRECTIONS 3
/* What is seen to be touched may be so much less than expected by chance. */
#define POOL_SLACK 1.25
/* The start of a fit to the counts keeps every j possible with this share spread over all. */
#define SPREAD 0.05

static double choose(int n, int k)
{
	double ways = 1;

	if (k < 0 || k > n)
		return 0;
	for (int i = 1; i <= k; i++)
		ways = ways * (n - k + i) / i;
	return ways;
}

static double seen_given_words(unsigned kind, int j, int k)
{
	if (kind == KIND_WHOLE_LINE)
		return k == (j > 0);
	return choose(j, k) * choose(MTL_WORDS_PER_LINE - j, (int)kind - k) /
	       choose(MTL_WORDS_PER_LINE, kind);
}

static double seen_then_given_words(unsigned kind, int j, int j_then, int k, int k_then)
{
	int watched = (int)kind - k, untouched = MTL_WORDS_PER_LINE - j;

	if (kind == KIND_WHOLE_LINE)
		return k_then == (j_then > 0);
	return choose(watched, k_then - k) *
	       choose(untouched - watched, j_then - j - (k_then - k)) /
	       choose(untouched, j_then - j);
}

static void add_transitions(struct mtl_coverage_model *model, unsigned kind, int j, int j_then)
{
	size_t *n = &model->n_transitions[kind];

	for (int k = 0; k < STATES; k++)
		for (int k_then = k; k_then < STATES && seen_given_words(kind, j, k) > 0;
		        k_then++) {
			double probability = seen_given_words(kind, j, k) *
			                     seen_then_given_words(kind, j, j_then, k, k_then);
			if (probability > 0)
				model->transition[kind][(*n)++] =
				        (struct mtl_transition){j, j_then, k, k_then, probability};
		}
}

void mtl_coverage_model(struct mtl_coverage_model *ret_model)
{
	memset(ret_model, 0, sizeof(*ret_model));
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (int j = 0; j < WORD_STATES; j++) {
			for (int k = 0; k < STATES; k++)
				ret_model->likelihood[kind][j][k] = seen_given_words(kind, j, k);
			for (int j_then = j; j_then < WORD_STATES; j_then++)
				add_transitions(ret_model, kind, j, j_then);
		}
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

/* The part of all lines that may be touched by the last window. */
static double pool_of(
        const struct mtl_survival *survival, const struct mtl_samples *samples, size_t bins)
{
	double share[KINDS], pool = 0;

	shares_at(survival, samples, 0, share);
	for (unsigned kind = 0; kind < KINDS; kind++) {
		double seen = 1 - survival->occupied[kind][bins - 1][0];
		if (share[kind] > 0)
			pool += share[kind] * seen *
			        (kind == KIND_WHOLE_LINE ? 1 : MTL_WORDS_PER_LINE / (double)kind);
	}
	return pool > 0 ? fmin(POOL_SLACK * pool, 1) : 1;
}

/* P(k words touched | in the pool). */
static double in_pool(double occupied, unsigned k, double pool)
{
	return fmax(occupied - (k == 0 ? 1 - pool : 0), 0) / pool;
}

/* steps[k][k'] = P(k words touched by the window before, k' by this one); returns P(k' > k). */
static double steps_at(const struct mtl_survival *survival, unsigned kind, size_t g, double pool,
        double steps[STATES][STATES])
{
	const double start[STATES] = {1};
	const double *before = g ? survival->occupied[kind][g - 1] : start;
	double moved = 0;

	memset(steps, 0, STATES * sizeof(*steps));
	for (unsigned k = 0; k < STATES; k++) {
		double all = in_pool(before[k], k, pool), left = all;
		for (unsigned k_then = k + 1; k_then < STATES; k_then++) {
			steps[k][k_then] = survival->moved[kind][g][k][k_then] / pool;
			left -= steps[k][k_then];
		}
		steps[k][k] = fmax(left, 0);
		moved += all - steps[k][k];
	}
	return moved;
}

/* One step of the grid: the steps each kind saw, and how much each kind counts. */
struct grid_step {
	double seen[KINDS][STATES][STATES];
	double share[KINDS];
	double moved; /* how much moved at all */
};

static void grid_step_at(const struct mtl_survival *survival, const struct mtl_samples *samples,
        size_t g, double pool, struct grid_step *ret_step)
{
	shares_at(survival, samples, g, ret_step->share);
	ret_step->moved = 0;
	for (unsigned kind = 0; kind < KINDS; kind++)
		if (ret_step->share[kind] > 0)
			ret_step->moved += ret_step->share[kind] *
			                   steps_at(survival, kind, g, pool, ret_step->seen[kind]);
}

static void first_rates(double moved, double rates[WORD_STATES][WORD_STATES])
{
	double move = 2 * moved / (1 + 2 * moved);

	memset(rates, 0, WORD_STATES * sizeof(*rates));
	for (unsigned j = 0; j < WORD_STATES; j++) {
		unsigned above = WORD_STATES - 1 - j;
		rates[j][j] = above ? 1 - move : 1;
		for (unsigned j_then = j + 1; j_then < WORD_STATES; j_then++)
			rates[j][j_then] = move * (1 - ONE_MORE) / above +
			                   (j_then == j + 1 ? move * ONE_MORE : 0);
	}
}

/* gain[j][j'] += share x sum of P(k, k' seen) P(k, k' | j, j') / P(k, k' by the model). */
static void add_step_gain(const struct mtl_transition *transition, size_t n,
        const double seen[STATES][STATES], double share, const double words[WORD_STATES],
        const double rates[WORD_STATES][WORD_STATES], double gain[WORD_STATES][WORD_STATES])
{
	double ratio[STATES][STATES] = {{0}};

	for (size_t i = 0; i < n; i++) {
		const struct mtl_transition *t = &transition[i];
		ratio[t->seen][t->seen_then] +=
		        words[t->words] * rates[t->words][t->words_then] * t->probability;
	}
	for (unsigned k = 0; k < STATES; k++)
		for (unsigned l = k; l < STATES; l++)
			ratio[k][l] = ratio[k][l] > 0 ? share * seen[k][l] / ratio[k][l] : 0;
	for (size_t i = 0; i < n; i++) {
		const struct mtl_transition *t = &transition[i];
		gain[t->words][t->words_then] += t->probability * ratio[t->seen][t->seen_then];
	}
}

/* One iteration; returns how much of P(j) takes another way than before. */
static double improve_rates(const struct mtl_coverage_model *model, const struct grid_step *step,
        const double words[WORD_STATES], double rates[WORD_STATES][WORD_STATES])
{
	double gain[WORD_STATES][WORD_STATES] = {{0}}, changed = 0;

	for (unsigned kind = 0; kind < KINDS; kind++)
		if (step->share[kind] > 0)
			add_step_gain(model->transition[kind], model->n_transitions[kind],
			        step->seen[kind], step->share[kind], words, rates, gain);
	for (unsigned j = 0; j < WORD_STATES; j++) {
		double before[WORD_STATES];
		memcpy(before, rates[j], sizeof(before));
		for (unsigned l = j; l < WORD_STATES; l++)
			rates[j][l] *= words[j] > 0 ? gain[j][l] : 1;
		normalise(rates[j], WORD_STATES);
		for (unsigned l = j; l < WORD_STATES; l++)
			changed += words[j] * fabs(rates[j][l] - before[l]);
	}
	return changed;
}

static unsigned most_iterations(const double share[KINDS])
{
	unsigned most = 0;

	for (unsigned kind = 1; kind < KINDS; kind++)
		if (share[kind] > share[most])
			most = kind;
	return iterations[most];
}

static void fit_rates(const struct mtl_coverage_model *model, const struct grid_step *step,
        const double words[WORD_STATES], double rates[WORD_STATES][WORD_STATES])
{
	first_rates(step->moved, rates);
	for (unsigned left = most_iterations(step->share); left > 0; left--)
		if (improve_rates(model, step, words, rates) <= SETTLED * step->moved)
			break;
}

static void move_on(const double rates[WORD_STATES][WORD_STATES], double words[WORD_STATES])
{
	for (unsigned l = WORD_STATES; l-- > 0;) {
		double then = 0;
		for (unsigned j = 0; j <= l; j++)
			then += words[j] * rates[j][l];
		words[l] = then;
	}
	normalise(words, WORD_STATES);
}

/* One kind's share of an iteration on counts: gain[j] += share x sum of P(k) P(k | j) / P(k). */
static void add_gain(const double likelihood[WORD_STATES][STATES], const double occupied[STATES],
        double share, double pool, const double words[WORD_STATES], double gain[WORD_STATES])
{
	double ratio[STATES] = {0};

	for (unsigned j = 0; j < WORD_STATES; j++)
		for (unsigned k = 0; k < STATES; k++)
			ratio[k] += likelihood[j][k] * words[j];
	for (unsigned k = 0; k < STATES; k++)
		ratio[k] = ratio[k] > 0 ? share * in_pool(occupied[k], k, pool) / ratio[k] : 0;
	for (unsigned j = 0; j < WORD_STATES; j++)
		for (unsigned k = 0; k < STATES; k++)
			gain[j] += likelihood[j][k] * ratio[k];
}

/* One iteration on the counts at window g. */
static void improve_words(const struct mtl_coverage_model *model,
        const struct mtl_survival *survival, const double share[KINDS], size_t g, double pool,
        double words[WORD_STATES])
{
	double gain[WORD_STATES] = {0};

	for (unsigned kind = 0; kind < KINDS; kind++)
		if (share[kind] > 0)
			add_gain(model->likelihood[kind], survival->occupied[kind][g], share[kind],
			        pool, words, gain);
	for (unsigned j = 0; j < WORD_STATES; j++)
		words[j] *= gain[j];
	normalise(words, WORD_STATES);
}

void mtl_line_coverage_from_survival(const struct mtl_coverage_model *model,
        const struct mtl_survival *survival, const struct mtl_samples *samples, size_t bins,
        struct mtl_line_coverage *ret_coverage)
{
	double words[WORD_STATES] = {1}, rates[WORD_STATES][WORD_STATES];
	struct grid_step step;
	double pool = pool_of(survival, samples, bins);

	ret_coverage->pool = pool;
	for (size_t g = 0; g < bins; g++) {
		grid_step_at(survival, samples, g, pool, &step);
		if (step.moved > 0) {
			fit_rates(model, &step, words, rates);
			move_on(rates, words);
			for (unsigned i = 0; i < CORRECTIONS; i++)
				improve_words(model, survival, step.share, g, pool, words);
		}
		memcpy(ret_coverage->words[g], words, sizeof(words));
		ret_coverage->lines[g] =
		        fmax(g ? ret_coverage->lines[g - 1] : 0, pool * (1 - words[0]));
	}
}

/* The part of the watched words that is touched by window g. */
static double words_at(
        const struct mtl_survival *survival, const struct mtl_samples *samples, size_t g)
{
	double share[KINDS], words = 0;

	shares_at(survival, samples, g, share);
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned k = 1; k < STATES; k++)
			words += share[kind] * survival->occupied[kind][g][k] * k / fmax(kind, 1);
	return words;
}

void mtl_lines_by_words_before(const struct mtl_survival *survival,
        const struct mtl_samples *samples, size_t from, double lines[GRID_MAX])
{
	double words = words_at(survival, samples, from);

	for (size_t g = 0; words > 0 && g < from; g++)
		lines[g] = fmin(lines[from] * words_at(survival, samples, g) / words, lines[from]);
}

/* P(line touched) by the counts at window g alone, from the solution for the window before. */
static double lines_by_counts(const struct mtl_coverage_model *model,
        const struct mtl_survival *survival, const double share[KINDS],
        const struct mtl_line_coverage *coverage, size_t g)
{
	double words[WORD_STATES];

	for (unsigned j = 0; j < WORD_STATES; j++)
		words[j] = (1 - SPREAD) * (g ? coverage->words[g - 1][j] : j == 0) +
		           SPREAD / WORD_STATES;
	for (unsigned left = most_iterations(share); left > 0; left--) {
		double before = words[0];
		improve_words(model, survival, share, g, coverage->pool, words);
		if (fabs(words[0] - before) <= SETTLED / 10 * (1 - words[0]))
			break;
	}
	return coverage->pool * (1 - words[0]);
}

/* P(line touched) after a step towards "all in state k". */
static double lines_after_step(const struct mtl_coverage_model *model,
        struct mtl_survival *survival, const double share[KINDS],
        const struct mtl_line_coverage *coverage, size_t g, unsigned kind, unsigned k, double step)
{
	double *occupied = survival->occupied[kind][g], kept[STATES];

	memcpy(kept, occupied, sizeof(kept));
	for (unsigned i = 0; i < STATES; i++)
		occupied[i] = (1 - step) * kept[i] + (i == k ? step : 0);
	double lines = lines_by_counts(model, survival, share, coverage, g);
	memcpy(occupied, kept, sizeof(kept));
	return lines;
}

/* A step as large as the noise of a probability. */
static double noise_of(double probability, double effective)
{
	double variance = fmax(probability * (1 - probability), 1 / effective) / effective;

	return fmin(sqrt(variance), 0.5);
}

void mtl_influence_from_coverage(const struct mtl_coverage_model *model,
        struct mtl_survival *survival, const struct mtl_samples *samples, size_t bins,
        const struct mtl_line_coverage *coverage, struct mtl_influence *ret_influence)
{
	double share[KINDS], effective = mtl_effective_watchers(samples);

	memset(ret_influence, 0, sizeof(*ret_influence));
	for (size_t g = 0; g < bins; g++) {
		shares_at(survival, samples, g, share);
		double base = lines_by_counts(model, survival, share, coverage, g);
		for (unsigned kind = 0; kind < KINDS; kind++)
			for (unsigned k = 0; share[kind] > 0 && k < STATES; k++) {
				double occupied = survival->occupied[kind][g][k];
				double step = noise_of(occupied, effective);
				if (occupied <= 0)
					continue;
				double lines = lines_after_step(
				        model, survival, share, coverage, g, kind, k, step);
				ret_influence->of[kind][g][k] = (lines - base) / step;
			}
	}
}

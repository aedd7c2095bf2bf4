/* SPDX-License-Identifier: MIT */
/*
 * Survival: how many of a line's watched words are touched by T, from censored observations.
 *
 * Each observation starts in state 0 and moves up as its words are touched, until its deadline
 * censors it. The probability of being in state k at T is the weighted Aalen-Johansen estimate
 *
 *     p(T_g) = p(T_{g-1}) A_g,   A_g(j, k) = N_g(j -> k) / Y_g(j)
 *
 * where N_g(j -> k) is the weight that went from j to k within (T_{g-1}, T_g] and Y_g(j) the weight
 * that was in j at T_{g-1} and was watched at least until T_g. With one word it is Kaplan-Meier.
 * It is consistent for occupation probabilities whenever deadlines are independent of the line,
 * Markov or not (Datta & Satten, 2001). On a grid that holds every event time it is the exact one.
 *
 * Weights are decay x lines (Horvitz-Thompson), so that lines x P(touched by T) is the plain
 * Horvitz-Thompson sum when nothing is censored. When it is, the rates N / Y of all observations
 * together would be as noisy as the heaviest of them, so observations of like weight are estimated
 * by themselves and added up (post-stratification): hot lines drawn often do not suffer from cold
 * ones drawn rarely.
 */

#include <math.h>
#include <string.h>
#include "survival.h"

static void tally_sample(struct mtl_tally *tally, const struct mtl_sample *s, double weight)
{
	uint8_t state = 0;

	tally->entered[0][0] += weight;
	for (unsigned i = 0; i < s->n_steps; i++) {
		const struct mtl_step *step = &s->steps[i];
		tally->moved[step->bin][step->from][step->to] += weight;
		tally->entered[step->bin + 1][step->from] -= weight;
		tally->entered[step->bin + 1][step->to] += weight;
		state = step->to;
	}
	tally->entered[s->bins][state] -= weight;
}

/* One step of the product: what is in state j splits as the weight in j did. */
static void occupation_step(const double present[STATES], const double weight_moved[STATES][STATES],
        const double from[STATES], double to[STATES], double moved[STATES][STATES])
{
	memcpy(to, from, STATES * sizeof(*to));
	memset(moved, 0, STATES * sizeof(*moved));
	for (unsigned j = 0; j + 1 < STATES; j++) {
		if (present[j] <= 0)
			continue;
		double rate = from[j] / present[j];
		for (unsigned k = j + 1; k < STATES; k++) {
			moved[j][k] = fmin(rate * weight_moved[j][k], to[j]);
			to[j] -= moved[j][k];
			to[k] += moved[j][k];
		}
	}
}

/* Adds the survival of one stratum to that of its kind, as much of it as it weighs. */
static void add_stratum(const struct mtl_tally *tally, size_t bins, double weight, unsigned kind,
        struct mtl_survival *survival)
{
	double present[STATES] = {0}, before[STATES] = {1}, after[STATES], moved[STATES][STATES];

	for (size_t g = 0; g < bins; g++) {
		for (unsigned k = 0; k < STATES; k++) {
			present[k] += tally->entered[g][k];
			survival->at_risk[kind][g] += present[k];
		}
		occupation_step(present, tally->moved[g], before, after, moved);
		for (unsigned j = 0; j < STATES; j++) {
			survival->occupied[kind][g][j] += weight * after[j];
			for (unsigned k = j + 1; k < STATES; k++)
				survival->moved[kind][g][j][k] += weight * moved[j][k];
		}
		memcpy(before, after, sizeof(before));
	}
}

/* Sums of weights to probabilities; a kind that nobody saw this time has seen nothing. */
static void scale_kind(unsigned kind, size_t bins, double weight, struct mtl_survival *survival)
{
	for (size_t g = 0; g < bins; g++) {
		if (weight <= 0)
			survival->occupied[kind][g][0] = 1;
		for (unsigned j = 0; weight > 0 && j < STATES; j++) {
			survival->occupied[kind][g][j] /= weight;
			for (unsigned k = j + 1; k < STATES; k++)
				survival->moved[kind][g][j][k] /= weight;
		}
	}
}

/* Tallies the samples from `from` on that belong together; returns the first that does not. */
static size_t tally_stratum(const struct mtl_samples *samples, const uint8_t *multiplicity,
        size_t from, struct mtl_tally *tally, double *ret_weight, double *decays)
{
	const struct mtl_sample *first = &samples->sample[from];
	size_t i = from;

	memset(tally, 0, sizeof(*tally));
	*ret_weight = 0;
	for (; i < samples->n; i++) {
		const struct mtl_sample *s = &samples->sample[i];
		double times = multiplicity ? multiplicity[i] : 1;
		if (s->kind != first->kind || s->stratum != first->stratum)
			break;
		if (times == 0)
			continue;
		*decays += times * s->decay;
		*ret_weight += times * s->weight;
		tally_sample(tally, s, times * s->weight);
	}
	return i;
}

void mtl_survival_from_samples(const struct mtl_samples *samples, const uint8_t *multiplicity,
        const struct mtl_grid *grid, struct mtl_tally *tally, struct mtl_survival *ret_survival)
{
	double decays = 0, weights = 0, of_kind[KINDS] = {0};

	memset(ret_survival, 0, sizeof(*ret_survival));
	for (size_t i = 0; i < samples->n;) {
		unsigned kind = samples->sample[i].kind;
		double weight;
		i = tally_stratum(samples, multiplicity, i, tally, &weight, &decays);
		add_stratum(tally, grid->n, weight, kind, ret_survival);
		of_kind[kind] += weight;
		weights += weight;
	}
	for (unsigned kind = 0; kind < KINDS; kind++)
		if (samples->present[kind])
			scale_kind(kind, grid->n, of_kind[kind], ret_survival);
	ret_survival->lines = decays > 0 ? weights / decays : 0;
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_LINE_COVERAGE_H
#define MTL_LINE_COVERAGE_H

/* Survival of words -> coverage of lines. */

#include "survival.h"

#define WORD_STATES (MTL_WORDS_PER_LINE + 1)
#define TRANSITIONS_MAX 512

/*
 * P(`seen` of the watched words touched before and `seen_then` after | `words` of the line's 8
 * before and `words_then` after).
 */
struct mtl_transition {
	uint8_t words, words_then, seen, seen_then;
	double probability;
};

struct mtl_coverage_model {
	/* likelihood[kind][j][k] = P(k of the watched words touched | j of the line's 8 are) */
	double likelihood[KINDS][WORD_STATES][STATES];
	struct mtl_transition transition[KINDS][TRANSITIONS_MAX]; /* those that can be */
	size_t n_transitions[KINDS];
};

/*
 * words[g][j] = P(j of a line's words touched by window g | it is in the pool); lines[g] = P(any
 * is), rising. pool: the part of all lines that may be touched by the last window.
 */
struct mtl_line_coverage {
	double pool;
	double words[GRID_MAX][WORD_STATES];
	double lines[GRID_MAX];
};

/* d P(line touched by window g) / d P(k watched words touched by then), by kind. */
struct mtl_influence {
	double of[KINDS][GRID_MAX][STATES];
};

void mtl_coverage_model(struct mtl_coverage_model *ret_model);

void mtl_line_coverage_from_survival(const struct mtl_coverage_model *model,
        const struct mtl_survival *survival, const struct mtl_samples *samples, size_t bins,
        struct mtl_line_coverage *ret_coverage);

/*
 * Words that were not armed together are not touched together: at windows of no more than a few
 * arming spreads, more states are seen than there are. So lines[g] before window `from` becomes
 * what the words say, times the ratio of lines to words at `from`. Words touched by `from` at all:
 * none is no reason to change anything.
 */
void mtl_lines_by_words_before(const struct mtl_survival *survival,
        const struct mtl_samples *samples, size_t from, double lines[GRID_MAX]);

/*
 * How the coverage answers to changes in survival of the size that sampling makes. The survival is
 * changed meanwhile and restored.
 */
void mtl_influence_from_coverage(const struct mtl_coverage_model *model,
        struct mtl_survival *survival, const struct mtl_samples *samples, size_t bins,
        const struct mtl_line_coverage *coverage, struct mtl_influence *ret_influence);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_LINE_COVERAGE_H
#define MTL_LINE_COVERAGE_H

/* Survival of words -> coverage of lines. */

#include "survival.h"

#define WORD_STATES (MTL_WORDS_PER_LINE + 1)

/* likelihood[kind][j][k] = P(k of the watched words touched | j of the line's 8 are). */
struct mtl_coverage_model {
	double likelihood[KINDS][WORD_STATES][STATES];
};

/* words[g][j] = P(j of a line's words touched by window g); lines[g] = P(any is). */
struct mtl_line_coverage {
	double words[GRID_MAX][WORD_STATES];
	double lines[GRID_MAX];
};

void mtl_coverage_model(struct mtl_coverage_model *ret_model);

/* One maximisation, from the start given in words[]; returns P(line touched). */
double mtl_coverage_fit(const struct mtl_coverage_model *model, const struct mtl_survival *survival,
        const struct mtl_samples *samples, size_t g, unsigned iterations,
        double words[WORD_STATES]);

/* start: coverage near the one sought, or NULL. */
void mtl_line_coverage_from_survival(const struct mtl_coverage_model *model,
        const struct mtl_survival *survival, const struct mtl_samples *samples, size_t bins,
        const struct mtl_line_coverage *start, struct mtl_line_coverage *ret_coverage);

#endif

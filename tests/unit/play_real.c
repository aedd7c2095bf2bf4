/* SPDX-License-Identifier: MIT */
/*
 * How good the curve of a real program is, on as many watches as are paid for: units of programs,
 * recorded, done over and over (traced.h), watched as the budget allows (timed.h).
 *
 *     play_real RUNS WATCHES WINDOW TRACE...
 *
 * A row for each trace: after a sixth of WINDOW CPU seconds, a third and all of it, the medians over
 * the runs of the observations and of the mean absolute error of the misses relative to those at the
 * first size that is resolved, and relative to those at 256K, from there on; sizes from 32K to 32M.
 * WATCHES: a CPU second that the budget pays for.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timed.h"
#include "traced.h"

#define RUNS_MAX 1000
#define MOMENTS 3

static int play(const char *path, const struct timed_terms *terms, unsigned runs)
{
	static double first[MOMENTS][RUNS_MAX], reference[MOMENTS][RUNS_MAX], n[MOMENTS][RUNS_MAX];
	const double seconds[MOMENTS] = {
	        round(terms->window / 6), round(terms->window / 3), terms->window};
	const char *name = strrchr(path, '/');
	struct timed timed[MOMENTS];
	int r = traced_begin(path);
	struct program program = *traced_program();

	program.reference = 1 << 18;
	for (unsigned run = 0; r >= 0 && run < runs; run++) {
		r = timed_run(&program, terms, run + 1, seconds, MOMENTS, timed);
		for (unsigned i = 0; r >= 0 && i < MOMENTS; i++) {
			first[i][run] = timed[i].to_first;
			reference[i][run] = timed[i].to_reference;
			n[i][run] = (double)timed[i].observations;
		}
	}
	if (r >= 0)
		printf("| %s | %.1f M | %.1f MB |", name ? name + 1 : path, traced_accesses() / 1e6,
		        program.lines * MTL_LINE_BYTES / 1048576);
	for (unsigned i = 0; r >= 0 && i < MOMENTS; i++)
		printf(" %.3f, %.3f (%.0f) |", timed_median(first[i], runs), timed_median(reference[i], runs),
		        timed_median(n[i], runs));
	printf("\n");
	fflush(stdout);
	traced_end();
	if (r < 0)
		fprintf(stderr, "play_real: %s: %s\n", path, strerror(-r));
	return r;
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: play_real RUNS WATCHES WINDOW TRACE...\n");
		return 2;
	}
	const unsigned runs = (unsigned)fmin(fmax(atoi(argv[1]), 1), RUNS_MAX);
	const struct timed_terms terms = {.watches = atof(argv[2]),
	        .lean = NAN,
	        .window = fmax(round(atof(argv[3])), 6),
	        .smallest = 32 << 10,
	        .largest = 32 << 20};
	int r = programs_begin();

	printf("| program | accesses a unit | pages | after %.0f s | %.0f s | %.0f s |\n"
	       "|---|--:|--:|--:|--:|--:|\n",
	        round(terms.window / 6), round(terms.window / 3), terms.window);
	for (int i = 4; r >= 0 && i < argc; i++)
		r = play(argv[i], &terms, runs);
	programs_end();
	return r < 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * How good a curve is after so many seconds: known programs, watched as the budget and the time
 * allow (timed.h).
 *
 *     play_accuracy [RUNS [PROGRAM [LEAN [WATCHES]]]]
 *
 * A row for each program: after 5, 10, 20 and 60 s of CPU time the median over the runs of the mean
 * absolute error of the relative miss ratio, of the observations it was made of, and then of the
 * longest deadline and the lean by the end. LEAN: of the deadlines, whatever the budget (0 is
 * log-uniform;
 * "-": as mtld has it). WATCHES: a CPU second that the budget pays for (150). Fails where the
 * median after 60 s is beyond what is promised of the program.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timed.h"

#define RUNS 41
#define RUNS_MAX 1000
#define MOMENTS 4

static const double seconds[MOMENTS] = {5, 10, 20, 60};

static const struct {
	const char *program;
	double error; /* after 60 s, with what mtld does */
} promised[] = {
        {"scan", 0.03},
        {"half of each", 0.04},
        {"random words", 0.05},
        {"zipf", 0.05},
        {"two levels", 0.05},
        {"hot in cold, told", 0.05},
};

static int play(const struct program *program, const struct timed_terms *terms, unsigned runs,
        double *ret_last)
{
	static double error[MOMENTS][RUNS_MAX], n[MOMENTS][RUNS_MAX], longest[RUNS_MAX],
	        lean[RUNS_MAX];
	struct timed timed[MOMENTS];

	for (unsigned run = 0; run < runs; run++) {
		int r = timed_run(program, terms, run + 1, seconds, MOMENTS, timed);

		if (r < 0)
			return r;
		for (unsigned i = 0; i < MOMENTS; i++) {
			error[i][run] = timed[i].error;
			n[i][run] = timed[i].observations;
		}
		longest[run] = timed[MOMENTS - 1].longest;
		lean[run] = timed[MOMENTS - 1].lean;
	}
	printf("| %s |", program->name);
	for (unsigned i = 0; i < MOMENTS; i++)
		printf(" %.3f (%.0f) |", timed_median(error[i], runs), timed_median(n[i], runs));
	printf(" %.3f s | %.2f |\n", timed_median(longest, runs), timed_median(lean, runs));
	fflush(stdout);
	*ret_last = timed_median(error[MOMENTS - 1], runs);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned runs = argc > 1 ? (unsigned)fmin(fmax(atoi(argv[1]), 1), RUNS_MAX) : RUNS;
	bool usual = argc < 4 || strcmp(argv[3], "-") == 0;
	const struct timed_terms terms = {
	        .watches = argc > 4 ? atof(argv[4]) : 150, .lean = usual ? NAN : atof(argv[3])};
	int r = programs_begin();
	bool kept = true;

	printf("| program | 5 s | 10 s | 20 s | 60 s | longest | lean "
	       "|\n|---|--:|--:|--:|--:|--:|--:|"
	       "\n");
	for (size_t i = 0; r >= 0 && i < sizeof(promised) / sizeof(*promised); i++) {
		double last;

		if (argc > 2 && strcmp(argv[2], "-") != 0 &&
		        strcmp(argv[2], promised[i].program) != 0)
			continue;
		r = play(program_named(promised[i].program), &terms, runs, &last);
		if (r >= 0 && usual && argc < 5 && last > promised[i].error) {
			fprintf(stderr, "%s: %.3f after %g s, %.3f promised\n", promised[i].program,
			        last, seconds[MOMENTS - 1], promised[i].error);
			kept = false;
		}
	}
	programs_end();
	return r < 0 || !kept;
}

/* SPDX-License-Identifier: MIT */
/*
 * How good estimates and their intervals are: known programs (programs.c), watched and estimated
 * over and over.
 *
 *     play_intervals [RUNS [OBSERVATIONS[,...] [PROGRAM]]]
 *
 * A row for each program and number of observations: of the intervals of misses at sizes and of
 * footprints at windows how many per cent held the truth (all together, least and most of a size or
 * window), value / truth (least and greatest mean of a size), spread and width of the interval
 * (means), all in units of the truth; mean absolute error of the relative miss ratio; milliseconds
 * an estimate takes. -v as RUNS' first character: every size and window too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study.h"

struct summary {
	double held, least, most, low_mean, high_mean, spread, width;
};

static double mean_of(const struct study_cell *cell)
{
	return cell->sum / cell->runs;
}

static double spread_of(const struct study_cell *cell)
{
	double mean = mean_of(cell);

	return sqrt(fmax(cell->squares / cell->runs - mean * mean, 0));
}

static struct summary summarise(const struct study_cell *cells, size_t n)
{
	struct summary s = {.least = 1, .low_mean = INFINITY};

	for (size_t i = 0; i < n; i++) {
		double held = (double)cells[i].held / cells[i].runs;

		s.held += held / (double)n;
		s.least = fmin(s.least, held);
		s.most = fmax(s.most, held);
		s.low_mean = fmin(s.low_mean, mean_of(&cells[i]));
		s.high_mean = fmax(s.high_mean, mean_of(&cells[i]));
		s.spread += spread_of(&cells[i]) / (double)n;
		s.width += cells[i].width / cells[i].runs / (double)n;
	}
	return s;
}

static void print_summary(const struct summary *s)
{
	printf(" %.0f (%.0f .. %.0f) | %.2f .. %.2f | %.2f | %.2f |", 100 * s->held, 100 * s->least,
	        100 * s->most, s->low_mean, s->high_mean, s->spread, s->width);
}

static void print_cells(const char *what, const struct study_cell *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("    %s %-10.4g held %5.1f (%4.1f low, %4.1f high)  mean %.3f spread %.3f "
		       "width %.3f\n",
		        what, cells[i].at, 100.0 * cells[i].held / cells[i].runs,
		        100.0 * cells[i].below / cells[i].runs,
		        100.0 * cells[i].above / cells[i].runs, mean_of(&cells[i]),
		        spread_of(&cells[i]), cells[i].width / cells[i].runs);
}

static int study_and_print(
        const struct program *program, size_t observations, unsigned runs, int every)
{
	struct summary sizes, windows;
	struct study study;
	int r = study_program(program, observations, runs, 1, &study);

	if (r < 0) {
		fprintf(stderr, "%s: %s\n", program->name, strerror(-r));
		return r;
	}
	sizes = summarise(study.size, study.n_sizes);
	windows = summarise(study.window, study.n_windows);
	printf("| %s | %zu |", program->name, observations);
	print_summary(&sizes);
	print_summary(&windows);
	if (isnan(study.relative_error)) /* in some run its reference was not known to be missed */
		printf(" unknown |");
	else
		printf(" %.3f |", study.relative_error / study.runs);
	printf(" %.1f |\n", 1e3 * study.seconds / study.runs);
	if (every) {
		print_cells("size", study.size, study.n_sizes);
		print_cells("window", study.window, study.n_windows);
	}
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	char numbers[] = "60,200,1000,4000", *list = argc > 2 ? argv[2] : numbers;
	int every = argc > 1 && argv[1][0] == 'v', r = programs_begin();
	unsigned runs = argc > 1 ? (unsigned)atoi(argv[1] + every) : 200;

	printf("| program | observations | misses held | mean | spread | width | footprint held | "
	       "mean | spread | width | relative | ms |\n|---|--:|---|---|--:|--:|---|---|--:|--:|"
	       "--:|--:|\n");
	for (char *number = strtok(list, ","); r >= 0 && number; number = strtok(NULL, ","))
		for (size_t i = 0; r >= 0 && i < n_programs; i++)
			if (argc < 4 || strcmp(argv[3], programs[i].name) == 0)
				r = study_and_print(
				        &programs[i], strtoul(number, NULL, 10), runs, every);
	programs_end();
	return r < 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Shares of a budget that does not suffice.
 *
 *     need_i  = error_i / (mean error, weighted by demand), within 1/4 .. 4; twice that when asked
 * for share_i = need_i x level, within FLOOR x share .. 1 level   so that sum share_i demand_i =
 * share x sum demand_i
 *
 * The error of an estimate falls with the root of the observations: to give in proportion to it
 * takes from who has a good curve for who has none yet, and settles where errors are alike. Who
 * does not run demands nothing and takes nothing; who runs gets a quarter of an equal share
 * whatever others need. With a budget that suffices everybody has all they demand.
 */
#include "budget.h"

#include <math.h>

#define NEED_MOST 4.0
#define ASKED 2.0
#define ERROR_UNKNOWN 1.0
#define HALVINGS 50

static double error_of(const struct budget_process *process)
{
	return isnan(process->error) ? ERROR_UNKNOWN : fmin(ERROR_UNKNOWN, fmax(0, process->error));
}

static double mean_error(const struct budget_process *processes, size_t n)
{
	double errors = 0, demands = 0;

	for (size_t i = 0; i < n; i++) {
		errors += processes[i].demand * error_of(&processes[i]);
		demands += processes[i].demand;
	}
	return demands > 0 && errors > 0 ? errors / demands : 1;
}

static double need(const struct budget_process *process, double mean)
{
	double relative = fmin(NEED_MOST, fmax(1 / NEED_MOST, error_of(process) / mean));

	return relative * (process->asked ? ASKED : 1);
}

/* What all get at that level. */
static double spend(const struct budget_process *processes, size_t n, double share, double mean,
        double level, double *ret_shares)
{
	double spent = 0;

	for (size_t i = 0; i < n; i++) {
		ret_shares[i] =
		        fmin(1, fmax(BUDGET_FLOOR * share, level * need(&processes[i], mean)));
		spent += ret_shares[i] * processes[i].demand;
	}
	return spent;
}

void budget_shares(
        const struct budget_process *processes, size_t n, double share, double *ret_shares)
{
	double mean = mean_error(processes, n), low = 0, high = NEED_MOST, demand = 0;

	for (size_t i = 0; i < n; i++)
		demand += processes[i].demand;
	for (int i = 0; i < HALVINGS; i++) {
		double level = (low + high) / 2;
		bool fits = spend(processes, n, share, mean, level, ret_shares) <= share * demand;

		*(fits ? &low : &high) = level;
	}
	spend(processes, n, share, mean, low, ret_shares);
}

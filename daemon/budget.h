/* SPDX-License-Identifier: MIT */
#ifndef MTLD_BUDGET_H
#define MTLD_BUDGET_H

/*
 * How mtld's own CPU time is shared out among the processes it tracks. Pure decisions on plain
 * structs.
 */

#include <stdbool.h>
#include <stddef.h>

struct budget_process {
	double demand; /* moments a second of wall-clock time it would have if mtld's time were no
	                * matter; 0: it does not run */
	double error;  /* of its curve, as a part of what the curve says; NAN: not known */
	bool asked;    /* somebody wants to see it */
};

/*
 * Of the demand of all, `share` (0..1] fits into the budget (governor_share()). ret_shares: the
 * part of its demand that each process gets, BUDGET_FLOOR x share .. 1.
 */
#define BUDGET_FLOOR 0.25
void budget_shares(
        const struct budget_process *processes, size_t n, double share, double *ret_shares);

#endif

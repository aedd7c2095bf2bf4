/* SPDX-License-Identifier: MIT */
#ifndef MTL_BINOMIAL_H
#define MTL_BINOMIAL_H

#include <stdint.h>

/* Of n trials (not necessarily a whole number of them) that succeed with probability p: exactly k,
 * for 0 <= k <= n and 0 < p < 1; relative error about 1e-14 (1 + |ln| of the result). */
double mtl_binomial_term(double n, double p, double k);

/* At least k of them: 1 for k = 0, else 0 where n <= k - 1. Never falls with n or p, never rises
 * with k, but for rounding (1e-12). */
double mtl_binomial_tail(double n, double p, uint64_t k);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Binomial probabilities for n trials where n may be a fraction: with q = 1 - p,
 *
 *     term(k) = C(n, k) p^k q^(n-k),    C(n, k) = Gamma(n + 1) / (Gamma(k + 1) Gamma(n - k + 1))
 *     tail(k) = 1 - term(0) - ... - term(k - 1) = I_p(k, n - k + 1)
 *
 * the regularised incomplete beta function, which lets the tail rise smoothly between whole n.
 *
 * Both start at term(k - 1), next to the boundary, and go to the side where terms fall, so that
 * there is nothing to cancel and what underflows is nothing. Downwards terms are added as they are,
 * at most k of them; upwards, where the terms of a fractional n would alternate, the series with
 * positive terms is taken:
 *
 *     I_p(a, b) = p^a q^b / (a B(a, b)) (1 + r_0 + r_0 r_1 + ...),   r_i = p (n + 1 + i) / (a + 1 +
 * i)
 *
 * Either takes a few sqrt(k) steps where the tail is neither 0 nor 1.
 *
 * Factorials of huge n cancel, so the term is Loader's (2000): Stirling's formula leaves deviances,
 * which are computed without cancelling.
 */

#include "binomial.h"

#include <math.h>

#define NEGLIGIBLE 1e-17

/* log Gamma(x + 1) less Stirling's formula, x > 0. */
static double stirling_error(double x)
{
	double square = x * x;
	int sign;

	if (x < 16)
		return lgamma_r(x + 1, &sign) - (x + 0.5) * log(x) + x - 0.5 * log(2 * M_PI);
	return (1 / 12.0 - (1 / 360.0 - (1 / 1260.0 - (1 / 1680.0 - 1 / 1188.0 / square) / square) /
	                                        square) /
	                           square) /
	       x;
}

/* x log(x / mean) + mean - x, also where x is close to mean. */
static double deviance(double x, double mean)
{
	double difference = x - mean;

	if (fabs(difference) >= 0.1 * (x + mean))
		return x * log(x / mean) - difference;
	double ratio = difference / (x + mean), power = 2 * x * ratio, sum = difference * ratio;
	for (unsigned i = 3;; i += 2) {
		power *= ratio * ratio;
		double next = sum + power / i;
		if (next == sum)
			return sum;
		sum = next;
	}
}

double mtl_binomial_term(double n, double p, double k)
{
	double rest = n - k;

	if (k == 0)
		return exp(n * log1p(-p));
	if (rest == 0)
		return exp(n * log(p));
	return exp(stirling_error(n) - stirling_error(k) - stirling_error(rest) -
	               deviance(k, n * p) - deviance(rest, n * (1 - p))) *
	       sqrt(n / (2 * M_PI * k * rest));
}

/* term(k) + term(k - 1) + ... + term(0), which fall. */
static double sum_down(double term, double n, double p, double k)
{
	double sum = term, odds = (1 - p) / p;

	for (; k >= 1 && term > NEGLIGIBLE * sum; k--) {
		term *= k / (n - k + 1) * odds;
		sum += term;
	}
	return sum;
}

/* 1 + r_0 + r_0 r_1 + ..., which fall. */
static double sum_up(double n, double p, double k)
{
	double term = 1, sum = 1;

	for (double i = 1; term > NEGLIGIBLE * sum; i++) {
		term *= p * (n + i) / (k + i);
		sum += term;
	}
	return sum;
}

double mtl_binomial_tail(double n, double p, uint64_t least)
{
	double k = (double)least, rest = n - (k - 1);

	if (least == 0 || isnan(n) || isnan(p))
		return least == 0 ? 1 : NAN;
	if (!(rest > 0) || p <= 0)
		return 0;
	if (p >= 1 || isinf(n))
		return 1;
	double term = mtl_binomial_term(n, p, k - 1);
	if (k - 0.5 < (n + 1) * p)
		return fmax(1 - sum_down(term, n, p, k - 1), 0);
	return fmin(term * rest * p / k * sum_up(n, p, k), 1);
}

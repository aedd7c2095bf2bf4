// SPDX-License-Identifier: MIT
/*
 * Periods are prime, so that no loop of the program keeps step with them and is always caught at
 * the same access. IBS wants multiples of 16: there a prime is multiplied.
 *
 * The aim lies AIM below what is affordable, and nothing changes between half of that and all of
 * it, so that the period does not follow every breath of the program. (A period that did would make
 * samples come the more evenly in time, the less they say of how many accesses there were; each
 * sample carries the period it was taken with, so the weights are right either way.)
 */
#include "sample_period.h"

#include <math.h>

#define AIM 0.7
#define SHORTEN_MOST 4
#define RATE_MOST 1000.0 /* more addresses than that a second say nothing new of where it is hot   \
	                  */

static bool is_prime(uint64_t n)
{
	if (n < 4)
		return n > 1;
	if (n % 2 == 0)
		return false;
	for (uint64_t divisor = 3; divisor * divisor <= n; divisor += 2)
		if (n % divisor == 0)
			return false;
	return true;
}

uint64_t sample_period_near(const struct pmu_event *event, double wanted)
{
	uint64_t step = event->period_step > 1 ? event->period_step : 1, n;

	wanted = fmax(wanted, fmax(event->least_period, 1));
	n = fmin(ceil(wanted / step), SAMPLE_PERIOD_MAX / step - 1000);
	if (n <= 1)
		return step;
	while (!is_prime(n))
		n++;
	return n * step;
}

uint64_t sample_period_next(
        const struct pmu_event *event, uint64_t period, double rate, double most)
{
	double factor = rate / (AIM * most);

	if (rate > most)
		return sample_period_near(event, period * factor);
	if (rate < AIM * most / 2)
		return sample_period_near(event, period * fmax(factor, 1.0 / SHORTEN_MOST));
	return period;
}

double sample_rate_affordable(double part, double sample_seconds)
{
	return fmin(RATE_MOST, part / sample_seconds);
}

// SPDX-License-Identifier: MIT
/*
 * A rate is a sum of events divided by the sum of seconds in which they were counted. The kernel
 * lets counters take turns where there are too few of them, at its own clock, so that those seconds
 * are as good as any. What was counted in SECONDS_LEAST or less is noise.
 *
 * Accesses are counted where there is a counter, loads and stores in two or in one. Else they are
 * sampled: every sample stands for the period it was taken with, whether it has an address or not;
 * those that the kernel skipped stand for as much as those that came, and while others have the
 * counter none can come. With n samples the relative standard error is at most 1/sqrt(n), and less
 * where accesses come evenly.
 */
#include "rates.h"

#include <math.h>

#define SECONDS_LEAST 0.05

static void add(double *sum, double decay, double more)
{
	*sum = *sum * decay + more;
}

void rates_add(struct rates *rates, const struct mtl_counts *from, const struct mtl_counts *to,
        double cpu_seconds, double window_seconds, const struct rates_sampling *sampling)
{
	double decay = window_seconds > 0 ? exp(-cpu_seconds / window_seconds) : 1;
	double can_come = sampling->accesses ? cpu_seconds * (1 - sampling->starved) : 0;

	for (int kind = 0; kind < N_COUNTERS; kind++) {
		add(&rates->value[kind], decay, to->value[kind] - from->value[kind]);
		add(&rates->seconds[kind], decay,
		        (to->running_ns[kind] - from->running_ns[kind]) / 1e9);
	}
	add(&rates->sampled, decay, (to->sampled - from->sampled) * (1 + sampling->unseen));
	add(&rates->sampled_seconds, decay, can_come);
}

void rates_follow(struct rates *rates, const struct mtl_counts *now, double at,
        double window_seconds, const struct rates_sampling *sampling)
{
	struct mtl_counts latest = *now; /* which the kernel goes on writing */

	if (rates->followed && at > rates->at)
		rates_add(rates, &rates->latest, &latest, at - rates->at, window_seconds, sampling);
	if (rates->followed && at <= rates->at)
		return;
	rates->followed = true;
	rates->latest = latest;
	rates->at = at;
}

static double per_second(double value, double seconds)
{
	return seconds > SECONDS_LEAST ? value / seconds : NAN;
}

double rates_of(const struct rates *rates, enum counter_kind kind)
{
	return per_second(rates->value[kind], rates->seconds[kind]);
}

double rates_of_accesses(const struct rates *rates)
{
	double counted = rates_of(rates, COUNTER_LOADS) + rates_of(rates, COUNTER_STORES);

	if (isnan(counted))
		counted = rates_of(rates, COUNTER_ACCESSES);
	if (isnan(counted))
		counted = per_second(rates->sampled, rates->sampled_seconds);
	return counted > 0 ? counted : NAN;
}

struct manager_rates rates_tell(const struct rates *rates)
{
	return (struct manager_rates){
	        .accesses = rates_of_accesses(rates),
	        .l1_misses = rates_of(rates, COUNTER_L1_MISSES),
	        .l2_misses = rates_of(rates, COUNTER_L2_MISSES),
	        .llc_misses = rates_of(rates, COUNTER_LLC_MISSES),
	};
}

void rates_tell_origin(const struct rates *rates, struct mtl_curve_origin *origin)
{
	struct manager_rates all = rates_tell(rates);

	origin->accesses_per_second = all.accesses;
	origin->l1_misses_per_second = all.l1_misses;
	origin->l2_misses_per_second = all.l2_misses;
	origin->llc_misses_per_second = all.llc_misses;
}

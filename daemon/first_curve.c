/* SPDX-License-Identifier: MIT */
/*
 * Time to a first curve.
 *
 *     seen:     (needed - observations) each, where each = wall seconds / observations of late
 *     planned:  watch + (needed - observations) (1 / pace + watch) / CPUs, where a watch occupies
 * its process until the deadline and the first one has to end; CPUs = CPU time / wall time of late
 *
 * Of late: sums over the past with the weight e^(-age / RECENT). They are what a mean over all time
 * is not when the governor has backed off meanwhile, or the process has stopped: of n observations
 * in them each is within 1 / sqrt(n). It is told as long as PATIENCE times as long as one takes has
 * not gone by without one: that happens by chance once in e^PATIENCE times, and then nobody knows
 * when the next one comes. What is planned is as good as the pace, within a factor of two.
 */
#include "first_curve.h"

#include <math.h>
#include <stdio.h>

#include "words.h"

#define RECENT 10.0
#define NOTE_SECONDS 1.0
#define SEEN 4
#define PATIENCE 5
#define PATIENCE_SECONDS 3.0

void arrivals_note(struct arrivals *arrivals, uint64_t observations, double cpu_seconds, double now)
{
	double passed = now - arrivals->noted, weight;

	if (arrivals->noted == 0 || observations < arrivals->total ||
	        cpu_seconds < arrivals->cpu / 2) {
		*arrivals = (struct arrivals){.latest = now, .noted = now};
		arrivals->total = observations;
		arrivals->cpu = cpu_seconds;
		return;
	}
	if (passed < NOTE_SECONDS)
		return;
	weight = exp(-passed / RECENT);
	arrivals->observations =
	        weight * arrivals->observations + (double)(observations - arrivals->total);
	arrivals->cpu_seconds =
	        weight * arrivals->cpu_seconds + fmax(0, cpu_seconds - arrivals->cpu);
	arrivals->wall_seconds = weight * arrivals->wall_seconds + passed;
	if (observations > arrivals->total) {
		arrivals->latest = now;
		arrivals->each = arrivals->wall_seconds / arrivals->observations;
	}
	arrivals->noted = now;
	arrivals->total = observations;
	arrivals->cpu = cpu_seconds;
}

/* NAN where so long has gone by without an observation that this is no estimate. */
static double unless_silent(const struct first_curve_facts *facts, double each, double seconds,
        char *ret_basis, size_t size)
{
	double silent = facts->now - facts->arrivals.latest;

	if (silent <= PATIENCE_SECONDS + PATIENCE * each)
		return seconds;
	snprintf(ret_basis, size, "no observation has come for %.0f s", silent);
	return NAN;
}

static double by_plan(
        const struct first_curve_facts *facts, double missing, char *ret_basis, size_t size)
{
	double cpus = facts->arrivals.cpu_seconds / facts->arrivals.wall_seconds;
	double each = (1 / facts->pace + facts->watch_seconds) / cpus;
	char pace[NUMBER_TEXT];

	snprintf(ret_basis, size, "at a pace of %s a CPU second planned, on %.2g CPUs",
	        mtl_ratio_format(facts->pace, pace), cpus);
	return unless_silent(facts, fmax(each, facts->arrivals.each),
	        facts->watch_seconds / cpus + missing * each, ret_basis, size);
}

static double as_seen(
        const struct first_curve_facts *facts, double missing, char *ret_basis, size_t size)
{
	double rate = facts->arrivals.observations / facts->arrivals.wall_seconds;
	char text[NUMBER_TEXT];

	snprintf(ret_basis, size, "at %s observations a second of late",
	        mtl_ratio_format(rate, text));
	return unless_silent(facts, facts->arrivals.each, missing / rate, ret_basis, size);
}

double first_curve_seconds(const struct first_curve_facts *facts, char *ret_basis, size_t size)
{
	const struct arrivals *arrivals = &facts->arrivals;
	double missing = (double)facts->needed - (double)facts->observations;

	*ret_basis = '\0';
	if (missing <= 0)
		return 0;
	if (!(facts->cpu_seconds > 0))
		snprintf(ret_basis, size, "it has not run yet");
	else if (facts->still)
		snprintf(ret_basis, size, "it does not run at the moment");
	else if (arrivals->observations >= SEEN)
		return as_seen(facts, missing, ret_basis, size);
	else if (facts->pace > 0 && arrivals->cpu_seconds > 0)
		return by_plan(facts, missing, ret_basis, size);
	else
		snprintf(ret_basis, size, "it has run too little to plan a pace");
	return NAN;
}

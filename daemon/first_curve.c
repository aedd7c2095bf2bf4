/* SPDX-License-Identifier: MIT */
/*
 * Time to a first curve.
 *
 *     seen:     (needed - observations) wall seconds / observations, from SEEN observations on
 *     planned:  watch + (needed - observations) (1 / pace + watch) / CPUs, where a watch occupies
 * its process until the deadline and the first one has to end; CPUs = CPU time / wall time
 *
 * What has been seen is within 1 / sqrt(observations) of what is to come if the process goes on as
 * it does; what is planned is as good as the pace, within a factor of two.
 */
#include "first_curve.h"

#include <math.h>
#include <stdio.h>

#define SEEN 8

static double by_plan(
        const struct first_curve_facts *facts, double missing, char *ret_basis, size_t size)
{
	double cpus = facts->cpu_seconds / facts->wall_seconds;
	double each = 1 / facts->pace + facts->watch_seconds;

	snprintf(ret_basis, size, "at a pace of %.3g a CPU second planned, on %.2g CPUs",
	        facts->pace, cpus);
	return (facts->watch_seconds + missing * each) / cpus;
}

double first_curve_seconds(const struct first_curve_facts *facts, char *ret_basis, size_t size)
{
	double missing = (double)facts->needed - (double)facts->observations;

	*ret_basis = '\0';
	if (missing <= 0)
		return 0;
	if (!(facts->cpu_seconds > 0) || !(facts->wall_seconds > 0)) {
		snprintf(ret_basis, size, "it has not run yet");
		return NAN;
	}
	if (facts->observations >= SEEN) {
		double rate = facts->observations / facts->wall_seconds;

		snprintf(ret_basis, size, "at %.3g observations a second so far", rate);
		return missing / rate;
	}
	if (facts->pace > 0)
		return by_plan(facts, missing, ret_basis, size);
	snprintf(ret_basis, size, "it has run too little to plan a pace");
	return NAN;
}

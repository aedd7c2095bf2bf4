/* SPDX-License-Identifier: MIT */
/*
 * Memory traffic and occupancy of groups from their counters.
 *
 * A flow is the difference of a group's byte counter in two readings over the time between them:
 * mbm_total_bytes, or mbm_local_bytes where the total is not counted. A counter that went back
 * (its monitoring id is another one now), or that could not be read, leaves the flow unknown, and
 * with it the sum: unknown is not nothing.
 */

#include "watch_measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct resctrl_count *sum, const struct resctrl_count *part)
{
	sum->known = sum->known && part->known;
	sum->bytes += part->bytes;
}

static int read_group(const struct resctrl_place *place, const char *name,
        struct measure_group *ret_group, char *ret_error, size_t error_size)
{
	_cleanup_free_ struct resctrl_reading *readings = NULL;
	size_t n;
	int r = resctrl_monitor(place, name, &readings, &n, ret_error, error_size);

	if (r < 0)
		return r;
	*ret_group = (struct measure_group){
	        .occupancy.known = true, .total.known = true, .local.known = true};
	snprintf(ret_group->name, sizeof(ret_group->name), "%s", name);
	for (size_t i = 0; i < n; i++) {
		add(&ret_group->occupancy, &readings[i].occupancy);
		add(&ret_group->total, &readings[i].total);
		add(&ret_group->local, &readings[i].local);
	}
	return 0;
}

void measure_read(const struct in_force *in_force, const struct resctrl_place *place, double time,
        struct measure *ret_measure)
{
	const struct resctrl_plan *plan = in_force->schemata ? in_force->partition->plan : NULL;
	struct measure measure = {.time = time};
	int r = 0;

	if (!plan)
		snprintf(measure.reason, sizeof(measure.reason),
		        "without a division there are no groups to count");
	else
		measure.groups = calloc(plan->n_groups, sizeof(*measure.groups));
	for (size_t i = 0; r == 0 && measure.groups && i < plan->n_groups; i++) {
		r = read_group(place, plan->groups[i].name, &measure.groups[i], measure.reason,
		        sizeof(measure.reason));
		measure.n = r < 0 ? 0 : i + 1;
	}
	*ret_measure = measure;
}

static const struct measure_group *find(const struct measure *measure, const char *name)
{
	for (size_t i = 0; i < measure->n; i++)
		if (strcmp(measure->groups[i].name, name) == 0)
			return &measure->groups[i];
	return NULL;
}

static double rate(const struct resctrl_count *from, const struct resctrl_count *to, double seconds)
{
	if (!from->known || !to->known || to->bytes < from->bytes || !(seconds > 0))
		return NAN;
	return (double)(to->bytes - from->bytes) / seconds;
}

static void flow_of(const struct measure_group *from, const struct measure_group *to,
        double seconds, struct measure_flow *ret_flow)
{
	double total = from ? rate(&from->total, &to->total, seconds) : NAN;

	*ret_flow = (struct measure_flow){
	        .bytes_per_second =
	                !isnan(total) || !from ? total : rate(&from->local, &to->local, seconds),
	        .occupancy = to->occupancy.known ? (double)to->occupancy.bytes : NAN};
	memcpy(ret_flow->name, to->name, sizeof(ret_flow->name));
}

void measure_flow(
        const struct measure *from, const struct measure *to, struct measure_flows *ret_flows)
{
	struct measure_flows flows = {.bytes_per_second = NAN, .occupancy = NAN};

	flows.flows = to->n ? calloc(to->n, sizeof(*flows.flows)) : NULL;
	if (flows.flows) {
		flows.n = to->n;
		flows.bytes_per_second = flows.occupancy = 0;
	}
	for (size_t i = 0; i < flows.n; i++) {
		flow_of(find(from, to->groups[i].name), &to->groups[i], to->time - from->time,
		        &flows.flows[i]);
		flows.bytes_per_second += flows.flows[i].bytes_per_second;
		flows.occupancy += flows.flows[i].occupancy;
	}
	if (isnan(flows.bytes_per_second))
		snprintf(flows.reason, sizeof(flows.reason), "%s",
		        *to->reason     ? to->reason
		        : *from->reason ? from->reason
		                        : "the counters cannot be read now");
	*ret_flows = flows;
}

void measure_done(struct measure *measure)
{
	free(measure->groups);
	*measure = (struct measure){0};
}

void measure_flows_done(struct measure_flows *flows)
{
	free(flows->flows);
	*flows = (struct measure_flows){0};
}

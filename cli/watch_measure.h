/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_WATCH_MEASURE_H
#define MTL_CLI_WATCH_MEASURE_H

/* What resctrl counts of the groups in force, and what of that flowed between two readings. */

#include "in_force.h"

#define MEASURE_NAME (sizeof(RESCTRL_PREFIX) + RESCTRL_NAME_LENGTH)

/* Summed over the caches. */
struct measure_group {
	char name[MEASURE_NAME];
	struct resctrl_count occupancy, total, local;
};

struct measure {
	double time;
	struct measure_group *groups;
	size_t n; /* 0: nothing can be measured, for this reason */
	char reason[RESCTRL_ERROR];
};

/* Of one group; NAN where it is not known. */
struct measure_flow {
	char name[MEASURE_NAME];
	double bytes_per_second, occupancy;
};

struct measure_flows {
	struct measure_flow *flows;
	size_t n;
	double bytes_per_second, occupancy; /* of all groups; NAN where it is of any */
	char reason[RESCTRL_ERROR];         /* why bytes_per_second is not known; else "" */
};

/* Failures are reasons. Either is to be given to its _done(). */
void measure_read(const struct in_force *in_force, const struct resctrl_place *place, double time,
        struct measure *ret_measure);
void measure_flow(
        const struct measure *from, const struct measure *to, struct measure_flows *ret_flows);

void measure_done(struct measure *measure);
void measure_flows_done(struct measure_flows *flows);

#endif

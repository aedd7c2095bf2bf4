/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PMU_TABLE_H
#define MTLD_PMU_TABLE_H

/* Which microarchitecture a family and model are, and how its events are encoded. */

#include "pmu.h"

/* One event: config is what perf calls raw, event number and unit mask in their places. */
struct pmu_code {
	enum pmu_event_kind kind;
	const char *name; /* of the vendor; NULL ends a list */
	uint64_t config;
};

struct pmu_codes {
	const char *source; /* the documents the codes were read in */
	struct pmu_code codes[12];
};

/* The codes of PMU `name` ("cpu", "cpu_core", "cpu_atom") of that machine; NULL: not in the table.
 */
const struct pmu_codes *pmu_codes_of(const struct pmu_machine *machine, const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What follows from a geometry: lines sets x line bytes apart share a set, so as many as there are
 * ways stay and one more does not. A first-level TLB of e entries holds e pages and not e + 1.
 */

#include "probe.h"

#include <math.h>

#include "probe_memory.h"

void probe_predict(const struct cache_geometry *said, struct probe *probe)
{
	*probe = (struct probe){.source = said->source, .cpu = probe->cpu, .n_levels = said->n};
	for (size_t i = 0; i < said->n; i++) {
		struct probe_level *level = &probe->levels[i];

		level->said = said->levels[i];
		level->capacity_bytes = NAN;
		level->step.step_ratio = level->step.control_ratio = NAN;
		level->step.predicted = level->said.ways ? level->said.ways + 1 : 0;
	}
	probe->tlb.page_bytes = PROBE_PAGE;
	probe->tlb.huge_ratio = NAN;
	probe->tlb.step.predicted = said->tlb_entries ? said->tlb_entries + 1 : 0;
}

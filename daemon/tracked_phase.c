// SPDX-License-Identifier: MIT
/*
 * A tracked process changes: what was observed before goes, its window begins anew, and how long
 * lines are watched is considered again.
 *
 * A process whose resident memory has grown by a quarter is another one too, even if what it
 * touches has not been seen to differ: what was drawn when it was smaller could not be any of the
 * new lines.
 */
#include "tracked_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cleanup.h"
#include "words.h"

#define GROWN 1.25

static double resident_pages(const struct tracked *tracked)
{
	return planner_resident_bytes(tracked->planner) / 4096;
}

static void forget_before(struct tracked *tracked, double moment)
{
	store_expire(tracked->store, moment);
	tracked->resident_at_first = resident_pages(tracked);
	sampler_drop_candidates(tracked->instrument->sampler, tracked->index);
	deadlines_reconsider(&tracked->deadlines);
}

void tracked_heed_growth(struct tracked *tracked)
{
	double pages = resident_pages(tracked), before = tracked->resident_at_first;
	double now = tracked_cpu_ns(tracked) / 1e9;
	char reason[96], from[NUMBER_TEXT], to[NUMBER_TEXT];

	if (!(before > 0)) /* the first survey */
		tracked->resident_at_first = pages;
	if (!(before > 0) || pages <= GROWN * before)
		return;
	snprintf(reason, sizeof(reason), "its resident memory grew from %s to %s",
	        mtl_size_format(before * 4096, from), mtl_size_format(pages * 4096, to));
	if (tracked->store->n_observations >= MTL_OBSERVATIONS_NEEDED)
		phases_change(&tracked->phases, now, reason);
	else /* there was no curve that could have changed */
		phases_restart(&tracked->phases, now);
	store_forget(tracked->store); /* and the births that made it grow, with them */
	forget_before(tracked, now);
}

void tracked_look_for_change(struct tracked *tracked)
{
	_cleanup_free_ struct mtl_observation *seen = NULL;
	double now = tracked->counts.cpu_ns / 1e9;
	struct mtl_phase_options question =
	        phases_question(&tracked->phases, now, tracked->config->window_seconds);
	struct mtl_phase answer;
	size_t n;

	if (!tracked->planner || !phases_due(&tracked->phases, now))
		return;
	if (store_copy(tracked->store, &seen, &n) == 0 &&
	        mtl_phase_from_observations(seen, n, &question, &answer) == 0 &&
	        phases_judge(&tracked->phases, &answer))
		forget_before(tracked, tracked->phases.begin);
}

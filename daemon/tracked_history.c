// SPDX-License-Identifier: MIT
/*
 * A tracked process and its history: when an entry is due, the curve it is of is estimated.
 */
#include "tracked_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cleanup.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

#define STAGGER 10

static struct history_now now_of(const struct tracked *tracked)
{
	return (struct history_now){
	        .wall = (tracked->end_wall_ns ? tracked->end_wall_ns : source_now()) / 1e9,
	        .cpu = tracked_cpu_ns(tracked) / 1e9,
	        .seen = tracked->store->total,
	        .changes = tracked->phases.n_changes,
	        .paused = tracked->state == TRACKED_PAUSED,
	};
}

void tracked_begin_history(struct tracked *tracked)
{
	history_begin(&tracked->history, tracked->instrument->l2_bytes,
	        tracked->instrument->last_cache_bytes, source_now() / 1e9,
	        tracked->index % STAGGER);
}

static int estimate(struct tracked *tracked, struct mtl_curve **ret_curve)
{
	_cleanup_free_ struct mtl_observation *seen = NULL;
	struct mtl_estimate_options options = {0};
	size_t n;
	int r = tracked_observations(tracked, &seen, &n);

	if (r < 0)
		return r;
	history_question(&tracked->history, &options);
	tracked_options(tracked, &options);
	return mtl_curve_from_observations(seen, n, tracked->store->births,
	        tracked->store->n_births, &options, ret_curve);
}

/* Without memory there is a gap. */
void tracked_note_history(struct tracked *tracked)
{
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	struct history_now now = now_of(tracked);
	enum history_reason reason;

	if (!history_due(&tracked->history, &now))
		return;
	reason = history_reason_now(&tracked->history, &now);
	if (reason == HISTORY_KNOWN && estimate(tracked, &curve) < 0)
		reason = HISTORY_TOO_FEW;
	history_add(&tracked->history, &now, reason, curve);
}

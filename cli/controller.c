/* SPDX-License-Identifier: MIT */
/*
 * Whether a change is worth it (docs/THEORY.md section 17).
 *
 * Curves are estimates, so the best division of each round is that of its noise, too: followed at
 * once it would move caches to and fro for nothing, and a group that gets new ways pays for filling
 * them. A change therefore has to gain a fraction of what is in force, to be no loss anywhere
 * within the curves' intervals, and both in some rounds running, whichever change is the best in
 * each of them. The last one is made, no sooner than a pause after the one before.
 *
 * A guarantee that is broken is owed, and not weighed: it waits for the rounds and the pause only.
 */

#include "controller.h"

#include <math.h>

static enum controller_decision weigh(
        const struct controller *controller, const struct controller_finding *finding)
{
	double least = fmax(controller->terms.gain * finding->in_force, finding->rounding);

	if (finding->same)
		return CONTROLLER_SAME;
	if (finding->owed)
		return CONTROLLER_CHANGE;
	if (!(finding->gain > finding->rounding && finding->gain >= least))
		return CONTROLLER_SMALL;
	return finding->least > finding->rounding ? CONTROLLER_CHANGE : CONTROLLER_UNCERTAIN;
}

enum controller_decision controller_decide(
        struct controller *controller, const struct controller_finding *finding)
{
	enum controller_decision decision = weigh(controller, finding);
	const struct controller_terms *terms = &controller->terms;

	controller->running = decision == CONTROLLER_CHANGE ? controller->running + 1 : 0;
	if (decision != CONTROLLER_CHANGE)
		return decision;
	if (controller->running < terms->rounds)
		return CONTROLLER_UNCONFIRMED;
	if (controller->changed && finding->time - controller->changed_at < terms->pause)
		return CONTROLLER_SOON;
	return CONTROLLER_CHANGE;
}

void controller_skip(struct controller *controller)
{
	controller->running = 0;
}

void controller_changed(struct controller *controller, double time)
{
	controller->running = 0;
	controller->changed = true;
	controller->changed_at = time;
}

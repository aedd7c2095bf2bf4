/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a change, beside what was expected of it.
 *
 *     round r - 1      reading                    }  traffic before
 *     round r          reading, then the change   }
 *     round r + 1      reading                    }  traffic after: the round in which lines move
 *     round r + 2      reading, then the outcome  }  into their new ways is left out
 *
 * Curves of misses and counters of bytes are compared by their fractions. Where there is nothing to
 * count, what the curves of round r + 2 say of the change stays: that is no measurement, but tells
 * whether programs still are as they were.
 */

#include "watch_trial.h"

#include <math.h>
#include <stdlib.h>

#define SETTLED 2 /* rounds after the change */

void watch_trial_read(struct watch_trial *trial, const struct in_force *in_force,
        const struct resctrl_place *place, double time)
{
	struct measure now;

	measure_read(in_force, place, time, &now);
	measure_done(&trial->last);
	trial->last = trial->now;
	trial->now = now;
	trial->rounds++;
}

static void stop(struct watch_trial *trial)
{
	measure_flows_done(&trial->before);
	in_force_done(&trial->former);
	trial->runs = false;
}

/* gain_now and fraction_now stay NAN where memory does not suffice, or the former groups were
 * others. */
static void judge_again(const struct watch_trial *trial, const struct in_force *in_force,
        const struct division *division, struct watch_outcome *outcome)
{
	_cleanup_(mtl_division_state_done) struct division_state former = {0}, now = {0};

	if (in_force_state(&trial->former, division, &former) < 0 ||
	        in_force_state(in_force, division, &now) < 0)
		return;
	outcome->gain_now = mtl_division_gain(division, &former, &now).gain;
	outcome->fraction_now = outcome->gain_now / mtl_division_value(division, &former);
}

static void say(struct watch_trial *trial, const struct in_force *in_force,
        const struct division *division, const char *reason, struct watch_lines *lines)
{
	_cleanup_(measure_flows_done) struct measure_flows after = {0};
	struct watch_outcome outcome = {.unit = division->list->demands[0]->unit,
	        .gain = trial->gain,
	        .fraction = trial->fraction,
	        .gain_now = NAN,
	        .fraction_now = NAN,
	        .before = &trial->before,
	        .after = &after,
	        .reason = reason};

	measure_flow(&trial->last, &trial->now, &after);
	if (!reason && *trial->before.reason)
		outcome.reason = trial->before.reason;
	else if (!reason && *after.reason)
		outcome.reason = after.reason;
	judge_again(trial, in_force, division, &outcome);
	watch_say_outcome(lines, &outcome);
	stop(trial);
}

void watch_trial_begin(
        struct watch_trial *trial, struct in_force *former, const struct watch_decision *decision)
{
	trial->former = *former;
	*former = (struct in_force){0};
	measure_flow(&trial->last, &trial->now, &trial->before);
	trial->gain = decision->gain.gain;
	trial->fraction = decision->fraction;
	trial->rounds = 0;
	trial->runs = true;
}

void watch_trial_end(struct watch_trial *trial, const struct in_force *in_force,
        const struct division *division, bool changes, struct watch_lines *lines)
{
	if (trial->runs && trial->rounds >= SETTLED)
		say(trial, in_force, division, NULL, lines);
	else if (trial->runs && changes)
		say(trial, in_force, division, "another change came before", lines);
}

void watch_trial_done(struct watch_trial *trial)
{
	stop(trial);
	measure_done(&trial->last);
	measure_done(&trial->now);
}

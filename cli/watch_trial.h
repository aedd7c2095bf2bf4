/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_WATCH_TRIAL_H
#define MTL_CLI_WATCH_TRIAL_H

/* A change of `mtl partition --watch` whose outcome is waited for. */

#include "watch_lines.h"

struct watch_trial {
	bool runs;
	struct in_force former;      /* what was in force before it */
	double gain, fraction;       /* as expected */
	unsigned rounds;             /* since */
	struct measure last, now;    /* of the last two rounds */
	struct measure_flows before; /* between the two before it */
};

/* One more reading: once a round, with or without a change. */
void watch_trial_read(struct watch_trial *trial, const struct in_force *in_force,
        const struct resctrl_place *place, double time);

/* Says the outcome under the curves of this division, if it is time; or, where a change is about to
 * be made, that there is none. */
void watch_trial_end(struct watch_trial *trial, const struct in_force *in_force,
        const struct division *division, bool changes, struct watch_lines *lines);

/* A change has been made; former is taken over. */
void watch_trial_begin(
        struct watch_trial *trial, struct in_force *former, const struct watch_decision *decision);

void watch_trial_done(struct watch_trial *trial);

#endif

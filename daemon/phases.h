/* SPDX-License-Identifier: MIT */
#ifndef MTLD_PHASES_H
#define MTLD_PHASES_H

/*
 * What is known of the phases of one process: decisions on plain structs. Moments are CPU time, as
 * those of its observations.
 */

#include <stdbool.h>
#include "phase.h"

enum { PHASES_REMEMBERED = 64 };

struct phases {
	double begin;                      /* of what is seen as one phase */
	double changes[PHASES_REMEMBERED]; /* moments of the latest, a ring */
	unsigned n_changes;                /* ever, in this program */
	double look_due;
	double dispersion; /* at the latest look; 0: none yet */
	char reason[96];   /* of the latest change; "" */
};

/* Tracking began, or another program: nothing is known. */
void phases_begin(struct phases *phases, double now);

/* From now on, but what is known of changes stays. */
void phases_restart(struct phases *phases, double now);

/* Is it time to look? At most once a second of CPU time, so that false alarms a look are false
 * alarms an hour. */
bool phases_due(struct phases *phases, double now);

/* What to ask of the observations. */
struct mtl_phase_options phases_question(
        const struct phases *phases, double now, double window_seconds);

/* Takes note of the answer: true when what was observed before phases->begin has to go. */
bool phases_judge(struct phases *phases, const struct mtl_phase *answer);

/* A change that was noticed in another way; the reason is cut where it is too long. */
void phases_change(struct phases *phases, double moment, const char *reason);

/* CPU time since the latest change; NAN: none yet. */
double phases_seconds(const struct phases *phases, double now);

/* Changes since that moment, as many as are remembered. */
unsigned phases_since(const struct phases *phases, double moment);

/* Does it seem to change so often that observations are a mean over its phases? */
bool phases_mixed(const struct phases *phases);

#endif

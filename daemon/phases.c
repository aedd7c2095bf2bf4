// SPDX-License-Identifier: MIT
/*
 * When is a process another one than it was? lib/phase.c compares what came before and after every
 * moment; here is how often that is asked, and what is kept of the answers.
 *
 * The chance of a false alarm is at most FALSE_ALARMS a look, and there are at most 3600 looks in
 * an hour of CPU time. That bound, 7 an hour, adds up all comparisons as if they had nothing in
 * common; measured, there is one in several hours (docs/THEORY.md, section 20).
 *
 * A phase that is shorter than a thirtieth of the window (PHASE_BINS_LEAST bins, 2 s of 60 s),
 * or than what a curve needs, is not told apart: then the curve is a mean over phases, and says so.
 */
#include "phases.h"

#include <math.h>
#include <stdio.h>

#include "words.h"

#define LOOK_SECONDS 1.0
#define FALSE_ALARMS 2e-3
#define MIXED 4.0

void phases_begin(struct phases *phases, double now)
{
	*phases = (struct phases){.begin = now, .look_due = now + LOOK_SECONDS};
}

void phases_restart(struct phases *phases, double now)
{
	phases->begin = now;
}

bool phases_due(struct phases *phases, double now)
{
	if (now < phases->look_due)
		return false;
	phases->look_due = now + LOOK_SECONDS;
	return true;
}

struct mtl_phase_options phases_question(
        const struct phases *phases, double now, double window_seconds)
{
	return (struct mtl_phase_options){
	        .begin = phases->begin,
	        .now = now,
	        .span = window_seconds,
	        .false_alarms = FALSE_ALARMS,
	};
}

void phases_change(struct phases *phases, double moment, const char *reason)
{
	phases->begin = moment;
	phases->changes[phases->n_changes++ % PHASES_REMEMBERED] = moment;
	snprintf(phases->reason, sizeof(phases->reason), "%s", reason);
}

bool phases_judge(struct phases *phases, const struct mtl_phase *answer)
{
	char reason[96], window[NUMBER_TEXT], before[NUMBER_TEXT], after[NUMBER_TEXT];

	phases->dispersion = answer->dispersion;
	if (!answer->changed)
		return false;
	snprintf(reason, sizeof(reason), "it touches other memory");
	if (!isnan(answer->window))
		snprintf(reason, sizeof(reason), "words touched within %s: %s, now %s",
		        mtl_seconds_format(answer->window, window),
		        mtl_size_format(answer->before * MTL_LINE_BYTES, before),
		        mtl_size_format(answer->after * MTL_LINE_BYTES, after));
	phases_change(phases, answer->moment, reason);
	return true;
}

double phases_seconds(const struct phases *phases, double now)
{
	if (!phases->n_changes)
		return NAN;
	return fmax(now - phases->changes[(phases->n_changes - 1) % PHASES_REMEMBERED], 0);
}

unsigned phases_since(const struct phases *phases, double moment)
{
	unsigned n = 0;

	for (unsigned i = 0; i < phases->n_changes && i < PHASES_REMEMBERED; i++)
		n += phases->changes[i] >= moment;
	return n;
}

bool phases_mixed(const struct phases *phases)
{
	return phases->dispersion > MIXED;
}

// SPDX-License-Identifier: MIT
/*
 * A target that switches very often pays at every switch for the program that keeps its clock: on a
 * slow machine more than it may lose altogether. The clocks then run only part of the time,
 *
 *     share = PART x max_overhead / what switches take while they run
 *     on    = max(ON_LEAST, 1.5 x the longest watch), at most ON_MOST;   off = on x (1 / share - 1)
 *
 * each phase times a random factor in 0.75..1.25, so that no period of a program's own stays in
 * step. What is observed in the phases that are left is as it always was: they are chosen by the
 * wall clock and by averages over seconds, not by what any line or program does in them. It only
 * comes more slowly, and what is under way at the end of a phase has been watched until then.
 */
#include "duty.h"

#include <math.h>

#include "splitmix.h"

#define PART 0.25
#define SHARE_LEAST 0.02
#define SHARE_ALL 0.8 /* beyond this it is not worth while */
#define SMOOTHING 0.3
#define ON_LEAST 0.2
#define ON_MOST 2.0

void duty_begin(struct duty *duty, uint64_t seed)
{
	*duty = (struct duty){.share = 1, .random = seed};
}

void duty_decide(struct duty *duty, double switching)
{
	double wanted = fmax(SHARE_LEAST, switching > PART ? PART / switching : 1);

	duty->share = duty->share < 1 ? duty->share + SMOOTHING * (wanted - duty->share) : wanted;
	if (duty->share > SHARE_ALL)
		duty->share = 1;
}

static double phase_seconds(struct duty *duty, double watch_seconds)
{
	double on = fmin(ON_MOST, fmax(ON_LEAST, 1.5 * watch_seconds));
	double length = duty->resting ? on * (1 / duty->share - 1) : on;

	return length * (0.75 + 0.5 * splitmix_uniform(&duty->random));
}

bool duty_step(struct duty *duty, uint64_t now, double watch_seconds)
{
	bool changed;

	if (duty->share == 1)
		return duty_wake(duty);
	if (duty->until > now)
		return false;
	changed = duty->until != 0; /* not where the first of all phases begins */
	duty->resting = changed && !duty->resting;
	duty->until = now + (uint64_t)(phase_seconds(duty, watch_seconds) * 1e9);
	return changed;
}

bool duty_wake(struct duty *duty)
{
	bool rested = duty->resting;

	duty->resting = false;
	duty->until = 0;
	return rested;
}

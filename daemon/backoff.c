// SPDX-License-Identifier: MIT
/*
 * A process that waits for a CPU has nothing to give away: beyond WAIT_LOW of the time in which it
 * wants one, its pace falls in proportion, to a half where it waits WAIT_HIGH of it or more.
 *
 *     waiting = time in the run queue / (that + time on a CPU), smoothed
 *
 * Where the kernel does not tell that of the process, the caller has the pressure of its control
 * group or of the machine (PSI) instead, which is the same share of somebody's time.
 */
#include "backoff.h"

#include <math.h>
#include <stdio.h>

#define WAIT_LOW 0.3
#define WAIT_HIGH 0.8
#define WAIT_OVER 0.2 /* back at the full pace only below */
#define FACTOR_LEAST 0.5
#define SMOOTHING 0.3
#define LOG_AGAIN_NS 60000000000ULL
#define CHECK_STEP 0.7
#define CHECK_LEAST 0.1

static const struct {
	const char *name, *text;
} reasons[] = {
        [BACKOFF_CPU_PRESSURE] = {"cpu-pressure", "it waits for a CPU"},
        [BACKOFF_SELF_CHECK] = {"self-check", "it loses more than max_overhead"},
        [BACKOFF_DAEMON_CPU] = {"daemon-cpu", "mtld itself is at max_daemon_cpu"},
        [BACKOFF_SWITCHES] = {"switches",
                "it switches very often: its clock runs now and then only"},
};

void backoff_begin(struct backoff *backoff)
{
	*backoff = (struct backoff){.waiting = NAN};
	for (int i = 0; i < N_BACKOFF_REASONS; i++)
		backoff->factor[i] = 1;
}

bool backoff_set(struct backoff *backoff, enum backoff_reason reason, double factor, uint64_t now)
{
	bool begins = factor < 1 && backoff->since[reason] == 0;

	backoff->factor[reason] = factor;
	if (factor >= 1)
		backoff->since[reason] = 0;
	if (!begins)
		return false;
	backoff->since[reason] = now;
	if (backoff->logged[reason] && now - backoff->logged[reason] < LOG_AGAIN_NS)
		return false;
	backoff->logged[reason] = now;
	return true;
}

double backoff_of_waiting(struct backoff *backoff, double ran, double waited)
{
	double share = ran + waited > 0 ? waited / (ran + waited) : 0, over;
	bool was = backoff->factor[BACKOFF_CPU_PRESSURE] < 1;

	if (!(ran >= 0 && waited >= 0))
		return backoff->factor[BACKOFF_CPU_PRESSURE];
	backoff->waiting = isnan(backoff->waiting)
	                           ? share
	                           : backoff->waiting + SMOOTHING * (share - backoff->waiting);
	over = backoff->waiting - (was ? WAIT_OVER : WAIT_LOW);
	if (over <= 0)
		return 1;
	over = (backoff->waiting - WAIT_OVER) / (WAIT_HIGH - WAIT_OVER);
	return fmax(FACTOR_LEAST, 1 - (1 - FACTOR_LEAST) * over);
}

double backoff_of_check(double factor, const struct check_result *checked, double max_overhead)
{
	if (isnan(checked->low))
		return factor;
	if (checked->low > max_overhead)
		return fmax(CHECK_LEAST, factor * CHECK_STEP);
	return checked->high < max_overhead ? fmin(1, factor / CHECK_STEP) : factor;
}

double backoff_factor(const struct backoff *backoff)
{
	return backoff->factor[BACKOFF_CPU_PRESSURE] * backoff->factor[BACKOFF_SELF_CHECK];
}

const char *backoff_name(enum backoff_reason reason)
{
	return reasons[reason].name;
}

void backoff_explain(
        const struct backoff *backoff, enum backoff_reason reason, char *ret_text, size_t size)
{
	if (reason == BACKOFF_CPU_PRESSURE)
		snprintf(ret_text, size, "it waits for a CPU %.0f %% of the time it wants one",
		        100 * backoff->waiting);
	else
		snprintf(ret_text, size, "%s", reasons[reason].text);
}

// SPDX-License-Identifier: MIT
/*
 * What takes a tracked process below the pace its budget allows: it waits for a CPU, or the
 * self-check found that it loses more than it may; and what is not about its pace but told
 * likewise. Every begin is logged once.
 */
#include "tracked_parts.h"

#include <math.h>
#include <stdio.h>

#include "log.h"
#include "proc_progress.h"

#define DAEMON_SHARE_LOW 0.9 /* of the pace: below that mtld's own bound is what holds it */

void tracked_govern_begin(struct tracked *tracked)
{
	backoff_begin(&tracked->backoff);
	self_check_begin(&tracked->check, source_now(), source_now() ^ tracked->index);
	tracked->waiting_ran = NAN;
}

static void back_off(struct tracked *tracked, enum backoff_reason reason, double factor)
{
	struct log_about about = {.pid = tracked->pid, .comm = tracked->comm};
	char text[128];

	if (!backoff_set(&tracked->backoff, reason, factor, source_now()))
		return;
	backoff_explain(&tracked->backoff, reason, text, sizeof(text));
	log_event(LOG_BACKED_OFF, SD_NOTICE, &about,
	        "%s (pid %d) is sampled at %.0f %% of its pace (%s): %s", tracked->comm,
	        tracked->pid, 100 * factor, backoff_name(reason), text);
}

/* Of the time since the call before; 1 where the kernel tells nothing. */
static double factor_of_waiting(struct tracked *tracked)
{
	double ran, waited, before_ran = tracked->waiting_ran, before = tracked->waiting_waited;
	double pressure;

	if (proc_waiting(tracked->root, tracked->pid, &ran, &waited) < 0) {
		pressure = proc_pressure(tracked->root, tracked->pid);
		return isnan(pressure)
		               ? 1
		               : backoff_of_waiting(&tracked->backoff, 1 - pressure, pressure);
	}
	tracked->waiting_ran = ran;
	tracked->waiting_waited = waited;
	return isnan(before_ran)
	               ? 1
	               : backoff_of_waiting(&tracked->backoff, ran - before_ran, waited - before);
}

double tracked_govern(struct tracked *tracked, double share)
{
	double awake = tracked->instrument->awake;
	bool switches = tracked->governor.switching * awake > 0.25 * tracked->config->max_overhead;

	back_off(tracked, BACKOFF_CPU_PRESSURE, factor_of_waiting(tracked));
	back_off(tracked, BACKOFF_DAEMON_CPU, share < DAEMON_SHARE_LOW ? share : 1);
	back_off(tracked, BACKOFF_SWITCHES, switches ? awake : 1);
	return share * backoff_factor(&tracked->backoff);
}

/* ---- the self-check ---- */

static void pause_for_check(struct tracked *tracked, bool pause)
{
	if (pause == tracked->checking)
		return;
	tracked->checking = pause;
	if (pause)
		tracked_lie_down(tracked);
	else
		tracked_wake(tracked);
}

/* A pair has been added. */
static void heed_check(struct tracked *tracked)
{
	double factor = tracked->backoff.factor[BACKOFF_SELF_CHECK], after;

	self_check_tell(&tracked->check, &tracked->checked);
	after = backoff_of_check(factor, &tracked->checked, tracked->config->max_overhead);
	if (after == factor)
		return;
	back_off(tracked, BACKOFF_SELF_CHECK, after);
	self_check_begin(
	        &tracked->check, source_now(), tracked->check.random); /* of the new pace */
}

static double accesses_so_far(const struct tracked *tracked)
{
	const struct mtl_counts *counts =
	        source_counts(tracked->instrument->source, tracked->index);
	double sum = 0;

	for (int kind = COUNTER_LOADS; kind <= COUNTER_ACCESSES; kind++)
		sum += counts->value[kind];
	return sum > 0 ? sum : NAN;
}

/* Where the clocks rest anyway there are no windows that differ by sampling alone. */
void tracked_self_check(struct tracked *tracked)
{
	struct check_reading reading;
	uint64_t now = source_now();
	unsigned pairs = tracked->check.pairs;
	bool possible = tracked->state == TRACKED_SAMPLING && tracked->instrument->awake == 1 &&
	                tracked->running >= CHECK_CPUS_LEAST;

	if (!possible && tracked->checking) {
		pause_for_check(tracked, false);
		self_check_begin(&tracked->check, now, tracked->check.random);
	}
	if (!possible || !self_check_due(&tracked->check, now) ||
	        proc_progress(tracked->root, tracked->pid, &reading) < 0)
		return;
	reading.value[CHECK_ACCESSES] = accesses_so_far(tracked);
	pause_for_check(tracked, self_check_step(&tracked->check, now, &reading));
	if (tracked->check.pairs > pairs)
		heed_check(tracked);
}

static void tell_unchecked(const struct tracked *tracked, struct check_result *ret_checked)
{
	self_check_tell(&tracked->check, ret_checked);
	if (tracked->running < CHECK_CPUS_LEAST)
		snprintf(ret_checked->reason, sizeof(ret_checked->reason),
		        "it uses less than %.0f %% of a CPU: too little to compare",
		        100 * CHECK_CPUS_LEAST);
}

void tracked_tell_governing(const struct tracked *tracked, struct manager_governing *ret_governing)
{
	uint64_t now = source_now();
	unsigned n = 0;

	ret_governing->checked = tracked->checked;
	if (!tracked->checked.unit)
		tell_unchecked(tracked, &ret_governing->checked);
	for (int reason = 0; reason < N_BACKOFF_REASONS; reason++) {
		struct manager_backoff *told = &ret_governing->backoff[n];

		if (!tracked->backoff.since[reason])
			continue;
		told->reason = backoff_name(reason);
		told->share = tracked->backoff.factor[reason];
		told->seconds = (now - tracked->backoff.since[reason]) / 1e9;
		backoff_explain(&tracked->backoff, reason, told->text, sizeof(told->text));
		n++;
	}
	ret_governing->n_backoff = n;
}

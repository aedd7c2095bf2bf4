// SPDX-License-Identifier: MIT
/*
 * Sampling is paused for a short window, next to one in which it goes on, which of them first by
 * chance:
 *
 *     loss of a pair = 1 - rate of progress with sampling / rate without,  each per CPU second
 *     interval       = order statistics of the pairs' median, 90 % by the sign test
 *
 * so that whatever drifts meets both alike, and no pair that something else upset counts for more
 * than one. CPU seconds are the kernel's: they hold what traps take, and do not hold what others
 * take, on however busy a machine. What the armers take of a CPU while they preempt the target is
 * not in them.
 *
 * There is no unit of progress that every program has. All are tried; the one whose interval is the
 * narrowest tells, if that is narrow enough to say anything; else the answer is "not known". The
 * moments of sampling stay independent of the program, since pauses are drawn by the wall clock. Of
 * all time at most SETTLE + WINDOW in PERIOD_LEAST is paused: 5 %.
 */
#include "self_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binomial.h"
#include "splitmix.h"

#define SETTLE_NS 100000000ULL
#define WINDOW_NS 300000000ULL
#define PERIOD_LEAST_NS 8000000000ULL /* from pair to pair, and up to twice that */
#define CPU_LEAST                                                                                  \
	(CHECK_CPUS_LEAST * WINDOW_NS / 1e9) /* seconds in a window that say something             \
	                                      */
#define COUNT_LEAST 30                       /* units in a window, likewise */
#define WIDTH_MOST 0.05                      /* an interval wider than that says nothing */
#define TAIL 0.05

/* A pair: settle, measure, settle, measure; then nothing for a while. */
enum { PHASE_IDLE, PHASE_SETTLE_1, PHASE_WINDOW_1, PHASE_SETTLE_2, PHASE_WINDOW_2, N_PHASES };

static const char *const unit_names[] = {
        [CHECK_ACCESSES] = "memory accesses",
        [CHECK_CALLS] = "reads and writes",
        [CHECK_BYTES] = "bytes read and written",
        [CHECK_FAULTS] = "page faults",
        [CHECK_SLEEPS] = "voluntary switches",
};

void self_check_begin(struct self_check *check, uint64_t now, uint64_t seed)
{
	*check = (struct self_check){.random = seed};
	check->due = now + (uint64_t)(PERIOD_LEAST_NS * splitmix_uniform(&check->random));
}

bool self_check_due(const struct self_check *check, uint64_t now)
{
	return now >= check->due;
}

static void note_rates(struct self_check *check, const struct check_reading *now, bool paused)
{
	double seconds = now->cpu_seconds - check->begin.cpu_seconds;

	for (int unit = 0; unit < N_CHECK_UNITS; unit++) {
		double count = now->value[unit] - check->begin.value[unit];

		check->rate[paused][unit] =
		        seconds >= CPU_LEAST && count >= COUNT_LEAST ? count / seconds : NAN;
	}
}

static void note_pair(struct self_check *check)
{
	check->pairs++;
	for (int unit = 0; unit < N_CHECK_UNITS; unit++) {
		double loss = 1 - check->rate[false][unit] / check->rate[true][unit];

		if (isfinite(loss))
			check->loss[unit][check->n[unit]++ % CHECK_PAIRS] = loss;
	}
}

static bool paused_in(const struct self_check *check)
{
	bool first = check->phase == PHASE_SETTLE_1 || check->phase == PHASE_WINDOW_1;

	return check->phase != PHASE_IDLE && first == check->paused_first;
}

bool self_check_step(struct self_check *check, uint64_t now, const struct check_reading *reading)
{
	if (!self_check_due(check, now))
		return paused_in(check);
	if (check->phase == PHASE_WINDOW_1 || check->phase == PHASE_WINDOW_2)
		note_rates(check, reading, paused_in(check));
	if (check->phase == PHASE_WINDOW_2)
		note_pair(check);
	check->phase = (check->phase + 1) % N_PHASES;
	check->begin = *reading;
	if (check->phase == PHASE_SETTLE_1)
		check->paused_first = splitmix_uniform(&check->random) < 0.5;
	if (check->phase == PHASE_IDLE)
		check->due =
		        now + (uint64_t)(PERIOD_LEAST_NS * (1 + splitmix_uniform(&check->random)));
	else if (check->phase == PHASE_WINDOW_1 || check->phase == PHASE_WINDOW_2)
		check->due = now + WINDOW_NS;
	else
		check->due = now + SETTLE_NS;
	return paused_in(check);
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* How many of n may be cut off at either end: the greatest k with P(at most k - 1 of n) <= TAIL. */
static unsigned reach(unsigned n)
{
	unsigned k = 0;

	while (k < n / 2 && 1 - mtl_binomial_tail(n, 0.5, k + 1) <= TAIL)
		k++;
	return k;
}

static bool interval(const struct self_check *check, int unit, struct check_result *ret_result)
{
	unsigned n = check->n[unit] < CHECK_PAIRS ? check->n[unit] : CHECK_PAIRS, cut;
	double sorted[CHECK_PAIRS];

	if (n < CHECK_PAIRS_LEAST)
		return false;
	memcpy(sorted, check->loss[unit], n * sizeof(double));
	qsort(sorted, n, sizeof(double), by_value);
	cut = reach(n);
	cut = cut ? cut - 1 : 0;
	*ret_result = (struct check_result){
	        .loss = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2,
	        .low = sorted[cut],
	        .high = sorted[n - 1 - cut],
	        .pairs = n,
	        .unit = unit_names[unit],
	};
	return true;
}

static void unknown(const struct self_check *check, const struct check_result *best,
        struct check_result *ret_result)
{
	*ret_result = (struct check_result){
	        .loss = NAN, .low = NAN, .high = NAN, .pairs = check->pairs, .unit = ""};
	if (best->unit)
		snprintf(ret_result->reason, sizeof(ret_result->reason),
		        "no unit of its progress is steady enough (%s: within %.0f %%)", best->unit,
		        100 * (best->high - best->low));
	else if (check->pairs < CHECK_PAIRS_LEAST)
		snprintf(ret_result->reason, sizeof(ret_result->reason), "%u of %u pairs so far",
		        check->pairs, CHECK_PAIRS_LEAST);
	else
		snprintf(ret_result->reason, sizeof(ret_result->reason),
		        "nothing that it does all the time is counted by the kernel");
}

void self_check_tell(const struct self_check *check, struct check_result *ret_result)
{
	struct check_result best = {0}, here;

	for (int unit = 0; unit < N_CHECK_UNITS; unit++)
		if (interval(check, unit, &here) &&
		        (!best.unit || here.high - here.low < best.high - best.low))
			best = here;
	if (best.unit && best.high - best.low <= WIDTH_MOST)
		*ret_result = best;
	else
		unknown(check, &best, ret_result);
}

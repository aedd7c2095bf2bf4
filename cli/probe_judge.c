/* SPDX-License-Identifier: MIT */
/*
 * What the numbers of a probe allow to be said.
 *
 * Two layouts of the same count and span differ in one thing, the set that each line falls into:
 * aliased puts all lines into one set, spread no two. A cache of w ways holds w aliased lines and
 * thrashes with w + 1, in one step; the spread layout is the control and must stay flat. A rise in
 * both is not about sets: the control is broken, whatever the aliased layout shows. A gradual rise
 * is not what w ways look like: then lines are not in the sets they were meant for, or somebody
 * else holds some of the ways for a share of the time, as a program on the other thread of the core
 * does. So a step is one that is low before it (HELD) and has gained most of the way to the plateau
 * behind it (ARRIVED) with a single line.
 *
 * A number is a median of ratios to a reference that was measured within the same few hundred
 * microseconds, so that changes of clock frequency and much of what neighbours do cancel. What
 * remains is the noise of a row; a control that is off by no more than noise is not called broken,
 * but neither is anything concluded.
 *
 * Where the plateau beyond the step lies, and its shape, depends on the replacement policy, which
 * nobody publishes. Nothing is concluded from it but that it is above the step.
 */

#include "probe.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "option_values.h"

#define STEP 1.5 /* from here on an access is said to miss */
#define HELD 1.3 /* below it, to hit: twice as far from either as the control may be */
#define ARRIVED 0.75
#define BEYOND 1.35 /* what rows after the step must keep up */
#define CONTROL_MOST 1.15
#define NOISE_MOST 0.1
#define TRIES 4

const char *probe_verdict_name(enum probe_verdict verdict)
{
	static const char *const names[] = {[PROBE_NOT_MEASURABLE] = "not-measurable",
	        [PROBE_CONFIRMED] = "confirmed",
	        [PROBE_DIFFERS] = "differs",
	        [PROBE_CONTROL_BROKEN] = "control-broken"};

	return names[verdict];
}

/* Median of one / other, and half the interquartile range as a share of it. */
static double ratio_of(const double *one, const double *other, size_t n, double *ret_noise)
{
	double ratios[n], middle;

	for (size_t i = 0; i < n; i++)
		ratios[i] = one[i] / other[i];
	middle = numbers_quantile(ratios, n, 0.5);
	*ret_noise = (numbers_quantile(ratios, n, 0.75) - numbers_quantile(ratios, n, 0.25)) / 2 /
	             middle;
	return middle;
}

static double median_of(const double *values, size_t n)
{
	double copy[n];

	memcpy(copy, values, n * sizeof(*values));
	return numbers_quantile(copy, n, 0.5);
}

struct probe_row probe_row_of(unsigned count, const double *aliased, const double *spread,
        const double *reference, const double *third, size_t n)
{
	double noise[3] = {0};
	struct probe_row row = {
	        .count = count,
	        .aliased = ratio_of(aliased, reference, n, &noise[0]),
	        .spread = ratio_of(spread, reference, n, &noise[1]),
	        .third = third ? ratio_of(third, reference, n, &noise[2]) : NAN,
	        .nanoseconds = {median_of(aliased, n), median_of(spread, n)},
	};

	row.noise = fmax(noise[0], noise[1]);
	return row;
}

static void conclude(struct probe_step *step, enum probe_verdict verdict, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static void conclude(struct probe_step *step, enum probe_verdict verdict, const char *format, ...)
{
	va_list arguments;

	step->verdict = verdict;
	va_start(arguments, format);
	vsnprintf(step->reason, sizeof(step->reason), format, arguments);
	va_end(arguments);
}

/* The row with the worst control. */
static const struct probe_row *worst_control(const struct probe_row *rows, size_t n)
{
	const struct probe_row *worst = rows;

	for (size_t i = 1; i < n; i++)
		if (rows[i].spread > worst->spread)
			worst = &rows[i];
	return worst;
}

/* The first row from which on everything is slow; n: there is none. */
static size_t find_step(const struct probe_row *rows, size_t n)
{
	size_t first = n;

	while (first > 0 && rows[first - 1].aliased >= BEYOND)
		first--;
	while (first < n && rows[first].aliased < STEP)
		first++;
	return first;
}

/* From held to the plateau, within one row. */
static bool is_step(const struct probe_row *rows, size_t n, size_t at)
{
	double behind[PROBE_ROWS_MAX];

	for (size_t i = at; i < n; i++)
		behind[i - at] = rows[i].aliased;
	return rows[at - 1].aliased <= HELD &&
	       rows[at].aliased - 1 >= ARRIVED * (numbers_quantile(behind, n - at, 0.5) - 1);
}

static double step_at(const struct probe_row *rows, size_t n, unsigned count)
{
	for (size_t i = 1; i < n; i++)
		if (rows[i].count == count)
			return rows[i].aliased / rows[i - 1].aliased;
	return NAN;
}

static void judge_control(const struct probe_row *worst, struct probe_step *step)
{
	if (worst->spread - 1 > 3 * worst->noise)
		conclude(step, PROBE_CONTROL_BROKEN,
		        "the control is %.2f times its base at %u: what rises in both layouts is "
		        "not about the one thing in which they differ",
		        worst->spread, worst->count);
	else
		conclude(step, PROBE_NOT_MEASURABLE,
		        "too noisy: the control is %.2f times its base at %u, give or take %.2f",
		        worst->spread, worst->count, worst->noise);
}

static void judge_place(struct probe_step *step, double slack)
{
	unsigned off = step->measured > step->predicted ? step->measured - step->predicted
	                                                : step->predicted - step->measured;

	if (!step->predicted)
		conclude(step, PROBE_NOT_MEASURABLE,
		        "a step at %u, but nothing says where it should be", step->measured);
	else if (off <= slack * step->predicted)
		conclude(step, PROBE_CONFIRMED, "a step of %.2f at %u, the control is flat",
		        step->step_ratio, step->measured);
	else
		conclude(step, PROBE_DIFFERS,
		        "the step is at %u and not at %u; it is %.2f high, and the control is flat",
		        step->measured, step->predicted, step->step_ratio);
}

void probe_judge(
        const struct probe_row *rows, size_t n, double slack, bool ramp, struct probe_step *step)
{
	const struct probe_row *worst = worst_control(rows, n);
	size_t at = find_step(rows, n);

	step->control_ratio = worst->spread;
	step->step_ratio = step_at(rows, n, step->predicted);
	step->measured = 0;
	if (worst->spread > CONTROL_MOST) {
		judge_control(worst, step);
		return;
	}
	if (at == n) {
		conclude(step, PROBE_NOT_MEASURABLE, "no step up to %u", rows[n - 1].count);
		return;
	}
	if (at == 0) {
		conclude(step, PROBE_NOT_MEASURABLE, "slow from the least number on, %u",
		        rows[0].count);
		return;
	}
	if (!ramp && !is_step(rows, n, at)) {
		conclude(step, PROBE_NOT_MEASURABLE, "%s: %.2f times the base at %u, %.2f at %u",
		        rows[at - 1].noise > NOISE_MOST ? "too noisy for a step"
		                                        : "a ramp and not a step",
		        rows[at - 1].aliased, rows[at - 1].count, rows[at].aliased, rows[at].count);
		return;
	}
	step->measured = rows[at].count;
	step->step_ratio = rows[at].aliased / rows[at - 1].aliased;
	judge_place(step, slack);
}

static bool agree(const struct probe_step *one, const struct probe_step *other, double slack)
{
	double off = fabs((double)one->measured - (double)other->measured);

	return one->verdict == other->verdict && off <= slack * one->measured;
}

int probe_repeat(probe_experiment experiment, void *userdata, struct probe_step *step, double slack)
{
	struct probe_step before;
	int r = experiment(userdata, step);

	if (r < 0 || step->verdict == PROBE_CONFIRMED)
		return r;
	for (unsigned tries = 1; tries < TRIES; tries++) {
		before = *step;
		r = experiment(userdata, step);
		if (r < 0 || agree(&before, step, slack))
			return r;
	}
	step->measured = 0;
	conclude(step, PROBE_NOT_MEASURABLE, "too noisy: no two of %d measurements agree", TRIES);
	return 0;
}

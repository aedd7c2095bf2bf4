/* SPDX-License-Identifier: MIT */
/*
 * Phase: has the program become another one?
 *
 * An observation of weight w tells of every window T not longer than its deadline: the part of its
 * watched words that were touched by T is x = w f(T), and the mean of x is the footprint of words
 * at T whatever lines were drawn and how often (Horvitz and Thompson), also while the planner
 * learns. So the two sides of a moment s can be compared although their draws differ: for each T
 *
 *     t = (m1 - m2) / sqrt(v1 + v2),     v = d S / n,
 *
 * with m the mean, n the number, S the variance of x on a side, and d >= 1 its dispersion. A
 * program that is the same all the time may still change many times a second; then neighbours are
 * alike, and means of n of them scatter like those of n / d independent ones. d is seen on the side
 * itself, as the scatter of sums over bins of time, at two lengths of them:
 *
 *     d = sum over bins of (sum of (x - m))^2  /  sum of (x - m)^2,
 *
 * less half its standard deviation, (2 / bins)^1/2, so that what is called a change
 * is what lasts longer than these bins. S is at least what draws like the side's would scatter by
 * if it touched as much as both sides together, m u, u = sum of x^2 / sum of x being what a touched
 * one weighs there (at the deadline, where x may be negative: the variance of both together). The
 * variance of both in place of m u would hide a change from a side of few, but light, draws beside
 * one of heavy draws. And v has the square of X / n added, X being the greatest x of all, or the
 * harmonic mean of the side's weights if that is more: where touched lines are seldom met, a side
 * that has met none knows nothing of its variance, and the next may weigh so much.
 *
 * t has about Welch and Satterthwaite's degrees of freedom, n / d - 1 a side, and becomes a normal
 * deviate (Wallace, 1959). Windows are quantiles of the deadlines, which are blind to the lines.
 * Beside them stands one more number, x at the deadline less what x is there on the average: a sum
 * of a little of everything, it tells more of few observations than any window by itself. What came
 * before a moment is once all of it, once no more than came after: it may have been of two kinds
 * itself. The least probability of all moments (ends of bins), windows and both ways, times their
 * number, bounds the chance of what was found (Bonferroni). A difference of less than a tenth of
 * what is touched is let pass: what was seen so far is worth more than that.
 *
 * The change is told a bin later than where it shows most: a bin is lost rather than that a part of
 * the old phase is taken for the new.
 */

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "phase.h"

#define WINDOWS 8
/* What is compared: x at each window, and what is left of x at the deadline. */
#define COMPARED (WINDOWS + 1)
#define LEFT WINDOWS
/* Observations of a side at a window, for its mean to be worth something. */
#define AT_RISK_LEAST 20
/* Smaller deviates are not worth a thought, nor are smaller parts of what is touched. */
#define T_LEAST 3
#define PART_LEAST 0.1
/* Deadlines, about, that quantiles are taken of. */
#define DEADLINES 500
/* Bins that make the longer ones of the dispersion, and how many of a kind it takes. */
#define LONG_BIN 4
#define DISPERSION_BINS 6
/* So many standard deviations of a dispersion are left to chance. */
#define CHANCE 0.5

struct sums {
	double n, x, xx;
	double drawn; /* sum of 1 / w */
};

/* Sums over stretches of time, one a window. */
struct ledger {
	double window[WINDOWS];
	double touched[WINDOWS]; /* mean of x at each, of all */
	double most;             /* greatest x of all */
	struct sums bin[COMPARED][PHASE_BINS];
	struct sums before[COMPARED][PHASE_BINS + 1]; /* each bin, added up */
	unsigned seen[PHASE_BINS];                    /* observations, whatever their deadline */
	double bin_seconds, first;                    /* of the first bin */
	size_t bins;
};

/* One side of a moment at one window. */
struct side {
	double n, mean, variance, dispersion;
	double unseen; /* of the mean, by one more of the greatest x */
	double weight; /* u: of what was touched; NAN: x may be negative */
};

/* The least likely of all differences. */
struct finding {
	double probability;
	size_t split;
};

struct range {
	size_t from, to; /* bins from <= b < to */
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static bool options_valid(const struct mtl_phase_options *options)
{
	return isfinite(options->begin) && isfinite(options->now) && options->span > 0 &&
	       isfinite(options->span) && options->false_alarms > 0 && options->false_alarms < 1;
}

static bool observation_valid(const struct mtl_observation *o)
{
	return o->slots >= 1 && o->slots <= MTL_SLOTS_MAX && isfinite(o->moment) &&
	       o->deadline > 0 && isfinite(o->weight) && o->weight > 0;
}

/* Its deadline has passed (what was touched early counts no sooner), and it is of the right kind.
 */
static bool counts(const struct mtl_observation *o, const struct ledger *ledger,
        const struct mtl_phase_options *options, bool whole_line)
{
	return o->moment >= ledger->first && o->moment + o->deadline <= options->now &&
	       !!o->whole_line == whole_line;
}

static double touched_by(const struct mtl_observation *o, double window)
{
	unsigned touched = 0;

	for (unsigned k = 0; k < o->slots; k++)
		touched += o->touched[k] <= window;
	return o->weight * touched / o->slots;
}

static void enter(
        struct ledger *ledger, unsigned k, size_t bin, const struct mtl_observation *o, double x)
{
	struct sums *sums = &ledger->bin[k][bin];

	sums->n++;
	sums->x += x;
	sums->xx += x * x;
	sums->drawn += 1 / o->weight;
}

/* x at a window and so, by straight lines between the windows, what is expected of x at a deadline.
 */
static double expected_by(const struct ledger *ledger, double deadline)
{
	double window = 0, touched = 0;

	for (unsigned k = 0; k < WINDOWS; k++) {
		double next = ledger->window[k], more = ledger->touched[k] - touched;

		if (deadline < next)
			return touched + more * (deadline - window) / (next - window);
		window = next;
		touched = ledger->touched[k];
	}
	return touched;
}

static size_t bin_of(const struct ledger *ledger, const struct mtl_observation *o)
{
	return (size_t)((o->moment - ledger->first) / ledger->bin_seconds);
}

static void enter_windows(struct ledger *ledger, const struct mtl_observation *o)
{
	size_t bin = bin_of(ledger, o);

	if (bin >= ledger->bins)
		return;
	ledger->seen[bin]++;
	for (unsigned k = 0; k < WINDOWS && o->deadline >= ledger->window[k]; k++)
		enter(ledger, k, bin, o, touched_by(o, ledger->window[k]));
}

/* Beyond the longest window is as good as at it. */
static void enter_left(struct ledger *ledger, const struct mtl_observation *o)
{
	double until = fmin(o->deadline, ledger->window[WINDOWS - 1]);
	double touched = touched_by(o, until);
	size_t bin = bin_of(ledger, o);

	if (bin >= ledger->bins)
		return;
	enter(ledger, LEFT, bin, o, touched - expected_by(ledger, until));
	ledger->most = fmax(ledger->most, touched);
}

/* Lines and words are different things; the kind that there is more of is compared. */
static bool mostly_whole_lines(const struct mtl_observation *observations, size_t n)
{
	size_t whole = 0;

	for (size_t i = 0; i < n; i++)
		whole += !!observations[i].whole_line;
	return 2 * whole > n;
}

/* Windows that 8/9, 7/9 ... of the observations watched to their end, no two alike. */
static int choose_windows(struct ledger *ledger, const struct mtl_observation *observations,
        size_t n, const struct mtl_phase_options *options, bool whole_line)
{
	_cleanup_free_ double *deadlines = malloc((n + 1) * sizeof(*deadlines));
	size_t m = 0;

	if (!deadlines)
		return -ENOMEM;
	for (size_t i = 0; i < n; i += 1 + n / DEADLINES)
		if (counts(&observations[i], ledger, options, whole_line))
			deadlines[m++] = observations[i].deadline;
	qsort(deadlines, m, sizeof(*deadlines), ascending);
	for (unsigned k = 0; k < WINDOWS; k++) {
		double window = m ? deadlines[m * (k + 1) / (WINDOWS + 1)] : 1;

		ledger->window[k] = k ? fmax(window, ledger->window[k - 1] * (1 + 1e-9)) : window;
	}
	return 0;
}

static void add_up(struct ledger *ledger, unsigned k)
{
	for (size_t b = 0; b < ledger->bins; b++) {
		const struct sums *sums = &ledger->before[k][b], *more = &ledger->bin[k][b];

		ledger->before[k][b + 1] = (struct sums){sums->n + more->n, sums->x + more->x,
		        sums->xx + more->xx, sums->drawn + more->drawn};
	}
}

static void fill(struct ledger *ledger, const struct mtl_observation *observations, size_t n,
        const struct mtl_phase_options *options, bool whole_line)
{
	for (size_t i = 0; i < n; i++)
		if (counts(&observations[i], ledger, options, whole_line))
			enter_windows(ledger, &observations[i]);
	for (unsigned k = 0; k < WINDOWS; k++) {
		add_up(ledger, k);
		const struct sums *all = &ledger->before[k][ledger->bins];
		double least = k ? ledger->touched[k - 1] : 0;

		ledger->touched[k] = fmax(least, all->n > 0 ? all->x / all->n : 0);
	}
	for (size_t i = 0; i < n; i++)
		if (counts(&observations[i], ledger, options, whole_line))
			enter_left(ledger, &observations[i]);
	add_up(ledger, LEFT);
}

static int ledger_from_observations(const struct mtl_observation *observations, size_t n,
        const struct mtl_phase_options *options, struct ledger *ledger)
{
	bool whole_line = mostly_whole_lines(observations, n);
	int r;

	for (size_t i = 0; i < n; i++)
		if (!observation_valid(&observations[i]))
			return -EINVAL;
	ledger->first = fmax(options->begin, options->now - options->span);
	ledger->bin_seconds = options->span / PHASE_BINS;
	ledger->bins = fmin(PHASE_BINS,
	        fmax(0, floor((options->now - ledger->first) / ledger->bin_seconds + 1e-9)));
	r = choose_windows(ledger, observations, n, options, whole_line);
	if (r == 0)
		fill(ledger, observations, n, options, whole_line);
	return r;
}

/* --- one side */

static struct sums sum_of(const struct ledger *ledger, unsigned k, struct range range)
{
	const struct sums *to = &ledger->before[k][range.to],
	                  *from = &ledger->before[k][range.from];

	return (struct sums){
	        to->n - from->n, to->x - from->x, to->xx - from->xx, to->drawn - from->drawn};
}

static double squares_about(const struct sums *sums, double mean)
{
	return fmax(sums->xx - 2 * mean * sums->x + sums->n * mean * mean, 0);
}

/* By bins that many times as long, less what chance makes of 1. */
static double dispersion_by(
        const struct ledger *ledger, unsigned k, struct range range, size_t length)
{
	struct sums all = sum_of(ledger, k, range);
	double mean = all.x / all.n, between = 0, lost = 0;
	double within = squares_about(&all, mean);
	unsigned used = 0;

	for (size_t b = range.from; b < range.to; b += length) {
		size_t end = b + length < range.to ? b + length : range.to;
		struct sums sums = sum_of(ledger, k, (struct range){b, end});
		double off = sums.x - sums.n * mean;

		used += sums.n > 0;
		between += off * off;
		lost += sums.n * sums.n;
	}
	lost /= all.n * all.n;
	if (used < DISPERSION_BINS || !(within > 0))
		return 1;
	return between / within / (1 - lost) / (1 + CHANCE * sqrt(2.0 / used));
}

static double dispersion_of(const struct ledger *ledger, unsigned k, struct range range)
{
	return fmax(1, fmax(dispersion_by(ledger, k, range, 1),
	                       dispersion_by(ledger, k, range, LONG_BIN)));
}

static bool side_of(
        const struct ledger *ledger, unsigned k, struct range range, struct side *ret_side)
{
	struct sums sums = sum_of(ledger, k, range);
	double greatest = fmax(ledger->most, sums.n / sums.drawn);

	if (sums.n < AT_RISK_LEAST)
		return false;
	*ret_side = (struct side){
	        .n = sums.n,
	        .mean = sums.x / sums.n,
	        .variance = squares_about(&sums, sums.x / sums.n) / (sums.n - 1),
	        .dispersion = 1,
	        .unseen = greatest / sums.n,
	        .weight = k == LEFT    ? NAN
	                  : sums.x > 0 ? sums.xx / sums.x
	                               : greatest,
	};
	return true;
}

/* --- both sides */

/* A normal deviate as unlikely as t with so many degrees of freedom (Wallace, 1959). */
static double normal_from_t(double t, double freedom)
{
	return (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom));
}

static double square(double x)
{
	return x * x;
}

static double freedom_of(const struct side *one, const struct side *other, double v1, double v2)
{
	double f1 = fmax(one->n / one->dispersion - 1, 1);
	double f2 = fmax(other->n / other->dispersion - 1, 1);

	return (v1 + v2) * (v1 + v2) / (v1 * v1 / f1 + v2 * v2 / f2);
}

static double error_of(const struct side *side, double mean, double pooled)
{
	double alike = isnan(side->weight) ? pooled : mean * side->weight;

	return side->dispersion * fmax(side->variance, alike) / side->n + square(side->unseen);
}

/* Of a difference as great as theirs, both ways; 1: it is not worth a thought. */
static double probability_of(const struct side *one, const struct side *other)
{
	double n = one->n + other->n, difference = one->mean - other->mean;
	double between = difference * difference * one->n * other->n / n;
	double pooled =
	        ((one->n - 1) * one->variance + (other->n - 1) * other->variance + between) /
	        (n - 1);
	double mean = (one->n * one->mean + other->n * other->mean) / n;
	double v1 = error_of(one, mean, pooled), v2 = error_of(other, mean, pooled);
	double deviate = fabs(difference) / sqrt(v1 + v2);

	if (!(deviate > T_LEAST))
		return 1;
	return erfc(normal_from_t(deviate, freedom_of(one, other, v1, v2)) / M_SQRT2);
}

static double touched_at(const struct ledger *ledger, unsigned k)
{
	return ledger->touched[k == LEFT ? WINDOWS - 1 : k];
}

/* Dispersion only makes a difference more likely, and takes long: where it is not needed it is left
 * out. */
static void compare(const struct ledger *ledger, unsigned k, struct range one, struct range other,
        double decisive, struct finding *finding)
{
	struct side before, after;
	double probability;

	if (!side_of(ledger, k, one, &before) || !side_of(ledger, k, other, &after))
		return;
	if (fabs(before.mean - after.mean) <= PART_LEAST * touched_at(ledger, k))
		return;
	probability = probability_of(&before, &after);
	if (probability < decisive && probability < finding->probability) {
		before.dispersion = dispersion_of(ledger, k, one);
		after.dispersion = dispersion_of(ledger, k, other);
		probability = probability_of(&before, &after);
	}
	if (probability < finding->probability)
		*finding = (struct finding){probability, other.from};
}

static unsigned seen_in(const struct ledger *ledger, struct range range)
{
	unsigned seen = 0;

	for (size_t b = range.from; b < range.to; b++)
		seen += ledger->seen[b];
	return seen;
}

/* The moments that leave enough on either side, the bin that is lost not counted. */
static struct range moments(const struct ledger *ledger)
{
	struct range range = {PHASE_BINS_LEAST, ledger->bins};

	while (range.from < range.to &&
	        seen_in(ledger, (struct range){0, range.from}) < PHASE_OBSERVATIONS_LEAST)
		range.from++;
	while (range.to > range.from &&
	        (range.to + PHASE_BINS_LEAST > ledger->bins + 1 ||
	                seen_in(ledger, (struct range){range.to, ledger->bins}) <
	                        PHASE_OBSERVATIONS_LEAST))
		range.to--;
	return range;
}

static double dispersion_since(const struct ledger *ledger, size_t first)
{
	struct range range = {first, ledger->bins};
	double most = 1;

	for (unsigned k = 0; k < WINDOWS; k++)
		if (sum_of(ledger, k, range).n >= AT_RISK_LEAST)
			most = fmax(most, dispersion_of(ledger, k, range));
	return most;
}

/* With all that came before, and with as much of it as came after. */
static void compare_at(
        const struct ledger *ledger, size_t split, double decisive, struct finding *finding)
{
	struct range after = {split, ledger->bins}, all = {0, split}, near = all;

	if (split > ledger->bins - split)
		near.from = split - (ledger->bins - split);
	for (unsigned k = 0; k < COMPARED; k++) {
		compare(ledger, k, all, after, decisive, finding);
		if (near.from > 0)
			compare(ledger, k, near, after, decisive, finding);
	}
}

/* Both sides of a change where most is touched more or less. */
static void tell_sides(const struct ledger *ledger, size_t split, struct mtl_phase *phase)
{
	double most = 0;

	for (unsigned k = 0; k < WINDOWS; k++) {
		struct sums before = sum_of(ledger, k, (struct range){0, split});
		struct sums after = sum_of(ledger, k, (struct range){split, ledger->bins});
		double m1 = before.x / before.n, m2 = after.x / after.n;

		if (fmin(before.n, after.n) < AT_RISK_LEAST / 2 || fabs(m1 - m2) < most)
			continue;
		most = fabs(m1 - m2);
		phase->window = ledger->window[k];
		phase->before = m1;
		phase->after = m2;
	}
}

static void tell(const struct ledger *ledger, const struct finding *finding, bool changed,
        double comparisons, struct mtl_phase *ret_phase)
{
	*ret_phase = (struct mtl_phase){
	        .changed = changed,
	        .moment = NAN,
	        .probability = fmin(1, finding->probability * comparisons),
	        .window = NAN,
	        .before = NAN,
	        .after = NAN,
	        .dispersion = dispersion_since(ledger, changed ? finding->split + 1 : 0),
	};
	if (!changed)
		return;
	ret_phase->moment = ledger->first + (finding->split + 1) * ledger->bin_seconds;
	tell_sides(ledger, finding->split, ret_phase);
}

static void find(const struct ledger *ledger, double false_alarms, struct mtl_phase *ret_phase)
{
	struct range range = moments(ledger);
	double comparisons = 2 * COMPARED * fmax(range.to - range.from, 1);
	struct finding finding = {.probability = 1};

	for (size_t split = range.from; split < range.to; split++)
		compare_at(ledger, split, false_alarms / comparisons, &finding);
	tell(ledger, &finding, finding.probability * comparisons < false_alarms, comparisons,
	        ret_phase);
}

int mtl_phase_from_observations(const struct mtl_observation *observations, size_t n,
        const struct mtl_phase_options *options, struct mtl_phase *ret_phase)
{
	_cleanup_free_ struct ledger *ledger = NULL;
	int r;

	if (!options_valid(options))
		return -EINVAL;
	ledger = calloc(1, sizeof(*ledger));
	if (!ledger)
		return -ENOMEM;
	r = ledger_from_observations(observations, n, options, ledger);
	if (r < 0)
		return r;
	find(ledger, options->false_alarms, ret_phase);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Capacities, from the latency of a random permutation by its footprint: from the first deciles of
 * the sweeps, since whatever else the machine does makes accesses slower and never faster.
 *
 * More memory is never faster: what falls is noise, and the curve is first replaced by the nearest
 * (least squares of logarithms) that never falls (pool adjacent violators). A plateau is a stretch
 * by a factor of WIDTH or more over which it rises by no more than FLAT; neighbours that are less
 * than DISTINCT apart are one.
 *
 * Between two plateaus, of a and b ns, with the share h of accesses that hit, the mean is
 * h a + (1 - h) b: half of them miss where it is (a + b) / 2, and that footprint is the capacity.
 * For a random placement of pages it is unbiased to first order, since a set is as likely to hold
 * more than its ways as less. The error is a step of the sizes (factor 2^(1/4)) and what others
 * take of the cache, which makes it look smaller.
 *
 * A rise by more than SKIPPED is more than one level: a plateau between has not been seen (somebody
 * else uses that cache), and neither this capacity nor any after it is known.
 */

#include "probe.h"

#include <math.h>
#include <string.h>

#include "size.h"

#define FLAT 1.4
#define WIDTH 1.6
#define DISTINCT 1.6
#define SKIPPED 14
#define CAPACITY_OFF 2

/* Logarithms that never fall. */
static void make_monotone(const double *values, size_t n, double *ret_logs)
{
	double sums[PROBE_SIZES_MAX];
	size_t counts[PROBE_SIZES_MAX], blocks = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		sums[blocks] = log(values[i]);
		counts[blocks++] = 1;
		while (blocks > 1 && sums[blocks - 2] / (double)counts[blocks - 2] >=
		                             sums[blocks - 1] / (double)counts[blocks - 1]) {
			sums[blocks - 2] += sums[blocks - 1];
			counts[blocks - 2] += counts[blocks - 1];
			blocks--;
		}
	}
	for (size_t b = 0; b < blocks; b++)
		for (size_t k = 0; k < counts[b]; k++)
			ret_logs[at++] = sums[b] / (double)counts[b];
}

/* The last point that is flat with this one. */
static size_t flat_until(const double *logs, size_t n, size_t from)
{
	size_t to = from;

	while (to + 1 < n && logs[to + 1] - logs[from] <= log(FLAT))
		to++;
	return to;
}

size_t probe_plateaus(const struct probe_curve *curve, double ret_logs[PROBE_SIZES_MAX],
        struct probe_plateau *ret_plateaus, size_t most)
{
	size_t n = 0;

	make_monotone(curve->quiet, curve->n, ret_logs);
	for (size_t i = 0; i < curve->n && n < most;) {
		size_t to = flat_until(ret_logs, curve->n, i);
		double middle = exp(ret_logs[(i + to) / 2]);
		bool is_more = n > 0 && middle < DISTINCT * ret_plateaus[n - 1].nanoseconds;

		if (curve->bytes[to] < WIDTH * curve->bytes[i] * 0.999) {
			i++;
			continue;
		}
		if (is_more)
			ret_plateaus[n - 1].to_bytes = curve->bytes[to];
		else
			ret_plateaus[n++] =
			        (struct probe_plateau){curve->bytes[i], curve->bytes[to], middle};
		i = to + 1;
	}
	return n;
}

/* Where the curve crosses a latency, log-linear between its points. */
static double crossing(const struct probe_curve *curve, const double *logs, double nanoseconds)
{
	double wanted = log(nanoseconds), share;
	size_t i = 0;

	while (i + 1 < curve->n && logs[i + 1] < wanted)
		i++;
	if (i + 1 == curve->n)
		return NAN;
	share = (wanted - logs[i]) / (logs[i + 1] - logs[i]);
	return exp2((1 - share) * log2(curve->bytes[i]) + share * log2(curve->bytes[i + 1]));
}

size_t probe_capacities(const struct probe_curve *curve, double *ret_bytes, size_t most)
{
	struct probe_plateau plateaus[CACHE_LEVELS_MAX + 1];
	double logs[PROBE_SIZES_MAX];
	size_t n = probe_plateaus(curve, logs, plateaus, CACHE_LEVELS_MAX + 1);

	n = n > 0 && n - 1 > most ? most + 1 : n;
	for (size_t i = 0, known = true; i + 1 < n; i++) {
		double from = plateaus[i].nanoseconds, to = plateaus[i + 1].nanoseconds;

		known = known && to <= SKIPPED * from;
		ret_bytes[i] = known ? crossing(curve, logs, (from + to) / 2) : NAN;
	}
	return n > 0 ? n - 1 : 0;
}

static void add_to_reason(struct probe_step *step, const char *text)
{
	text_append(step->reason, sizeof(step->reason), "%s%s", *step->reason ? "; " : "", text);
}

/* Ways that are confirmed say more than a capacity, which others make smaller; and the last level
 * is shared: what is not there may be in use. */
static void judge_capacity(struct probe_level *level, bool is_last)
{
	double said = level->said.size_bytes, off = level->capacity_bytes / said;
	char text[160], size[NUMBER_TEXT], measured[NUMBER_TEXT];

	size_format(said, size);
	size_format(level->capacity_bytes, measured);
	if (isnan(off)) {
		add_to_reason(&level->step, "its capacity does not show");
		return;
	}
	if (off > 1.0 / CAPACITY_OFF && off < CAPACITY_OFF) {
		snprintf(text, sizeof(text), "a capacity of about %s agrees", measured);
	} else if (is_last) {
		snprintf(text, sizeof(text),
		        "about %s of the %s can be had: others' use of it and a wrong size look "
		        "alike",
		        measured, size);
	} else {
		snprintf(text, sizeof(text), "about %s can be had and not %s", measured, size);
		if (level->step.verdict == PROBE_NOT_MEASURABLE)
			level->step.verdict = PROBE_DIFFERS;
	}
	add_to_reason(&level->step, text);
}

void probe_judge_capacities(struct probe *probe, const double *capacities, size_t n)
{
	for (size_t i = 0; i < probe->n_levels; i++) {
		struct probe_level *level = &probe->levels[i];
		size_t at = level->said.level - 1;

		level->capacity_bytes = at < n ? capacities[at] : NAN;
		judge_capacity(level, level->said.level >= 3);
	}
}

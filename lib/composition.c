/* SPDX-License-Identifier: MIT */
/*
 * Programs that share a cache and no data (Xiang et al. 2011): in a time T of the common clock
 * program p makes r T accesses, r its rate, and touches fp(r T) of its own lines; all of them touch
 * the sum. A cache of c lines holds what was touched in the time T in which they touch c: of each
 * program what it touched then, and an access misses if its reuse time is longer, rt > r T.
 *
 * How far the sum can be from the footprint of the interleaved trace, which has N accesses and
 * W = N - T + 1 windows of T. Count absences. A datum of a program is absent from windows that fall
 * into a gap: between two accesses to it, before its first, after its last. Say the gap is l in the
 * interleaved trace and k in the program's own (a reuse time, a first or a last access time). With
 * x = r T, n the program's accesses, m its data and w = n - x + 1, the program has in a window
 *
 *     m - sum (l - T)+ / W   lines when interleaved,   m - sum (k - x)+ / w = fp(x)   alone,
 *
 * with the sums over all its gaps. Were l = k / r, the two sums would be the same but for a factor
 * r. If instead |l - k / r| < h, a gap's terms (l - T)+ and (k - x)+ / r differ by less than h, and
 * are both 0 unless k > x - r h. Hence, for each program,
 *
 *     | lines interleaved - fp(x) |  <=  h #(k > x - r h) / W  +  (m - fp(x)) |w / (r W) - 1|
 *
 * where the first term is about h r P(rt > x), a few lines at most, and the second one vanishes in
 * long traces. At a fractional x = a + part footprints are interpolated, which is off by part
 * (1 - part) / w, as fp(a + 1) - fp(a) is in 0 ... 1; likewise at a fractional T, by
 * part (1 - part) in all.
 *
 * What is h? Say any window of L accesses has floor or ceil of r L of the program's. A gap between
 * two accesses has k of its accesses in l, hence k + 1 in l + 1 (with the first of the two) and
 * k - 1 in l - 1 (without the second): k + 1 < r (l + 1) + 1 and k - 1 > r (l - 1) - 1, so h = 1.
 * Gaps at the ends have only one such neighbour: k < r l + 1 and k - 1 > r (l - 1) - 1, so
 * h = 1 / r.
 *
 * Two programs, or any number at the same rate, can be interleaved like that. More than two at
 * other rates mostly cannot, 3 : 2 : 1 for one. They can always be interleaved so that of the first
 * t accesses, for any t, more than r t - 1 and less than r t + 1 are the program's (Tijdeman 1980).
 * Its s-th access then has a time between (s - 1) / r and s / r + 1, so h = 1 + 1 / r between two
 * accesses, 1 / r before the first and, as N - n / r is within 1 / r of 0 too, 2 / r after the
 * last; taken for both ends.
 */

#include <errno.h>
#include <math.h>
#include "profile.h"

static double accesses_within(const struct mtl_sharer *s, double time)
{
	return fmin(s->rate * time, (double)s->profile->accesses);
}

static double lines_within(const struct mtl_sharer *s, double time)
{
	return mtl_profile_footprint(s->profile, MTL_XIANG, accesses_within(s, time));
}

double mtl_shared_footprint(const struct mtl_sharer *sharers, size_t n, double time)
{
	double lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += lines_within(&sharers[i], time);
	return lines;
}

/* Can any window have floor or ceil of rate x length accesses of each? */
static bool can_be_balanced(const struct mtl_sharer *sharers, size_t n)
{
	for (size_t i = 1; i < n && n > 2; i++)
		if (sharers[i].rate != sharers[0].rate)
			return false;
	return true;
}

/* At most so many gaps are longer than x. */
static double gaps_above(struct mtl_histogram *gaps, double x)
{
	return mtl_histogram_above(gaps, x) + mtl_histogram_above_error(gaps, x);
}

/* One program's share of the error, for whole times; all of them make `all` accesses. */
static double error_of(const struct mtl_sharer *s, bool balanced, double all, double time)
{
	struct mtl_profile *p = s->profile;
	double r = s->rate, x = accesses_within(s, time), part = x - floor(x);
	double inner = balanced ? 1 : 1 + 1 / r, outer = balanced ? 1 / r : 2 / r;
	double windows = all - time + 1, own = (double)p->accesses - x + 1;
	double known = mtl_profile_footprint_error(p, MTL_XIANG, x);
	double absent = (double)p->last.used - lines_within(s, time) + known;

	double gaps = inner * gaps_above(&p->reuse_times, x - r * inner) +
	              outer * gaps_above(&p->first_times, x - r * outer) +
	              outer * gaps_above(mtl_profile_last_times(p), x - r * outer);
	double interpolated = part * (1 - part) / own;
	double error = gaps / windows + (absent + interpolated) * fabs(own / (r * windows) - 1) +
	               interpolated;
	/* neither is negative, or more than the data or the accesses of any window */
	return known + fmin(error, fmin((double)p->last.used, x + (balanced ? 1 : 2)));
}

static double error_at(const struct mtl_sharer *sharers, size_t n, double all, double time)
{
	bool balanced = can_be_balanced(sharers, n);
	double error = 0;

	for (size_t i = 0; i < n && time > 0; i++)
		error += error_of(&sharers[i], balanced, all, time);
	return error;
}

double mtl_shared_footprint_error(const struct mtl_sharer *sharers, size_t n, double time)
{
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += (double)sharers[i].profile->accesses;
	time = fmin(fmax(time, 0), all);
	double whole = floor(time), part = time - whole;
	double error = error_at(sharers, n, all, whole);
	if (part == 0)
		return error;
	return error + part * (error_at(sharers, n, all, whole + 1) - error) + part * (1 - part);
}

/* When have all made all their accesses? */
static double whole_time(const struct mtl_sharer *sharers, size_t n)
{
	double time = 0;

	for (size_t i = 0; i < n; i++)
		time = fmax(time, (double)sharers[i].profile->accesses / sharers[i].rate);
	return time;
}

double mtl_shared_fill_time(const struct mtl_sharer *sharers, size_t n, double lines)
{
	double low = 0, high = whole_time(sharers, n), middle;

	if (lines <= 0)
		return 0;
	if (lines >= mtl_shared_footprint(sharers, n, high))
		return INFINITY;
	while (middle = low + (high - low) / 2, middle > low && middle < high) {
		if (mtl_shared_footprint(sharers, n, middle) < lines)
			low = middle;
		else
			high = middle;
	}
	return high;
}

int mtl_share(const struct mtl_sharer *sharers, size_t n, double lines, double *ret_occupancy,
        double *ret_miss_ratio)
{
	if (n == 0 || !(lines > 0))
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!(sharers[i].rate > 0) || isinf(sharers[i].rate) ||
		        !sharers[i].profile->accesses)
			return -EINVAL;
	double time = mtl_shared_fill_time(sharers, n, lines);
	for (size_t i = 0; i < n; i++) {
		ret_occupancy[i] = lines_within(&sharers[i], time);
		ret_miss_ratio[i] = mtl_profile_survival(
		        sharers[i].profile, accesses_within(&sharers[i], time));
	}
	return 0;
}

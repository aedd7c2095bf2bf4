/* SPDX-License-Identifier: MIT */
/*
 * Set-associative caches without simulating them (Smith 1976; patent CN105677584B).
 *
 * An access of reuse distance d finds d - 1 other lines used since its line was. Each is in the
 * same set with probability p; where `ways` or more are, the line is gone:
 *
 *     P(miss) = P(Binomial(d - 1, p) >= ways)
 *
 * This is the mean over all ways to map lines to sets when p = 1 / sets. p of the lines that there
 * are, with m_j of M in set j, is the share of pairs that meet: sum m_j (m_j - 1) / (M (M - 1)).
 *
 * Three ways from that to a miss ratio, in which first accesses always miss.
 *
 * From exact distances: the mean of P(miss) over all of them. From one distance to the next
 * tail(d + 1) = tail(d) + p term(d), a few operations a distance; the start is renewed now and
 * then, which keeps the relative error at 1e-11.
 *
 * From reuse times: r becomes the expected distance ES(r), which is thinned. A bin of reuse times
 * is taken at its mean; in a cache of one set, where P(miss) is a step, that puts no more than the
 * one bin at the step on the wrong side.
 *
 * In the patent's order: of the r - 1 accesses between, j or more are to the line's set with
 * probability P_s(j) = P(Binomial(r - 1, p) >= j), in the mean over all accesses; an access that is
 * the R-th of its set since its line's last has ES_s(R) = sum of P_s(j), j < R, and misses where
 * that is more than `ways`. This lets each access fall into a set by itself, while repeats of a
 * line fall together, and takes the lines a set has seen for a function of the accesses it has
 * seen. At few ways it is up to 0.1 too high where accesses are skewed, and up to 0.2 too low where
 * blocks are looped over. P_s is computed at every j up to 512, then 64 times an octave and linear
 * in between.
 */

#include <math.h>
#include "binomial.h"
#include "profile.h"

#define RENEWED 4096     /* distances from one start of the recurrence to the next */
#define NEGLIGIBLE 1e-16 /* beside a probability of 1 */
#define IGNORED 1e-9     /* the same for the patent's order */
#define FINE 512         /* set-level reuse times looked at one by one */
#define COARSE 4         /* histogram bins a step beyond */

double mtl_set_probability(const uint64_t *lines_in_set, uint64_t sets)
{
	double lines = 0, pairs = 0;

	for (uint64_t i = 0; i < sets; i++) {
		double in_set = (double)lines_in_set[i];
		lines += in_set;
		pairs += in_set * (in_set - 1);
	}
	return lines < 2 ? 1 / (double)sets : pairs / (lines * (lines - 1));
}

double mtl_set_miss_probability(double distance, double p, uint64_t ways)
{
	return mtl_binomial_tail(distance - 1, p, ways);
}

/* The greatest distance up to `most` that is as good as sure to hit. */
static uint64_t longest_sure(uint64_t most, double p, uint64_t ways)
{
	uint64_t sure = 0, risky = most + 1;

	while (risky - sure > 1) {
		uint64_t middle = sure + (risky - sure) / 2;
		if (mtl_set_miss_probability((double)middle, p, ways) < NEGLIGIBLE)
			sure = middle;
		else
			risky = middle;
	}
	return sure;
}

double mtl_stack_set_miss_ratio(const struct mtl_stack *stack, double p, uint64_t ways)
{
	uint64_t distinct = mtl_stack_distinct(stack), sure = longest_sure(distinct, p, ways);
	double accesses = (double)mtl_stack_accesses(stack), hits = 0, miss = 0, term = 0;

	for (uint64_t d = 1; d <= sure; d++)
		hits += (double)mtl_stack_count(stack, d);
	for (uint64_t d = sure + 1; d <= distinct; d++) {
		if ((d - sure - 1) % RENEWED == 0) {
			miss = mtl_set_miss_probability((double)d, p, ways);
			term = p < 1 && ways ? mtl_binomial_term((double)d - 1, p, ways - 1) : 0;
		}
		if (miss > 1 - NEGLIGIBLE)
			break;
		hits += (double)mtl_stack_count(stack, d) * (1 - miss);
		miss += p * term;
		term *= (double)d * (1 - p) / (double)(d - ways + 1);
	}
	return accesses > 0 ? (accesses - hits) / accesses : NAN;
}

double mtl_profile_set_miss_ratio(struct mtl_profile *profile, double p, uint64_t ways)
{
	struct mtl_histogram *h = &profile->reuse_times;
	double misses = (double)h->infinite, most = (double)profile->last.used;

	for (unsigned i = 0; i < HISTOGRAM_BINS; i++) {
		double count = (double)h->bins[i].count, lower = (double)mtl_histogram_lower(i);
		if (count == 0)
			continue;
		double time = lower + (double)h->bins[i].offset / count;
		double distance = fmin(mtl_expected_distance(profile, time), most);
		double miss = mtl_set_miss_probability(distance, p, ways);
		if (miss > 1 - NEGLIGIBLE) {
			misses += mtl_histogram_above(h, lower);
			break;
		}
		misses += count * miss;
	}
	return profile->accesses ? misses / (double)profile->accesses : NAN;
}

/* That of the accesses between the reuses in bin i `time` or more are to the line's set. */
static double thinned(const struct mtl_histogram *h, unsigned i, double p, uint64_t time)
{
	const struct mtl_histogram_bin *bin = &h->bins[i];
	double inside = bin->count ? (double)bin->offset / (double)bin->count : 1;

	return mtl_binomial_tail((double)mtl_histogram_lower(i) + inside - 1, p, time);
}

/* The first bin where that is not negligible. */
static unsigned first_bin(const struct mtl_histogram *h, double p, uint64_t time)
{
	unsigned low = 0, high = HISTOGRAM_BINS - 1;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (thinned(h, middle, p, time) < IGNORED)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* P_s(rt > time), first accesses left out. */
static double survival_in_set(struct mtl_profile *profile, double p, uint64_t time)
{
	struct mtl_histogram *h = &profile->reuse_times;
	double above = 0;

	for (unsigned i = first_bin(h, p, time); i < HISTOGRAM_BINS; i++) {
		if (!h->bins[i].count)
			continue;
		double share = thinned(h, i, p, time);
		if (share > 1 - IGNORED) {
			above += mtl_histogram_above(h, (double)mtl_histogram_lower(i));
			break;
		}
		above += share * (double)h->bins[i].count;
	}
	return above / (double)profile->accesses;
}

static uint64_t next_time(uint64_t time)
{
	return time < FINE ? time + 1
	                   : mtl_histogram_lower(mtl_histogram_bin_of(time) + 1 + COARSE);
}

double mtl_profile_set_miss_ratio_patent(struct mtl_profile *profile, double p, uint64_t ways)
{
	double cold = (double)profile->reuse_times.infinite / (double)profile->accesses;
	double expected = 0, above = 1, most = (double)ways + IGNORED; /* the same is no more */

	if (!profile->accesses)
		return NAN;
	for (uint64_t time = 0, next; above > cold + IGNORED; time = next) {
		next = next_time(time);
		double width = (double)(next - time);
		double below = above - (survival_in_set(profile, p, next) + cold);
		double step = width * above - below * (width - 1) / 2;
		if (expected + step > most)
			return above - below * floor((most - expected) / step * width) / width;
		expected += step;
		above -= below;
	}
	return cold;
}

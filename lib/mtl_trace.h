/* SPDX-License-Identifier: MIT */
#ifndef LIBMTL_TRACE_H
#define LIBMTL_TRACE_H

/*
 * libmtl, of traces: the measurement theory of locality.
 *
 * Conventions (docs/THEORY.md, part 2): n accesses to m distinct data, times 1 ... n. The reuse
 * time of an access is the time since the previous access to its datum, the reuse distance the
 * number of distinct data accessed since then, the datum itself included; both are MTL_NEVER at a
 * first access. f_k is the time of datum k's first access, l_k that of its last counted from the
 * end (the last access of the trace has 1). A fully associative LRU cache of c lines misses exactly
 * where the reuse distance exceeds c.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MTL_NEVER UINT64_MAX

/*
 * -- Sequences (lib/sequence.c) --
 *
 * AI: data renamed 1 ... m in the order in which they appear. RT, RD: the reuse time or distance of
 * each access. Per datum: each datum's first access time, then its reuse times or distances. All of
 * them determine each other. Arrays hold n elements; ret_ arrays may not overlap the input.
 * -EINVAL: what is given is not such a sequence of any trace. -ENOMEM.
 */
int mtl_ai_from_data(const uint64_t *data, size_t n, uint64_t *ret_ai);
int mtl_rt_from_ai(const uint64_t *ai, size_t n, uint64_t *ret_rt);
int mtl_rd_from_ai(const uint64_t *ai, size_t n, uint64_t *ret_rd);
int mtl_ai_from_rt(const uint64_t *rt, size_t n, uint64_t *ret_ai);
/* Keeps the LRU stack: MTL_NEVER is a new datum, d the d-th most recently used one. */
int mtl_ai_from_rd(const uint64_t *rd, size_t n, uint64_t *ret_ai);

/* Datum e (counted from 0, in order of appearance) has values[start[e]] ... values[start[e+1] - 1]:
 * f_e, then its reuses. */
struct mtl_per_datum {
	size_t accesses, data;
	size_t *start; /* data + 1 of them */
	uint64_t *values;
};
int mtl_per_datum_from_rt(const uint64_t *rt, size_t n, struct mtl_per_datum **ret_per_datum);
int mtl_rt_from_per_datum(const struct mtl_per_datum *per_datum, uint64_t *ret_rt);
/* By way of AI: a distance alone does not name its datum. */
int mtl_per_datum_from_rd(const uint64_t *rd, size_t n, struct mtl_per_datum **ret_per_datum);
/* Algorithm 1 of the theory, O(n m). */
int mtl_ai_from_per_datum_rd(const struct mtl_per_datum *per_datum, uint64_t *ret_ai);
struct mtl_per_datum *mtl_per_datum_free(struct mtl_per_datum *per_datum);

/*
 * -- Histograms (lib/histogram.c, lib/groups.c) --
 *
 * Log-linear: values 1 ... 512 each have a bin, every octave above has 256, so that a value is
 * known to 1/256. A bin keeps count and mean of its values; within a bin the values are taken to
 * have a linear density with that mean (Fang et al. 2005). So what is said of a window that is a
 * bin's upper end is exact, and in between it is off by no more than what that bin holds.
 */
struct mtl_histogram;

struct mtl_bin {
	uint64_t low, high; /* smallest and greatest value it may hold */
	uint64_t count;
	double mean; /* of the values in it */
};

/* Empty. -ENOMEM. */
int mtl_histogram_new(struct mtl_histogram **ret_histogram);
struct mtl_histogram *mtl_histogram_free(struct mtl_histogram *histogram);
/* value: 1 or more; MTL_NEVER is counted apart. */
void mtl_histogram_add(struct mtl_histogram *histogram, uint64_t value, uint64_t count);
/* How many values there are, and how many MTL_NEVER. */
uint64_t mtl_histogram_finite(const struct mtl_histogram *histogram);
uint64_t mtl_histogram_infinite(const struct mtl_histogram *histogram);
/* Of the finite values v: how many have v > x; the sum of (v - x) over these; the sum of (x - v)
 * over the others. */
double mtl_histogram_above(struct mtl_histogram *histogram, double x);
double mtl_histogram_excess(struct mtl_histogram *histogram, double x);
double mtl_histogram_shortfall(struct mtl_histogram *histogram, double x);
/* Bounds of how far the functions above can be off at x; 0 where bins are single values. The
 * second one is for excess and shortfall alike. */
double mtl_histogram_above_error(struct mtl_histogram *histogram, double x);
double mtl_histogram_excess_error(struct mtl_histogram *histogram, double x);
/* The bins that hold anything, ascending, at most `most`; returns how many there are in all. */
size_t mtl_histogram_bins(
        const struct mtl_histogram *histogram, struct mtl_bin *ret_bins, size_t most);

/*
 * Constant space. k groups of equal population (Zhong et al. 2009; fewer where one value fills
 * several), or groups split in two at the middle of their range until greatest / smallest value <=
 * 1 + spread (Marin and Mellor-Crummey 2004). values are the n finite ones, in any order.
 * ret_bins has room for `most`; -E2BIG: more groups are needed. -EINVAL: k or spread not positive.
 * -ENOMEM.
 */
int mtl_groups_of_equal_population(const uint64_t *values, size_t n, size_t k,
        struct mtl_bin *ret_bins, size_t most, size_t *ret_n);
int mtl_groups_of_bounded_spread(const uint64_t *values, size_t n, double spread,
        struct mtl_bin *ret_bins, size_t most, size_t *ret_n);

enum mtl_density { MTL_UNIFORM, MTL_LINEAR }; /* of values within a bin */

/* How many values are above x, said by n bins; and a bound of its error for all x. */
double mtl_bins_above(const struct mtl_bin *bins, size_t n, enum mtl_density density, double x);
double mtl_bins_above_error(const struct mtl_bin *bins, size_t n);

/*
 * -- The reuse times of a trace and its footprints (lib/profile.c, lib/working_set.c) --
 *
 * A profile is what a pass over a trace leaves: n, m and log-linear histograms of reuse times,
 * first and last access times, beside a table of each datum's last access: 30 bytes a datum at
 * most, and 1.8 MB.
 */
struct mtl_profile;

/* memory_bytes: how much it may allocate (0: no limit). -ENOMEM. */
int mtl_profile_new(uint64_t memory_bytes, struct mtl_profile **ret_profile);
struct mtl_profile *mtl_profile_free(struct mtl_profile *profile);
/*
 * The next n accesses. ret_times: their reuse times, or NULL. -ENOMEM: the data would need more
 * than the limit, or there is no memory; what was accessed before the refused datum stays counted.
 */
int mtl_profile_access(
        struct mtl_profile *profile, const uint64_t *data, size_t n, uint64_t *ret_times);
/* n and m so far, and bytes allocated at most so far. */
uint64_t mtl_profile_accesses(const struct mtl_profile *profile);
uint64_t mtl_profile_distinct(const struct mtl_profile *profile);
uint64_t mtl_profile_bytes(const struct mtl_profile *profile);
/* Of all accesses; of all data, first accesses f_k; of all data, last accesses l_k. The profile's
 * own: they go with it, and are out of date after the next access. */
struct mtl_histogram *mtl_profile_reuse_times(struct mtl_profile *profile);
struct mtl_histogram *mtl_profile_first_times(struct mtl_profile *profile);
struct mtl_histogram *mtl_profile_last_times(struct mtl_profile *profile);

/*
 * Mean number of distinct data in a window of x accesses. The first three are the same number, the
 * mean over all windows, in three ways: by absences (Xiang et al. 2011), by adding up first
 * appearances, by taking away repeats, which needs only reuse times < x. Denning and Schwartz
 * (1972): s(x+1) = s(x) + P(rt > x), the working-set size without the trace's ends; steady state:
 * Xiang's without the two terms of the ends, so that a datum used once counts as always present:
 * not for small windows, nor for the fill times of small caches.
 */
enum mtl_footprint_kind {
	MTL_XIANG,
	MTL_ADDITIVE,
	MTL_INCREMENTAL,
	MTL_DENNING_SCHWARTZ,
	MTL_STEADY_STATE,
};

/* window: 0 ... n accesses, fractions allowed. */
double mtl_profile_footprint(
        struct mtl_profile *profile, enum mtl_footprint_kind kind, double window);
/* A bound of how far the histograms' bins can put it off. */
double mtl_profile_footprint_error(
        struct mtl_profile *profile, enum mtl_footprint_kind kind, double window);

/* The additive sum over accesses and Algorithm 2 (repeats of body, head and tail), exact, from the
 * reuse-time sequence: the mean over windows of length 1 ... n. O(n) each. -EINVAL, -ENOMEM. */
int mtl_footprint_additive(const uint64_t *rt, size_t n, size_t window, double *ret_footprint);
int mtl_footprint_incremental(const uint64_t *rt, size_t n, size_t window, double *ret_footprint);

/*
 * -- Cache metrics (lib/cache_metrics.c) --
 *
 * lines is the cache's size in lines, > 0, fractions allowed. Times are in accesses. At and beyond
 * m lines only first accesses miss: fill time and eviction time are INFINITY, miss ratios m / n.
 */

/* ft(c): where the footprint reaches c (its inverse). */
double mtl_profile_fill_time(
        struct mtl_profile *profile, enum mtl_footprint_kind kind, double lines);
/* fp(x + 1) - fp(x) at fp(x) = c (Xiang et al. 2013); it can rise with size for the first three
 * kinds, never for the other two. */
double mtl_miss_ratio_by_differentiation(
        struct mtl_profile *profile, enum mtl_footprint_kind kind, double lines);
/* P(rt > ft(c)); never rises with size. */
double mtl_miss_ratio_by_reuse_time(
        struct mtl_profile *profile, enum mtl_footprint_kind kind, double lines);
/* Average eviction time (Hu et al. 2016): the T with integral of P(rt > t), 0 ... T, equal c. */
double mtl_profile_eviction_time(struct mtl_profile *profile, double lines);
double mtl_miss_ratio_by_eviction_time(struct mtl_profile *profile, double lines);
/* Accesses between misses, 1 / mr. */
double mtl_inter_miss_time(double miss_ratio);
/* Accesses a line stays in the cache, c / mr (Little's law). */
double mtl_residence_time(double lines, double miss_ratio);
/*
 * Easton and Fagin (1978): fill times from miss ratios, ft(c_j) = sum of (c_{i+1} - c_i) im(c_i)
 * over i < j from c_0 = 0, where every access misses. A lower bound where the footprint is concave;
 * the finer the sizes, the closer. lines ascending, > 0. -EINVAL.
 */
int mtl_fill_times_from_miss_ratios(
        const double *lines, const double *miss_ratios, size_t n, double *ret_times);

/* And back. The footprint at windows 0 ... n_windows - 1 from miss ratios at sizes: each access
 * adds 1 if it is a miss, fp(x + 1) = fp(x) + mr(fp(x)). Between two sizes the smaller one's ratio
 * holds. lines ascending from 0. -EINVAL. */
int mtl_footprint_from_miss_ratios(const double *lines, const double *miss_ratios, size_t n,
        size_t n_windows, double *ret_footprint);
/* How often each reuse time 0 ... n occurs, from the footprint at windows 0 ... n and how many data
 * have their first, and last, access at each time 0 ... n (first[0] = last[0] = 0). -EINVAL. */
int mtl_rt_histogram_from_footprint(const double *footprint, const uint64_t *first,
        const uint64_t *last, size_t n, uint64_t *ret_count);

/*
 * -- Expected stack distance (lib/expected_distance.c) --
 *
 * StatStack (Eklov and Hagersten 2010; patent CN105677584B): the mean reuse distance of an access
 * whose reuse time is r, ES(r) = sum of P(rt > i), 0 <= i < r; a miss where it exceeds the cache.
 */
double mtl_expected_distance(struct mtl_profile *profile, double reuse_time);
double mtl_miss_ratio_by_expected_distance(struct mtl_profile *profile, double lines);

/*
 * -- Exact LRU (lib/stack_distance.c) --
 *
 * Reuse distances of all accesses in one pass (Mattson et al. 1970), counted one by one: the exact
 * miss ratio at every size. At most 40 bytes a datum.
 */
struct mtl_stack;

/* Like mtl_profile_new(). */
int mtl_stack_new(uint64_t memory_bytes, struct mtl_stack **ret_stack);
struct mtl_stack *mtl_stack_free(struct mtl_stack *stack);
/* Like mtl_profile_access(); ret_distances or NULL. */
int mtl_stack_access(
        struct mtl_stack *stack, const uint64_t *data, size_t n, uint64_t *ret_distances);
/* n and m so far, and bytes allocated at most so far. */
uint64_t mtl_stack_accesses(const struct mtl_stack *stack);
uint64_t mtl_stack_distinct(const struct mtl_stack *stack);
uint64_t mtl_stack_bytes(const struct mtl_stack *stack);
/* Accesses whose distance is `distance`, 1 ... m. */
uint64_t mtl_stack_count(const struct mtl_stack *stack, uint64_t distance);
/* At n sizes in one go. -EINVAL: lines do not ascend, or nothing was accessed. */
int mtl_stack_miss_ratios(
        const struct mtl_stack *stack, const double *lines, size_t n, double *ret_ratios);

/*
 * -- SHARDS (lib/shards.c), for comparison: Waldspurger et al. 2015 --
 *
 * The stack of the data whose hash is below a threshold, distances divided by the rate; with the
 * correction that puts the difference between expected and seen accesses at the smallest distance.
 */
struct mtl_shards;

/* rate: 0 < rate <= 1. most_lines: 0, or the fixed-size form: at most so many data are kept, the
 * rate falls as it must. -EINVAL, -ENOMEM. */
int mtl_shards_new(
        double rate, size_t most_lines, uint64_t memory_bytes, struct mtl_shards **ret_shards);
struct mtl_shards *mtl_shards_free(struct mtl_shards *shards);
/* The next n accesses. -ENOMEM like mtl_profile_access(). */
int mtl_shards_access(struct mtl_shards *shards, const uint64_t *data, size_t n);
/* Of all accesses: how many there were, how many were sampled; the estimated number of distinct
 * data; the rate by now; bytes allocated at most so far. */
uint64_t mtl_shards_accesses(const struct mtl_shards *shards);
uint64_t mtl_shards_sampled(const struct mtl_shards *shards);
double mtl_shards_distinct(const struct mtl_shards *shards);
double mtl_shards_rate(const struct mtl_shards *shards);
uint64_t mtl_shards_bytes(const struct mtl_shards *shards);
/* -EINVAL: lines do not ascend; -ENODATA: nothing was sampled. */
int mtl_shards_miss_ratios(
        const struct mtl_shards *shards, const double *lines, size_t n, double *ret_ratios);

/*
 * -- Set-associative caches (lib/set_cache.c, lib/set_mapping.c) --
 */
struct mtl_set_cache; /* LRU within each set; a line's set is its number modulo sets */

/* -EINVAL: no sets or no ways. -ENOMEM: also when sets x ways needs more than memory_bytes. */
int mtl_set_cache_new(
        uint64_t sets, uint64_t ways, uint64_t memory_bytes, struct mtl_set_cache **ret_cache);
struct mtl_set_cache *mtl_set_cache_free(struct mtl_set_cache *cache);
/* The next n accesses; counts of all and of those that missed. */
void mtl_set_cache_access(struct mtl_set_cache *cache, const uint64_t *lines, size_t n);
uint64_t mtl_set_cache_accesses(const struct mtl_set_cache *cache);
uint64_t mtl_set_cache_misses(const struct mtl_set_cache *cache);

/* The probability that two of the lines share a set, sum of m_j (m_j - 1) / (M (M - 1)) with m_j of
 * the M lines in set j (patent CN105677584B, claim 2, pairs drawn without replacement); 1 / sets
 * for fewer than two lines. */
double mtl_set_probability(const uint64_t *lines_in_set, uint64_t sets);
/* The lines a profile has seen, counted by set. */
void mtl_profile_lines_in_sets(
        const struct mtl_profile *profile, uint64_t sets, uint64_t *ret_lines_in_set);
/* Of the distance - 1 other lines, that at least `ways` fall into the line's set (Smith 1976):
 * the exact mean over all mappings when p = 1 / sets. Fractions of lines allowed. */
double mtl_set_miss_probability(double distance, double p, uint64_t ways);
/* Miss ratio of `ways` ways with set probability p: from exact distances; from reuse times, first
 * converted to expected distances, then thinned; and in the patent's order (reuse times thinned,
 * then converted within the set), which is up to 0.1 too high at few ways, and up to 0.2 too low on
 * loops over blocks. */
double mtl_stack_set_miss_ratio(const struct mtl_stack *stack, double p, uint64_t ways);
double mtl_profile_set_miss_ratio(struct mtl_profile *profile, double p, uint64_t ways);
double mtl_profile_set_miss_ratio_patent(struct mtl_profile *profile, double p, uint64_t ways);

/*
 * -- Composition (lib/composition.c) --
 *
 * Programs without common data that share a cache: within a time T of their common clock program p
 * makes rate_p T accesses, and the footprints add up (Xiang et al. 2011).
 */
struct mtl_sharer {
	struct mtl_profile *profile;
	double rate; /* accesses per unit of common time, > 0 */
};

/* Sum of fp_p(rate_p T). */
double mtl_shared_footprint(const struct mtl_sharer *sharers, size_t n, double time);
/*
 * How far that can be from the mean over all windows of `time` accesses of the interleaved trace of
 * all the sharers' accesses, when rates add up to 1 and accesses are interleaved as evenly as the
 * rates allow: of two programs, or any number at one rate, floor or ceil of rate_p T accesses are
 * within any window of T; of others, within 1 of rate_p t among the first t.
 */
double mtl_shared_footprint_error(const struct mtl_sharer *sharers, size_t n, double time);
/* The T at which together they have touched `lines`; INFINITY: they never do. */
double mtl_shared_fill_time(const struct mtl_sharer *sharers, size_t n, double lines);
/* In a shared cache of `lines`: what each occupies (lines) and its miss ratio. -EINVAL. */
int mtl_share(const struct mtl_sharer *sharers, size_t n, double lines, double *ret_occupancy,
        double *ret_miss_ratio);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_H
#define MTL_H

/*
 * libmtl: miss-ratio curves, from watched cache lines and from traces.
 *
 * The data's way, one noun a stage, each built from the one before:
 *
 *     observations -> survival -> footprint -> fill time -> miss curve       (a live process)
 *     trace -> sequences -> histograms -> footprint -> fill time -> miss ratio       (a trace)
 *
 * An observation is one cache line that was picked at a moment independent of the program, with a
 * known probability, and watched until a deadline drawn beforehand (residual-time sampling). A
 * trace is a sequence of accesses to data, each named by any 64-bit number.
 *
 * All functions are pure: no system calls, no clock, no logging, no global state. They return 0 or
 * a negative errno and leave their ret_ outputs untouched on failure. Objects may be used by one
 * thread at a time. Every ..._free() accepts NULL and returns NULL.
 *
 * Units: seconds are seconds of the process's CPU time, sizes are bytes unless a name says lines.
 * Unknown numbers are NAN, "never" is INFINITY.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MTL_LINE_BYTES 64
#define MTL_WORDS_PER_LINE 8
#define MTL_SLOTS_MAX 4

struct json_object;

/* One watched line. 64 bytes, so that 4096 of them are the 256 KiB a process may hold. */
struct mtl_observation {
	double moment;                /* process CPU time at arming */
	double deadline;              /* drawn before arming and blind to the line; > 0 */
	double weight;                /* lines this one stands for: 1 / (probability it was drawn) */
	float touched[MTL_SLOTS_MAX]; /* arming to first touch of each word; INFINITY: untouched */
	double wall;                  /* wall-clock seconds at arming, for composing co-runners */
	uint8_t slots;                /* words watched, 1..MTL_SLOTS_MAX, all in one line */
	uint8_t whole_line;           /* 1: the (single) slot covered all 64 bytes of the line */
	uint8_t reserved[6];
	uint64_t sequence;            /* number of this observation within its process */
};

/* Lines born so far (fresh pages x lines touched on each), as a non-decreasing series. */
struct mtl_birth {
	double moment; /* process CPU time */
	double lines;  /* cumulative */
};

struct mtl_curve_point {
	double size_bytes;
	double fill_time_seconds; /* INFINITY: not filled within the longest trusted window */
	double misses_per_second; /* per second of process CPU time */
	double low, high;         /* 90 % interval of misses_per_second; low <= misses <= high */
	double miss_ratio;        /* misses per memory access; NAN when accesses are not counted */
	double relative_miss_ratio; /* misses(size) / misses(reference); NAN when that is 0 */
	bool below_resolution;    /* decided by windows shorter than the resolution */
};

struct mtl_footprint_point {
	double window_seconds;
	double bytes;
	double low, high; /* 90 % interval */
};

/* What the numbers of a curve are about; filled by whoever took the observations. */
struct mtl_curve_origin {
	pid_t pid;
	char comm[16];
	char method[16]; /* "residual" */
	char rung[16];   /* "watchpoints" */
	char clock[8];   /* "cpu" */
	double window_seconds;
	double wall_seconds;
	double cpu_seconds;
	uint64_t lost; /* samples that could not be delivered */
	double resident_bytes;
	double accesses_per_second; /* NAN: not counted */
	double l1_misses_per_second, l2_misses_per_second, llc_misses_per_second; /* likewise */
	double overhead_target;     /* fraction of the target's CPU time; NAN: not known */
	double overhead_daemon;     /* fraction of one core */
	char note[128];             /* "" or one sentence: what was limited while observing */
};

struct mtl_curve {
	struct mtl_curve_point *points;
	size_t n_points;
	struct mtl_footprint_point *footprint;
	size_t n_footprint;
	uint64_t observations;
	double effective_observations; /* (sum of decay*weight)^2 / sum of squares */
	double footprint_bytes;        /* at the longest trusted window */
	double footprint_window_seconds;
	double resolution_seconds;
	double resolution_bytes;
	double reference_bytes;
	double cache_bytes, cache_misses_per_second; /* last-level cache; 0, NAN: unknown */
};

struct mtl_estimate_options {
	const double *sizes; /* NULL: sqrt(2) steps, 32 KiB to twice the larger of cache, footprint */
	size_t n_sizes;
	const double *windows; /* NULL: decades from the resolution to the longest trusted window */
	size_t n_windows;
	double now;                /* process CPU time at which observations have full weight */
	double window_seconds;     /* decay: weight exp(-(now - moment) / window_seconds); 0: none */
	double resolution_seconds; /* shortest window the instrument can be trusted at */
	double reference_bytes;    /* size that relative ratios refer to */
	double cache_bytes;        /* last-level cache; only for default sizes; 0: unknown */
	double accesses_per_second; /* NAN: unknown */
	/* Reuse times: observations were not begun at moments of their own but at a sample of the
	 * misses of a cache of miss_cache_bytes, misses_per_second of them, armed resolution_seconds
	 * (its fill time) later and timed from the miss. 0: residual times. */
	double miss_cache_bytes, misses_per_second;
	unsigned resamples;        /* bootstrap replicates; 0: 100 */
	uint64_t seed;
};

/* Fewest observations an estimate is given from; fewer is -ENODATA. */
#define MTL_OBSERVATIONS_NEEDED 60

/*
 * Everything in one call: the curve of what was observed.
 * -ENODATA: fewer than MTL_OBSERVATIONS_NEEDED observations whose deadline has passed by `now`
 * (what was touched early counts no sooner than what was not); -EINVAL: an observation or option that
 * cannot be (deadline <= 0, weight <= 0, slots out of range, sizes not positive); -ENOMEM.
 */
int mtl_curve_from_observations(const struct mtl_observation *observations, size_t n,
	const struct mtl_birth *births, size_t n_births, const struct mtl_estimate_options *options,
	struct mtl_curve **ret_curve);

/* NULL-safe, returns NULL. */
struct mtl_curve *mtl_curve_free(struct mtl_curve *curve);

/*
 * The curve object and the record of observations as JSON (docs/PROTOCOL.md), both ways. INFINITY
 * and NAN become null where the schema allows it. Reading rejects what does not fit the schema
 * (-EBADMSG) and says where in ret_error. -ENOMEM.
 */
int mtl_curve_to_json(const struct mtl_curve *curve, const struct mtl_curve_origin *origin,
	struct json_object **ret_object);
int mtl_curve_from_json(struct json_object *object, struct mtl_curve **ret_curve,
	struct mtl_curve_origin *ret_origin, char *ret_error, size_t error_size);

/* A record: origin, the options needed to estimate again (now, window_seconds, resolution_seconds,
 * reference_bytes, cache_bytes), observations and births. */
int mtl_record_to_json(const struct mtl_observation *observations, size_t n,
	const struct mtl_birth *births, size_t n_births, const struct mtl_curve_origin *origin,
	const struct mtl_estimate_options *options, struct json_object **ret_object);
int mtl_record_from_json(struct json_object *object, struct mtl_observation **ret_observations,
	size_t *ret_n, struct mtl_birth **ret_births, size_t *ret_n_births,
	struct mtl_curve_origin *ret_origin, struct mtl_estimate_options *ret_options, char *ret_error,
	size_t error_size);

/*
 * ---- Traces: the measurement theory of locality ----------------------------------------------
 *
 * Conventions (docs/THEORY.md, part 2): n accesses to m distinct data, times 1 ... n. The reuse
 * time of an access is the time since the previous access to its datum, the reuse distance the
 * number of distinct data accessed since then, the datum itself included; both are MTL_NEVER at a
 * first access. f_k is the time of datum k's first access, l_k that of its last counted from the
 * end (the last access of the trace has 1). A fully associative LRU cache of c lines misses exactly
 * where the reuse distance exceeds c.
 */

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
 * A profile is what a pass over a trace leaves: n, m and log-linear histograms of reuse times, first
 * and last access times, beside a table of each datum's last access: 30 bytes a datum at most, and 1.8 MB.
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
 * Xiang's without the two terms of the ends, so that a datum used once counts as always present: not
 * for small windows, nor for the fill times of small caches.
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

/*
 * ---- Sharing and partitioning ----------------------------------------------------------------
 *
 * -- Demands (lib/demand.c, lib/demand_sum.c, lib/demand_json.c) --
 *
 * What a program asks of a cache, on a clock it has in common with others: from a live curve per
 * second of wall-clock time, from a trace's curve per run of the trace.
 */
struct mtl_demand_point {
	double size_bytes;
	double fill_time; /* in which it touches so much; INFINITY: never */
	double misses;    /* per unit of time */
	double low, high; /* 90 % interval of misses; low <= misses <= high */
};

struct mtl_demand {
	char name[64];
	char unit[16];          /* of time: "second" or "run" */
	double footprint_bytes; /* what it touches within longest_time; of more nothing is known */
	double longest_time;
	double smallest_known_bytes; /* misses in a smaller cache are a guess */
	double work; /* misses that would take as long as everything else it does in a unit of time */
	size_t n;    /* 2 or more */
	struct mtl_demand_point points[]; /* sizes ascend from 0, misses, low and high never rise */
};

/* NULL-safe, returns NULL. */
struct mtl_demand *mtl_demand_free(struct mtl_demand *demand);
/*
 * From a curve object of mtld or of `mtl trace` (docs/PROTOCOL.md). miss_cost: what a miss costs,
 * > 0, in seconds of CPU time for a live curve and in accesses for a trace (for work, and so for
 * fairness only). A name that is too long is cut. -EBADMSG: neither of them, with the place in
 * ret_error. -EINVAL: miss_cost. -ENOMEM.
 */
int mtl_demand_from_json(struct json_object *curve, const char *name, double miss_cost,
        struct mtl_demand **ret_demand, char *ret_error, size_t error_size);
/* Bytes touched within a time, and misses (with their interval) in a cache of so many bytes; linear
 * between the points. ret_low and ret_high or NULL. */
double mtl_demand_footprint(const struct mtl_demand *demand, double time);
double mtl_demand_misses(
        const struct mtl_demand *demand, double size_bytes, double *ret_low, double *ret_high);
/*
 * In a cache of size_bytes shared by all: the time in which together they fill it (INFINITY: it
 * holds all they touch), what each then occupies, bytes, and its misses per unit of time.
 * -EINVAL: no demand, a negative size, or clocks that differ.
 */
int mtl_demands_share(const struct mtl_demand *const *demands, size_t n, double size_bytes,
        double *ret_time, double *ret_occupancy, double *ret_misses);
/*
 * Several programs as one (lib/demand_sum.c): the sum of footprints and of misses over time (Xiang
 * et al. 2011), exactly, also between the points; mtl_demands_share() gives it what its members
 * would have together. Intervals add up, which is too wide for independent errors. It is known from
 * the size on at which each member has what its curve knows of, or all that it touches. Data that
 * they have in common counts for each. -EINVAL: no demand, or clocks that differ. -ENOMEM.
 */
int mtl_demand_sum(const struct mtl_demand *const *demands, size_t n, const char *name,
        struct mtl_demand **ret_demand);

/*
 * -- Partition (lib/partition.c) --
 */
struct mtl_claim {
	const double *misses;     /* [0 ... ways], with so many ways; of any shape */
	const double *low, *high; /* their intervals, or both NULL: exact */
	bool falls;               /* it is known that misses never rise with ways */
	double work;              /* as in struct mtl_demand */
	double weight;            /* of its misses in the total */
	unsigned least_ways;      /* it must have; 0: it may get none */
};

enum mtl_objective {
	MTL_TOTAL,     /* least total of weight x misses */
	MTL_FAIR,      /* least worst slowdown, and of those the least total */
	MTL_GUARANTEE, /* least total in which nobody has more misses than with an equal share */
};

/* The best division of all ways, exactly; where it makes no difference, the more even one.
 * -ENOSPC: there is none (least ways that do not fit, or no way to keep a guarantee). -EINVAL: a
 * claim or objective that cannot be. -ENOMEM. */
int mtl_partition(const struct mtl_claim *claims, size_t n, unsigned ways,
        enum mtl_objective objective, unsigned *ret_ways);
/* ways / n, one more for the first ways % n groups. */
unsigned mtl_partition_equal_share(size_t n, unsigned ways, size_t group);
/* Sum of weight x misses. */
double mtl_partition_cost(const struct mtl_claim *claims, size_t n, const unsigned *ways);
/* (work + misses) / (work + misses with all ways); INFINITY: misses beside nothing. */
double mtl_partition_slowdown(const struct mtl_claim *claim, unsigned ways, unsigned all);
/* By how much the cost of `chosen` may exceed that of the best division, if all misses can be
 * anywhere in their intervals. -EINVAL: a claim, or `chosen`, that cannot be. -ENOMEM. */
int mtl_partition_regret(const struct mtl_claim *claims, size_t n, unsigned ways,
        const unsigned *chosen, double *ret_regret);
/* Cost of `other` less that of `chosen`, and the least that can be within the intervals. */
void mtl_partition_gain(const struct mtl_claim *claims, size_t n, const unsigned *chosen,
        const unsigned *other, double *ret_gain, double *ret_least);

/*
 * -- Clusters (lib/clusters.c) --
 *
 * Groups that may share a partition, as mtl_demands_share() has it within, where that is better.
 */
#define MTL_CLUSTERED_MAX 10

struct mtl_cluster_terms {
	double way_bytes;
	unsigned ways;
	unsigned least_ways;   /* of every cluster */
	const double *weights; /* of each demand's misses in the total; NULL: 1 */
	enum mtl_objective objective;
};

/*
 * The best of all ways to put n demands into clusters and divide the ways among these, exactly;
 * apart where it makes no difference. ret_cluster: the cluster of each demand, numbered from 0 in
 * the order of their first ones. ret_ways: the ways of that cluster. A guarantee is against an
 * equal share of one's own. -E2BIG: more than MTL_CLUSTERED_MAX. -ENOSPC: there is none. -EINVAL:
 * clocks that differ, terms that cannot be. -ENOMEM.
 */
int mtl_partition_clusters(const struct mtl_demand *const *demands, size_t n,
        const struct mtl_cluster_terms *terms, unsigned *ret_cluster, unsigned *ret_ways);

#ifdef __cplusplus
}
#endif

#endif

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
 * This file is about live processes; mtl_trace.h about traces, mtl_share.h about sharing and
 * dividing a cache. Programs include mtl.h, which brings all three.
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

#include "mtl_share.h"
#include "mtl_trace.h"

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
	bool below_resolution;    /* of no use: size_bytes <= resolution_bytes of the curve */
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
	double phase_seconds;   /* since the latest change of phase, whose rest the window holds; NAN */
	uint64_t phase_changes; /* within ten windows */
	char phase_reason[96];  /* "" or how it was noticed */
	double accesses_per_second; /* NAN: not counted */
	double l1_misses_per_second, l2_misses_per_second, llc_misses_per_second; /* likewise */
	double overhead_target;     /* fraction of the target's CPU time; NAN: not known */
	double overhead_daemon;     /* fraction of one core */
	unsigned checked_pairs;     /* of windows with sampling and without; 0: what follows is not known */
	double checked_loss, checked_low, checked_high; /* of the target's progress, 90 % interval */
	char checked_reason[96];    /* why it is not known */
	char note[128];             /* "" or one sentence: what was limited while observing */
};

/* The same curve from reuse times sampled at misses (docs/THEORY.md), where a PMU tells of misses. */
struct mtl_reuse {
	struct mtl_curve_point *points; /* of the curve's sizes; ratios and fill times are not told */
	size_t n_points;                /* 0: the reason says why */
	uint64_t observations;
	double cache_bytes;       /* of the cache whose misses were sampled; NAN: unknown, here and below */
	double misses_per_second; /* its misses, as counted */
	double delay_seconds;     /* from a miss to its watch: the fill time of that cache */
	double difference; /* mean |reuse - residual| / residual misses at the smallest size compared */
	double overlap;    /* part of the sizes compared at which the intervals overlap */
	char reason[128];  /* "" or why there is none, or no score */
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
	/* Footprint at the resolution, or at the shortest window from there on whose footprint rests on
	 * six touches, if that is longer. */
	double resolution_bytes;
	double reference_bytes;
	double cache_bytes, cache_misses_per_second; /* last-level cache; 0, NAN: unknown */
	struct mtl_reuse *reuse; /* freed with the curve; NULL: nothing is known of it */
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

#ifdef __cplusplus
}
#endif

#endif

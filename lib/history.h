/* SPDX-License-Identifier: MIT */
#ifndef MTL_HISTORY_H
#define MTL_HISTORY_H

/* How a process's curve went over the last hour: what mtld keeps, and its JSON (docs/PROTOCOL.md).
 */

#include "mtl.h"

struct mtl_history_value {
	double value, low, high; /* 90 % interval; all NAN: unknown */
};

/* A stretch of time and the curve as it was at its end. */
struct mtl_history_entry {
	double seconds_ago; /* its end, by the clock on the wall */
	double wall_seconds, cpu_seconds;
	bool changed;                       /* a change of phase was seen in it */
	char reason[40];                    /* why nothing is known of it; "" */
	struct mtl_history_value footprint; /* bytes */
	struct mtl_history_value
	        *misses; /* a second of CPU time, one for each size; the history's */
};

struct mtl_history {
	pid_t pid;
	char comm[16];
	double window_seconds; /* of CPU time, that each curve is of, if no phase began within it */
	double *sizes;
	size_t n_sizes;
	struct mtl_history_entry *entries; /* oldest first */
	size_t n_entries;
	struct mtl_history_value *values; /* what entries point to */
};

/* So many entries, all unknown, of so many sizes, all 0. -ENOMEM. */
int mtl_history_new(size_t n_sizes, size_t n_entries, struct mtl_history **ret_history);
/* NULL-safe, returns NULL. */
struct mtl_history *mtl_history_free(struct mtl_history *history);

/*
 * At a size between two of those that ascend: the value in between (straight over the logarithm of
 * size), and since misses never rise with size the interval from the low of the larger to the high
 * of the smaller one. Unknown outside of all, or next to an unknown one.
 */
struct mtl_history_value mtl_history_between(
        const double *sizes, const struct mtl_history_value *misses, size_t n, double size_bytes);

/* Both ways; errors as mtl_curve_to_json() and mtl_curve_from_json(). */
int mtl_history_to_json(const struct mtl_history *history, struct json_object **ret_object);
int mtl_history_from_json(struct json_object *object, struct mtl_history **ret_history,
        char *ret_error, size_t error_size);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TOP_ROWS_H
#define MTL_CLI_TOP_ROWS_H

/*
 * What `mtl top` knows of the tracked processes: List's answer, and of each the latest curve. Pure
 * functions on plain structs; the screen shows them, the feed brings news.
 */

#include <stdbool.h>
#include <stddef.h>
#include <json-c/json.h>

#include "curve_report.h"

#define TOP_NAME 32

struct top_row {
	int pid;
	char comm[TOP_NAME], state[TOP_NAME];
	char reason[128]; /* "": none */
	double cpu;       /* of one core, since the List before; NAN: not known yet */
	double resident_bytes;
	double observations, needed;
	double cpu_seconds, wall_seconds; /* as in the latest List */
	/* of the latest curve; NAN: unknown, or below the resolution */
	double footprint_bytes, l2_misses, llc_misses, llc_fill_seconds;
	double width;    /* median of the trusted points' half intervals over their misses */
	bool unreadable; /* mtld's latest answer to the question for a curve */
	struct mtl_curve *curve;        /* NULL: none yet */
	struct mtl_curve_origin origin; /* of the curve */
	double asked;                   /* when its curve was last asked for; 0: never */
};

/* Those of the latest List, in its order. */
struct top_rows {
	struct top_row *rows;
	size_t n;
	double l2_bytes, llc_bytes; /* as curves say; NAN: unknown */
};

void top_rows_done(struct top_rows *rows);

/* Takes an answer of List: who is not in it is forgotten, curves stay with the others. -EBADMSG: it
 * is none. -ENOMEM. Rows are as before then. */
int top_rows_list(struct top_rows *rows, struct json_object *answer);

/* Takes a curve object, of the process that it names. -EBADMSG: it is none; -ESRCH: nobody's. */
int top_rows_curve(struct top_rows *rows, struct json_object *curve);

/* NULL: there is none. */
struct top_row *top_rows_find(const struct top_rows *rows, int pid);

/* Misses per second in a cache of so many bytes, straight between the curve's sizes; NAN where the
 * curve does not reach, or where it is below its resolution. */
double top_misses(const struct mtl_curve *curve, double size_bytes);

/* The range of sizes of the sparks of all rows: from 32 KiB to twice the last level, else to the
 * greatest size of any curve. */
void top_spark_range(const struct top_rows *rows, double *ret_from, double *ret_to);

/* The curve at n sizes, evenly over the logarithm of the range: 0 ... 1 of its greatest trusted
 * value there; NAN as top_misses(). */
void top_spark(
        const struct mtl_curve *curve, double from, double to, size_t n, double *ret_heights);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_CURVE_REPORT_H
#define MTL_CLI_CURVE_REPORT_H

#include <stdio.h>
#include <json-c/json.h>
#include "mtl.h"
#include "options.h"
#include "terminal.h"

/* All of these want points in ascending order of size; 0 or -ENOMEM. */

/* One line a point: size, fill time, misses, interval, relative misses, and misses per access where
 * accesses are counted. */
int curve_table(FILE *file, const struct mtl_curve *curve, const struct terminal *terminal);

/* Misses per second over the logarithm of size. Prints nothing for fewer than two sizes. */
int curve_plot(FILE *file, const struct mtl_curve *curve, const struct terminal *terminal);

/* A size that has a name; it is left out where it is not within the curve's. */
struct curve_mark {
	double size;
	char name[8];
};

/* The same of a curve whose misses_per_second are something else. */
struct curve_look {
	const char *caption;
	char *(*size_text)(double size, char *ret_text); /* at the ticks; like size_format() */
	double top; /* upper end of the scale; 0: as it comes */
	char *(*value_text)(double value, char *ret_text); /* on the left; NULL: count_format() */
	const char *floor_text;                            /* at the axis; NULL: "0" */
	const char *interval_text;      /* what low and high are; NULL: "90 % interval" */
	const struct curve_mark *marks; /* names of sizes, in a line of their own */
	size_t n_marks;
};
/* Columns it has; points as many, evenly over the logarithm of size, are drawn as they are. */
unsigned curve_plot_width(const struct terminal *terminal);
int curve_plot_as(FILE *file, const struct mtl_curve *curve, const struct curve_look *look,
        const struct terminal *terminal);

/* What the curve says, as one sentence without a line end. */
void curve_sentence(const struct mtl_curve *curve, char *ret_text, size_t size);

/* What a report may have or not; all windows: also those that say little beside the longest one
 * watched, and longer ones; last: of a process that has ended. */
enum { CURVE_TABLE = 1, CURVE_ALL_WINDOWS = 2, CURVE_LAST = 4 };

/* Header, table, plot, footprint and sentence. */
int curve_report(FILE *file, const struct mtl_curve *curve, const struct mtl_curve_origin *origin,
        const struct terminal *terminal, unsigned parts);

/* Header line and one row a point, empty where the value is null. -EBADMSG: not a curve object. */
int curve_csv(FILE *file, struct json_object *curve);

/* By size: a curve from elsewhere may have its points in any order. */
void curve_sort(struct mtl_curve *curve);

/*
 * A curve object in the form the options ask for, on standard output. Words say that it is the last
 * one where it has a "state" like that of List, "exited". Returns an exit code, having
 * said on stderr what was wrong.
 */
int curve_show(struct json_object *curve, const struct options *options);
/* And as a picture (--plot). */
int curve_output(struct json_object *curve, const struct options *options);

/* One JSON object and a line end. */
void json_output(FILE *file, struct json_object *object);

#endif

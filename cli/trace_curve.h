/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_CURVE_H
#define MTL_CLI_TRACE_CURVE_H

#include <stdio.h>
#include <json-c/json.h>

#include "terminal.h"
#include "trace_caches.h"
#include "trace_methods.h"
#include "trace_session.h"

struct trace_point {
	double size_bytes;
	double fill_time; /* accesses; INFINITY: it holds all */
	double miss_ratio;
};

struct trace_curve {
	const struct trace_facts *facts;
	char method[32];
	struct trace_method by;
	struct trace_engine *engine; /* NULL when it is gone */
	struct trace_point *points;  /* ascending */
	size_t n_points;
	double *fine, *fine_ratios; /* n_fine sizes from the first point to the last, ascending */
	size_t n_fine;
	double working_set_bytes, working_set_ratio; /* see trace_fine.c */
	double resolution_bytes; /* smaller sizes are decided by chance; 0: none are */
	struct trace_cache_result *caches;
	size_t n_caches;
};

/* From the engine of the method; without caches. -ENOMEM, -EINVAL. */
int trace_curve_new(const struct trace_facts *facts, const struct trace_method *method,
        struct trace_engine *engine, const struct number_list *sizes,
        struct trace_curve *ret_curve);
/* At any sizes, ascending, while the engine is there. -ENOMEM, -EINVAL. */
int trace_curve_at(
        const struct trace_curve *curve, const double *sizes, size_t n, double *ret_ratios);
/* The curve between its points, and the working set. -ENOMEM, -EINVAL. */
int trace_curve_refine(struct trace_curve *curve);
/* Its sizes, and more of them wherever it falls. values are the caller's. -ENOMEM, -EINVAL. */
int trace_curve_falls(const struct trace_curve *curve, struct number_list *ret_sizes);
void trace_curve_done(struct trace_curve *curve);

/* {"accesses", "distinct", "cold", "line_bytes"}: how every JSON answer about a trace begins.
 * -ENOMEM. */
int trace_facts_to_json(const struct trace_facts *facts, struct json_object **ret_object);
/* Members of an object: null where not finite; rounded to a whole number. -ENOMEM. */
int trace_put_number(struct json_object *object, const char *name, double value);
int trace_put_count(struct json_object *object, const char *name, double value);

/* -ENOMEM. */
int trace_curve_to_json(const struct trace_curve *curve, struct json_object **ret_object);
/* The points, or the caches where there are any, which are another table; a header line first, no
 * value where JSON has null. */
void trace_curve_csv(FILE *file, const struct trace_curve *curve);

/* For people: header, tables, plot and a sentence. -ENOMEM, -EIO. */
int trace_curve_report(
        FILE *file, const struct trace_curve *curve, const struct terminal *terminal);
/* What the trace is: the lines that every report begins with. method: "method exact; ", or NULL. */
void trace_header(FILE *file, const struct trace_facts *facts, const char *method,
        const struct terminal *terminal);
/* One sentence about a trace that is a sample and what was left out of it; "": nothing to say. */
void trace_note(const struct trace_facts *facts, char *ret_text, size_t size);
/* The same on standard error, where the output has no place for it. */
void trace_say_note(const struct trace_facts *facts);
/* A size, or a number of data where sizes are such. */
char *trace_size_text(const struct trace_facts *facts, double size, char *ret_text);
/* That of a point, so that different ones look different. */
char *trace_point_text(const struct trace_curve *curve, size_t i, char *ret_text);
/* Three digits, however small. */
char *trace_ratio_text(double ratio, char *ret_text);
/* What the points say, without a line end. */
void trace_sentence(const struct trace_curve *curve, char *ret_text, size_t size);

/* All into one picture (plot_file.h). Returns an exit code, having said what was wrong. */
int trace_curves_plot(const char *path, const struct trace_curve *const *curves, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_SHARE_H
#define MTL_CLI_SHARE_H

/* What programs do to each other in one cache, and how it is shown. */

#include <stddef.h>
#include <stdio.h>
#include "demands.h"
#include "terminal.h"

struct share {
	const struct demand_list *list;
	double size_bytes;
	double time;       /* in which they fill it; INFINITY: never */
	double *occupancy; /* and the rest: of each, misses per unit of time */
	double *alone, *together;
	double *without; /* [i * n + j]: of i without j; together where i is j */
};

/* -ENOMEM. */
int share_new(const struct demand_list *list, double size_bytes, struct share *ret_share);
void share_done(struct share *share);

/* The one without which i has the fewest misses; n: nobody makes a difference. */
size_t share_worst(const struct share *share, size_t i);

/* 0 or -ENOMEM. */
int share_report(FILE *file, const struct share *share, const struct terminal *terminal);
int share_to_json(const struct share *share, struct json_object **ret_object);
void share_csv(FILE *file, const struct share *share);

/* Misses of each alone and together over the size of the cache. Returns an exit code, having said
 * what was wrong. */
int share_plot(const char *path, const struct share *share);

#endif

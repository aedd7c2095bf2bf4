/* SPDX-License-Identifier: MIT */
#ifndef MTL_SHARE_H
#define MTL_SHARE_H

/* What programs do to each other in one cache. */

#include <stdbool.h>
#include <stddef.h>
#include "demand_list.h"

struct share {
	const struct demand_list *list;
	double size_bytes;
	double time;       /* in which they fill it; INFINITY: never */
	double *occupancy; /* and the rest: of each, misses per unit of time */
	double *alone, *together;
	double *without; /* [i * n + j]: of i without j; together where i is j */
};

/* -ENOMEM. */
int mtl_share_new(const struct demand_list *list, double size_bytes, struct share *ret_share);
void mtl_share_done(struct share *share);

/* The one without which i has the fewest misses; n: nobody makes a difference. */
size_t mtl_share_worst(const struct share *share, size_t i);

/* What is a guess, or not seen, of this program; false: nothing. */
bool mtl_share_note(const struct share *share, size_t i, char *ret_text, size_t size);

/* The object of docs/PROTOCOL.md. -ENOMEM. */
int mtl_share_to_json(const struct share *share, struct json_object **ret_object);

#endif

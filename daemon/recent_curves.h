/* SPDX-License-Identifier: MIT */
#ifndef MTLD_RECENT_CURVES_H
#define MTLD_RECENT_CURVES_H

/*
 * Curves that were answered a moment ago: who asks for the same one within RECENT_SECONDS gets it
 * again. An estimate takes milliseconds, and nothing new is seen in so short a time: many who look
 * at one process cost as much as one who does. Bounded by RECENT_MAX.
 */

#include <stddef.h>

#include "parameters.h"

#define RECENT_SECONDS 0.2
#define RECENT_MAX 32

struct recent_curves;
struct json_object;

/* NULL: out of memory. */
struct recent_curves *recent_curves_new(void);
struct recent_curves *recent_curves_free(struct recent_curves *recent);

/* A reference to the curve of these arguments (pid, sizes, windows, reference), or NULL. known:
 * seconds that the process has been tracked for, so that another one of its number is told apart.
 * recent: NULL has none. */
struct json_object *recent_curves_find(
        struct recent_curves *recent, const struct arguments *arguments, double known);

/* Keeps a reference to it, unless memory is short; in place of the one kept longest. */
void recent_curves_keep(struct recent_curves *recent, const struct arguments *arguments,
        double known, struct json_object *curve);

#endif

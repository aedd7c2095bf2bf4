/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_EXPORT_STATE_H
#define MTL_CLI_EXPORT_STATE_H

/* What `mtl export` knows: the latest answers of mtld, bounded in number by --top and --sizes. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <json-c/json.h>

#include "cache_geometry.h"
#include "cleanup.h"
#include "options.h"
#include "pod.h"

#define EXPORT_TOP_MAX 256
#define EXPORT_SIZES_MAX 64

struct export_process {
	int pid;
	struct json_object *process; /* of List */
	struct json_object *curve;   /* of Curve; NULL: why */
	char why[256];
	double asked; /* monotonic time of the last question for a curve; -INFINITY: never */
	bool final;   /* asked after it had ended */
	struct pod pod;
};

struct export_state {
	bool up;          /* mtld answers */
	char reason[256]; /* why not */
	double now;       /* monotonic, when it was asked */
	struct json_object *status;
	struct export_process *processes; /* those that are busiest first */
	size_t n;
	size_t left_out; /* tracked processes beyond --top */
	struct number_list sizes;
	struct cache_geometry caches;
};

void export_state_done(struct export_state *state);

/* The points of the curve at a size; NULL: there is none. */
struct json_object *export_point(const struct export_process *process, double size);

/* All metrics, as OpenMetrics 1.0 or as Prometheus' text form 0.0.4, into a text that the caller
 * frees. Negative errno. */
int export_metrics(
        const struct export_state *state, bool openmetrics, char **ret_text, size_t *ret_length);

/* What the page draws (docs/PROTOCOL.md, Curves). Negative errno. */
int export_curves(const struct export_state *state, struct json_object **ret_object);

#endif

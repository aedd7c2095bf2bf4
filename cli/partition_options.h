/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PARTITION_OPTIONS_H
#define MTL_CLI_PARTITION_OPTIONS_H

/* Values of options that only `mtl partition` has; their parsers are in option_values.h. */

#include <stddef.h>
#include "mtl.h"

#define PARTITION_WAYS_MAX 64

struct weight {
	char *name;
	double value; /* > 0 */
};

struct weight_list {
	struct weight *weights;
	size_t n;
};

void weights_done(struct weight_list *list);

/* "total", "fair", "guarantee" */
const char *objective_name(enum mtl_objective objective);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PARTITION_OPTIONS_H
#define MTL_CLI_PARTITION_OPTIONS_H

/* Values of options that only `mtl partition` has; their parsers are in option_values.h. */

#include <stddef.h>
#include "demand_list.h"

#define PARTITION_WAYS_MAX DEMAND_WAYS_MAX

struct weight {
	char *name;
	double value; /* > 0 */
};

struct weight_list {
	struct weight *weights;
	size_t n;
};

void weights_done(struct weight_list *list);

#endif

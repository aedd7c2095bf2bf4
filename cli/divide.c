/* SPDX-License-Identifier: MIT */
/*
 * A division as the options of `mtl partition` ask for it: weights are given by name, and what
 * lib/division.c cannot do has an exit code.
 */

#include "divide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "terminal.h"

static int take_weight(
        const struct demand_list *list, const struct weight *weight, double *ret_weights)
{
	char shown[NAME_SHOWN];

	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->operands[i].name, weight->name) == 0) {
			ret_weights[i] = weight->value;
			return MTL_DONE;
		}
	}
	return complain(MTL_USAGE,
	        "partition: --weight: no group is called %s (they are called as in the first "
	        "column: "
	        "a file without .json, a process by its number, a control group by the last part "
	        "of its path)",
	        show_name(weight->name, shown, sizeof(shown)));
}

static int take_weights(
        const struct demand_list *list, const struct weight_list *from, double *ret_weights)
{
	int code = MTL_DONE;

	for (size_t i = 0; i < list->n; i++)
		ret_weights[i] = 1;
	for (size_t i = 0; code == MTL_DONE && i < from->n; i++)
		code = take_weight(list, &from->weights[i], ret_weights);
	return code;
}

static int explain(int r, const char *error)
{
	if (r == -E2BIG)
		return complain(MTL_USAGE, "partition: --%s", error);
	return complain(r == -ENODATA ? MTL_NOT_ENOUGH : MTL_FAILED, "%s", error);
}

int divide(const struct demand_list *list, const struct demand_cache *cache,
        const struct options *options, unsigned least, struct division *ret_division)
{
	_cleanup_free_ double *weights = calloc(list->n, sizeof(double));
	const struct division_terms terms = {.cache = *cache,
	        .objective = options->objective,
	        .clusters = options->clusters,
	        .least = least,
	        .weights = weights};
	char error[1024];
	int code, r;

	*ret_division = (struct division){0};
	if (!weights)
		return complain(MTL_FAILED, "out of memory");
	code = take_weights(list, &options->weights, weights);
	if (code != MTL_DONE)
		return code;
	r = mtl_division_new(list, &terms, ret_division, error, sizeof(error));
	if (r == 0)
		r = mtl_division_place(ret_division);
	if (r == -ENOMEM)
		return complain(MTL_FAILED, "out of memory");
	return r < 0 ? explain(r, error) : MTL_DONE;
}

int divide_certain(const struct division *division)
{
	char error[1024];
	int r = mtl_division_certain(division, error, sizeof(error));

	return r < 0 ? explain(r, error) : MTL_DONE;
}

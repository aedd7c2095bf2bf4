/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_DIVIDE_H
#define MTL_CLI_DIVIDE_H

/* A division as the options of `mtl partition` ask for it. */

#include "division.h"
#include "options.h"

/* Returns an exit code, having said what was wrong: MTL_NOT_ENOUGH where curves say nothing of
 * parts so small. ret_division is always to be given to mtl_division_done(). least: of ways. */
int divide(const struct demand_list *list, const struct demand_cache *cache,
        const struct options *options, unsigned least, struct division *ret_division);

/* MTL_NOT_ENOUGH, having said so, where the curves are too uncertain to tell whether the division
 * is better than both other states. */
int divide_certain(const struct division *division);

#endif

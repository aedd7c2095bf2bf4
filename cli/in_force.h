/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_IN_FORCE_H
#define MTL_CLI_IN_FORCE_H

/* The division in force, as `mtl partition --watch` made it or, in a dry run, would have. */

#include "cache_partition.h"

struct in_force {
	struct cache_partition *partition; /* NULL: undivided */
	char **schemata; /* of each group of its plan, as the kernel had it then; NULL: a dry run */
};

struct cache_partition *cache_partition_free(struct cache_partition *partition);
DEFINE_CLEANUP(struct cache_partition, cache_partition_free)

void in_force_done(struct in_force *in_force);

/*
 * What its groups have in the order of this list, all of whose groups are among them; both in one
 * allocation that begins at ret_parts->ways, NULL for an undivided cache. -ENOMEM; -ENOENT.
 */
int in_force_parts(const struct in_force *in_force, const struct demand_list *list,
        struct division_parts *ret_parts);

/* What comes of it under the curves of this division. Likewise. */
int in_force_state(const struct in_force *in_force, const struct division *division,
        struct division_state *ret_state);

/*
 * Makes this the division in force (NULL: undivided), with its plan, and takes it over, by
 * resctrl_apply(), resctrl_retune() where groups stay, or resctrl_revert(). The former one goes to
 * ret_former. On failure, with a sentence, in_force is what remains: the former one, or none;
 * partition is not taken then.
 */
int in_force_change(struct in_force *in_force, struct cache_partition *partition,
        const struct resctrl_place *place, struct in_force *ret_former,
        struct resctrl_report *ret_report, char *ret_error, size_t error_size);

/* The same without resctrl: what a dry run takes for done. */
void in_force_assume(
        struct in_force *in_force, struct cache_partition *partition, struct in_force *ret_former);

/* -ESTALE with a sentence: others have removed or changed what was made. */
int in_force_check(const struct in_force *in_force, const struct resctrl_place *place,
        char *ret_error, size_t error_size);

/*
 * Processes that the operands have now and had not when the division was made go into its groups.
 * Returns whether there were any, or a negative errno with a sentence.
 */
int in_force_gather(struct in_force *in_force, const struct demand_list *list,
        const struct resctrl_place *place, struct resctrl_report *ret_report, char *ret_error,
        size_t error_size);

#endif

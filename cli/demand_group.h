/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_DEMAND_GROUP_H
#define MTL_CLI_DEMAND_GROUP_H

/* A group of processes as one demand. */

#include "await_members.h"
#include "demand_list.h"
#include "operand.h"

struct demand_group {
	struct member *members; /* those that used most CPU time first */
	size_t n;
	size_t hidden; /* more, of another pid namespace */
	size_t partly; /* of them: have threads in other groups of resctrl too */
};

/* The members are those of the processes found that the operand has kept. -ENOMEM. */
int demand_group_new(const char *root, const struct demand_operand *operand,
        const struct operand_members *found, struct demand_group *ret_group);
void demand_group_done(struct demand_group *group);

/*
 * What its members ask for together, once they have been waited for, and notes of what is missing.
 * Kernel threads are no longer among the operand's processes. Returns an exit code, having said
 * what was wrong: MTL_NOT_ENOUGH where not one has a curve.
 */
int demand_group_settle(const struct options *options, const struct demand_group *group,
        struct demand_operand *operand);

#endif

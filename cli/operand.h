/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_OPERAND_H
#define MTL_CLI_OPERAND_H

/* What an operand of `mtl share` and `mtl partition` stands for. */

#include <limits.h>
#include "demand_list.h"
#include "options.h"
#include "pid_set.h"

struct operand {
	const char *text;
	enum demand_kind kind;
	char *name;          /* in tables, and of a group that --apply makes */
	char path[PATH_MAX]; /* the file, the directory of a cgroup, the group within resctrl */
	int pid;             /* of a process */
};

/* What follows "cgroup:", or NULL. */
const char *operand_cgroup(const char *text);

struct operand_list {
	struct operand *operands;
	size_t n;
};

/*
 * By how they look: see the top of operand.c. Two or more of different names, all there. Returns an
 * exit code, having said what was wrong, of command where it is the usage.
 */
int operands_new(const char *command, const struct options *options, int n, char **texts,
        struct operand_list *ret_list);
void operands_done(struct operand_list *list);

/* The processes of a group, sorted, this one not among them. */
struct operand_members {
	struct pid_set set;
	struct pid_set partly; /* of them: have threads in other groups of resctrl too */
	size_t hidden;         /* more, of another pid namespace */
};

/* Likewise. */
int operand_processes(const struct options *options, const struct operand *operand,
        struct operand_members *ret_members);
void operand_members_done(struct operand_members *members);

/* Can they have ways of their own? Not a group of resctrl whose mode is not shareable. Likewise. */
int operands_check_modes(const struct options *options, const struct operand_list *list);

/* Can --apply move it? A group of resctrl only where we made it. Returns an exit code likewise. */
int operands_check_apply(const struct operand_list *list);

#endif

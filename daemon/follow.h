/* SPDX-License-Identifier: MIT */
#ifndef MTLD_FOLLOW_H
#define MTLD_FOLLOW_H

/*
 * Processes that are tracked without having been named: members of control groups, and those that
 * use most CPU time.
 */

#include "manager.h"

struct follow;
struct entry;

/* What the configuration asks for, and a timer while there is something to follow. */
int follow_new(struct manager *manager, struct follow **ret_follow);
struct follow *follow_free(struct follow *follow);

/* As manager_track_cgroup(), manager_untrack_cgroup(). */
int follow_cgroup(struct follow *follow, const char *name);
int follow_no_more(struct follow *follow, const char *name);

/* A process that is not wanted by its number any more: is it of a group that is followed, or of the top?
 * Then it is tracked on that account. */
bool follow_takes(struct follow *follow, struct entry *entry);

/* The index'th group, or -ENOENT at the end. */
int follow_describe(const struct follow *follow, unsigned index, struct manager_cgroup *ret_cgroup);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_CGROUP_H
#define MTL_CLI_CGROUP_H

/* Control groups, v2 and v1, as they are mounted below a root. */

#include <limits.h>
#include "pid_set.h"

/*
 * The directory of a control group called by its path under a mount ("/sys/fs/cgroup/a.slice"), by
 * the path /proc/PID/cgroup has ("/a.slice"), or without the slash ("a.slice/b.service"). Where
 * several hierarchies have it: v2, then systemd's, then in the order of mounting. root NULL: /.
 * -ENOENT: there is none. -ENAMETOOLONG.
 */
int cgroup_find(const char *root, const char *name, char ret_path[PATH_MAX]);

/*
 * All processes in it and below it; ret_hidden: how many of them are not of this pid namespace.
 * -EOPNOTSUPP: it is threaded, so that processes are its domain's; -ENOMEM, or what reading said.
 */
int cgroup_processes(const char *path, struct pid_set *ret_set, size_t *ret_hidden);

#endif

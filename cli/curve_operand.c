/* SPDX-License-Identifier: MIT */
/*
 * What `mtl curve` takes: numbers of processes. A control group, which other commands take, is no
 * process and has no curve of its own; its members have, so they are named, the busiest first.
 */

#include "curve_operand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "cleanup.h"
#include "operand.h"
#include "process_stat.h"
#include "size.h"
#include "terminal.h"

#define NAMED 8 /* members at most */

static int busiest_first(const void *a, const void *b)
{
	const struct process_stat *x = a, *y = b;

	return (x->cpu_seconds < y->cpu_seconds) - (x->cpu_seconds > y->cpu_seconds);
}

/* Those that are there; returns how many. */
static size_t look_at(
        const char *root, const struct pid_set *pids, struct process_stat *ret_members)
{
	size_t n = 0;

	for (size_t i = 0; i < pids->n; i++)
		n += process_stat_read(root, pids->pids[i], &ret_members[n]) == 0;
	qsort(ret_members, n, sizeof(*ret_members), busiest_first);
	return n;
}

static int name_members(const char *shown, const struct process_stat *members, size_t n)
{
	char names[NAMED * 96] = "", pids[NAMED * 16] = "";

	for (size_t i = 0; i < n && i < NAMED; i++) {
		text_append(names, sizeof(names), "%s%d (%s)", i ? ", " : "", (int)members[i].pid,
		        members[i].comm);
		text_append(pids, sizeof(pids), " %d", (int)members[i].pid);
	}
	return complain(MTL_USAGE,
	        "a curve is of a process, and control group %s has %zu: %s%s; `mtl curve%s`, or "
	        "`mtl track cgroup:%s` and then `mtl top`",
	        shown, n, names, n > NAMED ? " ..." : "", pids, shown);
}

static int explain_cgroup(const struct options *options, const char *name)
{
	_cleanup_(pid_set_done) struct pid_set pids = {0};
	_cleanup_free_ struct process_stat *members = NULL;
	char path[PATH_MAX], shown[NAME_SHOWN];
	size_t hidden, n;
	int r;

	show_name(name, shown, sizeof(shown));
	if (cgroup_find(options->root, name, path) < 0)
		return complain(MTL_FAILED, NO_SUCH_CGROUP, shown);
	r = cgroup_processes(path, &pids, &hidden);
	members = calloc(pids.n + 1, sizeof(*members));
	if (r < 0 || !members)
		return complain(MTL_FAILED, "cannot list the processes of %s: %s", shown,
		        strerror(r < 0 ? -r : ENOMEM));
	n = look_at(options->root, &pids, members);
	return n ? name_members(shown, members, n)
	         : complain(MTL_USAGE, "a curve is of a process, and control group %s has none",
	                   shown);
}

int curve_operand(const struct options *options, const char *text, int *ret_pid)
{
	const char *cgroup = operand_cgroup(text);
	char error[256], path[PATH_MAX];

	if (cgroup)
		return explain_cgroup(options, cgroup);
	if (pid_parse(text, ret_pid, error, sizeof(error)) == 0)
		return MTL_DONE;
	if (*text && cgroup_find(options->root, text, path) == 0)
		return explain_cgroup(options, text);
	return complain(MTL_USAGE, "%s", error);
}

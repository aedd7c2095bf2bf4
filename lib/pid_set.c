/* SPDX-License-Identifier: MIT */
/*
 * Sets of processes, gathered one by one: lists of cgroups and of resctrl have them in any order,
 * and more than once.
 */

#include "pid_set.h"

#include <errno.h>
#include <stdlib.h>

int pid_set_add(struct pid_set *set, int pid)
{
	/* room for 16, 32, 64, ... */
	bool full = set->n < 16 ? set->n == 0 : (set->n & (set->n - 1)) == 0;
	int *larger = set->pids;

	if (full)
		larger = reallocarray(set->pids, set->n ? 2 * set->n : 16, sizeof(int));
	if (!larger)
		return -ENOMEM;
	set->pids = larger;
	larger[set->n++] = pid;
	return 0;
}

static int ascending(const void *a, const void *b)
{
	const int *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

void pid_set_sort(struct pid_set *set)
{
	size_t kept = 0;

	if (set->n)
		qsort(set->pids, set->n, sizeof(int), ascending);
	for (size_t i = 0; i < set->n; i++)
		if (kept == 0 || set->pids[i] != set->pids[kept - 1])
			set->pids[kept++] = set->pids[i];
	set->n = kept;
}

bool pid_set_has(const struct pid_set *set, int pid)
{
	return set->n && bsearch(&pid, set->pids, set->n, sizeof(int), ascending);
}

void pid_set_done(struct pid_set *set)
{
	free(set->pids);
	*set = (struct pid_set){0};
}

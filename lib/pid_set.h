/* SPDX-License-Identifier: MIT */
#ifndef MTL_PID_SET_H
#define MTL_PID_SET_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers of processes; ascending and without repeats once pid_set_sort() was called. */
struct pid_set {
	int *pids;
	size_t n;
};

/* One more. -ENOMEM. */
int pid_set_add(struct pid_set *set, int pid);
void pid_set_sort(struct pid_set *set);

/* Of a sorted one. */
bool pid_set_has(const struct pid_set *set, int pid);

void pid_set_done(struct pid_set *set);

#endif

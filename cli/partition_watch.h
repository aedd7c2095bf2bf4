/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_PARTITION_WATCH_H
#define MTL_CLI_PARTITION_WATCH_H

#include <stdbool.h>
#include "options.h"

/* Time, as the loop sees it. */
struct watch_world {
	double (*now)(void *data);                 /* seconds, of a clock that is never set */
	bool (*pause)(void *data, double seconds); /* false: it is to end */
	void *data;
};

/* `mtl partition --watch` in any world, to be tried; returns an exit code. */
int partition_watch_in(const struct options *options, int n_operands, char **operands,
        const struct watch_world *world);

/* In this one: until SIGINT, SIGTERM or SIGHUP. */
int partition_watch(const struct options *options, int n_operands, char **operands);

#endif

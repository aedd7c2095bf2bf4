/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_MEASURED_H
#define MTL_CLI_MEASURED_H

/* What resctrl counts of operands that run, beside what is predicted of them. */

#include <json-c/json.h>
#include <stdio.h>
#include "demand_list.h"
#include "options.h"
#include "resctrl.h"
#include "terminal.h"

/* Of one operand; NAN: unknown, and why. Sums over its groups and the caches looked at. */
struct measured {
	bool tried; /* it runs */
	double occupancy, bytes_per_second, local_per_second;
	char why[RESCTRL_ERROR]; /* "": all is known that was asked for */
	size_t caches;
	struct resctrl_homes homes; /* the groups its threads are in */
};

struct measurements {
	struct measured *of; /* of each operand; NULL: there is nothing to show */
	size_t n;
	double seconds; /* of --measure; NAN: occupancy alone */
};

/* What is predicted of each operand in one cache, as it is now. */
struct measured_beside {
	const double *occupancy, *misses;
};

/*
 * With --measure S reads counters twice, S seconds apart; without, occupancy alone, and nothing
 * where it cannot be read. Returns an exit code, having said what was wrong.
 */
int measure(const char *command, const struct options *options, const struct demand_list *list,
        struct measurements *ret_measurements);
void measurements_done(struct measurements *measurements);

/* Nothing where there is nothing to show. -ENOMEM, -EIO. */
int measured_report(FILE *file, const struct measurements *measurements,
        const struct demand_list *list, const struct measured_beside *beside,
        const struct terminal *terminal);

/* A member "measured" for each operand that runs, in the object's array of that name. -ENOMEM. */
int measured_put(struct json_object *object, const char *array,
        const struct measurements *measurements, const struct measured_beside *beside);

#endif

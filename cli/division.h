/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_DIVISION_H
#define MTL_CLI_DIVISION_H

/* A cache divided among groups, beside an equal share for each and no division at all. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <json-c/json.h>
#include <stdio.h>
#include "demands.h"
#include "terminal.h"

/* What each group has in one of the three states, and what comes of it. */
struct division_state {
	double *bytes;  /* occupied, or to itself */
	double *misses; /* per unit of time */
	double total;   /* weight x misses */
	double worst;   /* slowdown */
};

/* By how much the division is better than another state, in what the objective is about (total, or
 * the worst slowdown), and between what that can be within the curves' intervals. */
struct division_gain {
	double gain, least, most;
};

/* A group of resctrl, and what is written to its schemata. */
struct division_lines {
	char *group, *schemata;
};

struct division {
	const struct demand_list *list;
	struct demand_cache cache;
	double way_bytes;
	enum mtl_objective objective;
	bool clusters; /* allowed */
	double *weights;
	unsigned *least; /* ways that each must have */
	unsigned *ways, *equal_ways;
	unsigned *cluster; /* of each, from 0 in the order of their first ones */
	unsigned n_clusters;
	uint64_t *masks; /* 0: it has no part */
	struct division_state chosen, equal, whole;
	struct division_gain over_equal, over_whole;
	double regret;                /* NAN: there is no bound, because groups share parts */
	struct division_lines *lines; /* of each, from resctrl; NULL: none */
};

/* Returns an exit code, having said what was wrong: MTL_NOT_ENOUGH also where the curves are too
 * uncertain to tell whether it is better than both other states. ret_division is always to be
 * given to division_done(). least: of ways. */
int division_new(const struct demand_list *list, const struct demand_cache *cache,
        const struct options *options, unsigned least, struct division *ret_division);
void division_done(struct division *division);

/* The gains of a division whose states are known: the last step of division_new(). */
int division_compare(struct division *division);

/* It is predicted to be better than both. What is undivided is no rival of a guarantee that it does
 * not keep. */
bool division_is_better(const struct division *division);

/* A group that misses more in the undivided cache than with an equal share; n: none. */
size_t division_robbed(const struct division *division);

/* The first group of a cluster; n: none. */
size_t division_first(const struct division *division, unsigned cluster);

/* Why the group has what it has, one sentence. */
void division_reason(const struct division *division, size_t group, char *ret_text, size_t size);

/* What the division comes to, one sentence; and what it does not know of the group, false: nothing.
 */
void division_verdict(const struct division *division, char *ret_text, size_t size);
bool division_note(const struct division *division, size_t group, char *ret_text, size_t size);

/* 0 or -ENOMEM. */
int division_report(FILE *file, const struct division *division, const struct terminal *terminal);
int division_to_json(const struct division *division, struct json_object **ret_object);
void division_csv(FILE *file, const struct division *division);

#endif

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

/* Ways of each group, for the whole of the cluster it is in. */
struct division_parts {
	const unsigned *ways, *cluster;
	unsigned n_clusters; /* numbers of clusters are below it, and need not all be there */
};

/* By how much a state is better than another, in what the objective is about (total, or the worst
 * slowdown), and between what that can be within the curves' intervals. */
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

/* Returns an exit code, having said what was wrong: MTL_NOT_ENOUGH where curves say nothing of
 * parts so small. ret_division is always to be given to division_done(). least: of ways. */
int division_new(const struct demand_list *list, const struct demand_cache *cache,
        const struct options *options, unsigned least, struct division *ret_division);
void division_done(struct division *division);

/* MTL_NOT_ENOUGH, having said so, where the curves are too uncertain to tell whether the division
 * is better than both other states. */
int division_certain(const struct division *division);

/* It is predicted to be better than both. What is undivided is no rival of a guarantee that it does
 * not keep. */
bool division_is_better(const struct division *division);

/* The gains of a division whose states are known: the last step of division_new(). */
void division_compare(struct division *division);

/* What comes of other parts under the curves of this division. Negative errno. */
int division_state_new(const struct division *division, const struct division_parts *parts,
        struct division_state *ret_state);
void division_state_done(struct division_state *state);

/* Of `to` over `from`; what of it is no more than rounding; what the objective is about. */
struct division_gain division_gain(const struct division *division,
        const struct division_state *from, const struct division_state *to);
double division_rounding(const struct division *division);
double division_value(const struct division *division, const struct division_state *state);

/* A group that misses more in this state than with an equal share; n: none. */
size_t division_robbed(const struct division *division, const struct division_state *state);

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

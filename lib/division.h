/* SPDX-License-Identifier: MIT */
#ifndef MTL_DIVISION_H
#define MTL_DIVISION_H

/* A cache divided among groups, beside an equal share for each and no division at all. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "demand_list.h"

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
	uint64_t *masks; /* 0: it has no part; NULL: not placed */
	struct division_state chosen, equal, whole;
	struct division_gain over_equal, over_whole;
	double regret;                /* NAN: there is no bound, because groups share parts */
	struct division_lines *lines; /* of each, from resctrl; NULL: none */
};

/* What is asked for. */
struct division_terms {
	struct demand_cache cache;
	enum mtl_objective objective;
	bool clusters;         /* allowed */
	unsigned least;        /* ways of each */
	const double *weights; /* of each; NULL: 1 */
};

/*
 * -ENODATA: the curves say nothing of parts so small; -ENOSPC: there is no such division; -E2BIG:
 * too many for clusters; -EINVAL; -ENOMEM, all with a sentence. ret_division is always to be given
 * to mtl_division_done(), and keeps to the list, which must stay.
 */
int mtl_division_new(const struct demand_list *list, const struct division_terms *terms,
        struct division *ret_division, char *ret_error, size_t error_size);
void mtl_division_done(struct division *division);

/* -ENODATA, with a sentence: the curves are too uncertain to tell whether the division is better
 * than both other states. */
int mtl_division_certain(const struct division *division, char *ret_error, size_t error_size);

/* Masks of the parts: contiguous, from bit 0 up in the order of the groups. -ENOMEM. */
int mtl_division_place(struct division *division);
/* "0xf", into NUMBER_TEXT bytes, which it returns. */
char *mtl_division_mask(const struct division *division, size_t group, char *ret_text);

/* The best of the three states, of those that are as good the last one here. */
enum division_advice { ADVICE_DIVISION, ADVICE_EQUAL_SHARES, ADVICE_UNDIVIDED };

/* What is undivided is no rival of a guarantee that it does not keep. */
enum division_advice mtl_division_advice(const struct division *division);

/* "division", "equal_shares", "undivided". */
const char *mtl_division_advice_name(enum division_advice advice);

/* It is predicted to be better than the cache undivided, and no worse than equal shares: it is they,
 * or as good. */
bool mtl_division_is_worth_it(const struct division *division);

/* The gains of a division whose states are known: the last step of mtl_division_new(). */
void mtl_division_compare(struct division *division);

/* What comes of other parts, or of none (NULL: undivided), under the curves of this division.
 * Negative errno. */
int mtl_division_state_new(const struct division *division, const struct division_parts *parts,
        struct division_state *ret_state);
void mtl_division_state_done(struct division_state *state);

/* Of `to` over `from`; what of it is no more than rounding; what the objective is about. */
struct division_gain mtl_division_gain(const struct division *division,
        const struct division_state *from, const struct division_state *to);
double mtl_division_rounding(const struct division *division);
double mtl_division_value(const struct division *division, const struct division_state *state);

/* A group that misses more in this state than with an equal share; n: none. */
size_t mtl_division_robbed(const struct division *division, const struct division_state *state);

/* The first group of a cluster; n: none. */
size_t mtl_division_first(const struct division *division, unsigned cluster);

/* Why the group has what it has, one sentence. */
void mtl_division_reason(
        const struct division *division, size_t group, char *ret_text, size_t size);

/* What the division comes to, one sentence; and what it does not know of the group, false: nothing.
 */
void mtl_division_verdict(const struct division *division, char *ret_text, size_t size);
bool mtl_division_note(const struct division *division, size_t group, char *ret_text, size_t size);

/* The object of docs/PROTOCOL.md. -ENOMEM. */
int mtl_division_to_json(const struct division *division, struct json_object **ret_object);

/* "total", "fair", "guarantee", and back: -EINVAL: there is none of that name. */
const char *mtl_objective_name(enum mtl_objective objective);
int mtl_objective_from_name(const char *name, enum mtl_objective *ret_objective);

#endif

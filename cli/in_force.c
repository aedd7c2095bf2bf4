/* SPDX-License-Identifier: MIT */
/*
 * The division in force, and how another one takes its place.
 *
 *     undivided -> groups        resctrl_apply()
 *     the same groups            resctrl_retune(): other masks, monitoring ids stay
 *     other groups               resctrl_revert(), then resctrl_apply()
 *     groups -> undivided        resctrl_revert()
 *
 * What the kernel says of each group then is kept, since a processor may make another mask of the
 * one it was given; whatever differs from that later is the work of others.
 */

#include "in_force.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cache_partition *cache_partition_free(struct cache_partition *partition)
{
	if (partition)
		cache_partition_done(partition);
	free(partition);
	return NULL;
}

static size_t n_groups(const struct in_force *in_force)
{
	return in_force->schemata ? in_force->partition->plan->n_groups : 0;
}

void in_force_done(struct in_force *in_force)
{
	for (size_t i = 0; i < n_groups(in_force); i++)
		free(in_force->schemata[i]);
	free(in_force->schemata);
	cache_partition_free(in_force->partition);
	*in_force = (struct in_force){0};
}

static size_t find(const struct demand_list *list, const char *name)
{
	size_t i = 0;

	while (i < list->n && strcmp(list->operands[i].name, name) != 0)
		i++;
	return i;
}

static int make_parts(const struct division *division, const struct demand_list *list,
        struct division_parts *ret_parts)
{
	_cleanup_free_ unsigned *ways = calloc(2 * list->n, sizeof(*ways));
	unsigned *cluster = ways + list->n;

	if (!ways)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		size_t j = find(division->list, list->operands[i].name);

		if (j == division->list->n)
			return -ENOENT;
		ways[i] = division->ways[j];
		cluster[i] = division->cluster[j];
	}
	*ret_parts = (struct division_parts){TAKE_PTR(ways), cluster, division->n_clusters};
	return 0;
}

int in_force_parts(const struct in_force *in_force, const struct demand_list *list,
        struct division_parts *ret_parts)
{
	if (in_force->partition)
		return make_parts(&in_force->partition->division, list, ret_parts);
	*ret_parts = (struct division_parts){0};
	return 0;
}

int in_force_state(const struct in_force *in_force, const struct division *division,
        struct division_state *ret_state)
{
	struct division_parts parts;
	int r = in_force_parts(in_force, division->list, &parts);

	if (r < 0)
		return r;
	r = mtl_division_state_new(division, parts.ways ? &parts : NULL, ret_state);
	free((unsigned *)parts.ways);
	return r;
}

/* --- changes */

static bool same_groups(const struct resctrl_plan *one, const struct resctrl_plan *other)
{
	bool same = one->n_groups == other->n_groups;

	for (size_t i = 0; same && i < one->n_groups; i++) {
		size_t j = 0;

		while (j < other->n_groups &&
		        strcmp(one->groups[i].name, other->groups[j].name) != 0)
			j++;
		same = j < other->n_groups;
	}
	return same;
}

/* What cannot be read now is found out by in_force_check(). */
static void remember(struct in_force *in_force, const struct resctrl_place *place)
{
	const struct resctrl_plan *plan = in_force->partition->plan;
	char error[RESCTRL_ERROR];

	in_force->schemata = calloc(plan->n_groups + 1, sizeof(*in_force->schemata));
	for (size_t i = 0; i < n_groups(in_force); i++)
		resctrl_schemata(
		        place, plan->groups[i].name, &in_force->schemata[i], error, sizeof(error));
}

void in_force_assume(
        struct in_force *in_force, struct cache_partition *partition, struct in_force *ret_former)
{
	*ret_former = *in_force;
	*in_force = (struct in_force){.partition = partition};
}

int in_force_change(struct in_force *in_force, struct cache_partition *partition,
        const struct resctrl_place *place, struct in_force *ret_former,
        struct resctrl_report *ret_report, char *ret_error, size_t error_size)
{
	_cleanup_(in_force_done) struct in_force former = {0};
	bool stay = partition && in_force->partition &&
	            same_groups(in_force->partition->plan, partition->plan);
	int r = 0;

	if (in_force->partition && !stay) {
		r = resctrl_revert(place, ret_report, ret_error, error_size);
		if (r < 0)
			return r;
		in_force_assume(in_force, NULL, &former);
	}
	if (partition)
		r = (stay ? resctrl_retune : resctrl_apply)(
		        place, partition->plan, ret_report, ret_error, error_size);
	if (r < 0)
		return r;
	if (stay)
		former = *in_force;
	*in_force = (struct in_force){.partition = partition};
	if (partition)
		remember(in_force, place);
	*ret_former = former;
	former = (struct in_force){0};
	return 0;
}

/* --- others */

static int stale(const char *group, char *schemata, char *ret_error, size_t error_size)
{
	size_t blanks = strspn(schemata, " "), length = strlen(schemata);

	for (size_t i = 0; i < length; i++)
		schemata[i] = schemata[i] != '\n' ? schemata[i] : i + 1 < length ? ' ' : '\0';
	snprintf(ret_error, error_size, "others changed the resctrl group %s: it has %s now", group,
	        schemata + blanks);
	return -ESTALE;
}

int in_force_check(const struct in_force *in_force, const struct resctrl_place *place,
        char *ret_error, size_t error_size)
{
	for (size_t i = 0; i < n_groups(in_force); i++) {
		const char *group = in_force->partition->plan->groups[i].name;
		const char *then = in_force->schemata[i];
		_cleanup_free_ char *now = NULL;

		if (resctrl_schemata(place, group, &now, ret_error, error_size) < 0)
			return -ESTALE;
		if (then && strcmp(now, then) != 0)
			return stale(group, now, ret_error, error_size);
	}
	return 0;
}

/* --- processes that came later */

static bool has(const struct resctrl_plan_group *group, int pid)
{
	for (size_t i = 0; i < group->n_pids; i++)
		if (group->pids[i] == pid)
			return true;
	return false;
}

static bool is_stranger(const struct in_force *in_force, const struct demand_operand *operand)
{
	const struct division *division = &in_force->partition->division;
	size_t j = find(division->list, operand->name);
	bool stranger = false;

	for (size_t i = 0; j < division->list->n && i < operand->n_pids; i++)
		stranger |= !has(
		        &in_force->partition->plan->groups[division->cluster[j]], operand->pids[i]);
	return stranger;
}

/* Processes of the operands into the groups of the plan, those that have ended out of it. */
static int regroup(struct in_force *in_force, const struct demand_list *list)
{
	const struct division *division = &in_force->partition->division;
	struct resctrl_plan *plan = in_force->partition->plan;

	for (size_t g = 0; g < plan->n_groups; g++)
		plan->groups[g].n_pids = 0;
	for (size_t i = 0; i < list->n; i++) {
		const struct demand_operand *operand = &list->operands[i];
		size_t j = find(division->list, operand->name);
		struct resctrl_plan_group *group;
		int *pids;

		if (j == division->list->n || operand->n_pids == 0)
			continue;
		group = &plan->groups[division->cluster[j]];
		pids = reallocarray(group->pids, group->n_pids + operand->n_pids, sizeof(*pids));
		if (!pids)
			return -ENOMEM;
		group->pids = pids;
		memcpy(pids + group->n_pids, operand->pids, operand->n_pids * sizeof(*pids));
		group->n_pids += operand->n_pids;
	}
	return 0;
}

int in_force_gather(struct in_force *in_force, const struct demand_list *list,
        const struct resctrl_place *place, struct resctrl_report *ret_report, char *ret_error,
        size_t error_size)
{
	bool any = false;
	int r;

	for (size_t i = 0; in_force->schemata && i < list->n; i++)
		any |= is_stranger(in_force, &list->operands[i]);
	if (!any)
		return 0;
	r = regroup(in_force, list);
	if (r < 0)
		snprintf(ret_error, error_size, "out of memory");
	else
		r = resctrl_retune(
		        place, in_force->partition->plan, ret_report, ret_error, error_size);
	return r < 0 ? r : 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * From named groups that want ways to what is written to resctrl.
 *
 * Checked are, in this order: names and processes, that the kernel has classes of service enough,
 * each share against the cache it is of, and then each cache whether masks exist. A group has one
 * line for each level it has a share of, two equal ones where code and data are apart: a curve does
 * not tell which is which.
 */

#include "resctrl.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "resctrl_masks.h"
#include "resctrl_session.h"

struct planning {
	const struct resctrl_geometry *geometry;
	const struct resctrl_request *requests;
	struct resctrl_plan *plan;
	enum resctrl_shareable shareable;
	char *error;
	size_t error_size;
};

static int refuse(struct planning *planning, int r, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static int refuse(struct planning *planning, int r, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(planning->error, planning->error_size, format, arguments);
	va_end(arguments);
	return r;
}

static int out_of_memory(struct planning *planning)
{
	return refuse(planning, -ENOMEM, "out of memory");
}

static void make_name(const char *name, char *ret_name)
{
	size_t at = strlen(RESCTRL_PREFIX);

	strcpy(ret_name, RESCTRL_PREFIX);
	for (size_t i = 0; name[i] && i < RESCTRL_NAME_LENGTH; i++) {
		unsigned char c = (unsigned char)name[i];

		ret_name[at++] = (c < 128 && isalnum(c)) || strchr("_.-", c) ? (char)c : '_';
	}
	ret_name[at] = '\0';
}

static int check_name(struct planning *planning, size_t i)
{
	const struct resctrl_plan_group *groups = planning->plan->groups;
	const char *name = planning->requests[i].name;

	if (!*name)
		return refuse(planning, -EINVAL, "a group without a name");
	for (size_t j = 0; j < i; j++)
		if (!strcmp(groups[i].name, groups[j].name))
			return refuse(planning, -EINVAL,
			        "groups \"%s\" and \"%s\" would both be called %s in resctrl",
			        planning->requests[j].name, name, groups[i].name);
	return 0;
}

static int check_pid(struct planning *planning, size_t i, int pid)
{
	if (pid <= 0)
		return refuse(planning, -EINVAL, "group \"%s\": %d is no process",
		        planning->requests[i].name, pid);
	for (size_t j = 0; j < i; j++)
		for (size_t k = 0; k < planning->requests[j].n_pids; k++)
			if (planning->requests[j].pids[k] == pid)
				return refuse(planning, -EINVAL,
				        "process %d is in group \"%s\" and in \"%s\", but can be "
				        "in one only",
				        pid, planning->requests[j].name,
				        planning->requests[i].name);
	return 0;
}

static int start_group(struct planning *planning, size_t i)
{
	const struct resctrl_request *request = &planning->requests[i];
	struct resctrl_plan_group *group = &planning->plan->groups[i];
	int r;

	make_name(request->name, group->name);
	r = check_name(planning, i);
	for (size_t k = 0; r == 0 && k < request->n_pids; k++)
		r = check_pid(planning, i, request->pids[k]);
	if (r < 0)
		return r;
	group->pids = calloc(request->n_pids + 1, sizeof(int));
	if (!group->pids)
		return out_of_memory(planning);
	group->n_pids = request->n_pids;
	if (group->n_pids)
		memcpy(group->pids, request->pids, request->n_pids * sizeof(int));
	return 0;
}

static int check_number(struct planning *planning)
{
	const struct resctrl_geometry *geometry = planning->geometry;
	unsigned left = geometry->num_closids > geometry->groups
	                        ? geometry->num_closids - geometry->groups
	                        : 0;

	if (planning->plan->n_groups <= left)
		return 0;
	return refuse(planning, -ENOSPC,
	        "%zu groups are wanted, and %u of %u classes of service (CLOSIDs) are left: others "
	        "have "
	        "%u, the default group included",
	        planning->plan->n_groups, left, geometry->num_closids, geometry->groups);
}

static const struct resctrl_domain *domain_of(const struct resctrl_cache *cache, int id)
{
	for (size_t i = 0; cache && i < cache->n_domains; i++)
		if (cache->domains[i].id == id)
			return &cache->domains[i];
	return NULL;
}

static int check_share(
        struct planning *planning, const char *name, const struct resctrl_share *share)
{
	const struct resctrl_cache *cache = resctrl_cache(planning->geometry, share->level);
	char reason[256];

	if (!cache)
		return refuse(planning, -EINVAL,
		        "group \"%s\": L%d caches cannot be divided on this machine", name,
		        share->level);
	if (share->domain != RESCTRL_EVERY_DOMAIN && !domain_of(cache, share->domain))
		return refuse(planning, -EINVAL, "group \"%s\": there is no L%d cache with id %d",
		        name, share->level, share->domain);
	if (share->mask == 0 && share->ways < cache->min_cbm_bits)
		return refuse(planning, -EINVAL,
		        "group \"%s\": %u %s of L%d, and this processor gives out no fewer than %u",
		        name, share->ways, share->ways == 1 ? "way" : "ways", share->level,
		        cache->min_cbm_bits);
	if (share->mask && resctrl_mask_check(cache, 0, share->mask, reason, sizeof(reason)) < 0)
		return refuse(planning, -EINVAL, "group \"%s\": %s", name, reason);
	return 0;
}

static const struct resctrl_share *share_of(
        const struct resctrl_request *request, int level, int domain)
{
	for (size_t i = request->n_shares; i-- > 0;) {
		const struct resctrl_share *share = &request->shares[i];

		if (share->level == level &&
		        (share->domain == domain || share->domain == RESCTRL_EVERY_DOMAIN))
			return share;
	}
	return NULL;
}

static int add_mask(struct resctrl_plan_group *group, int level, int domain, uint32_t mask)
{
	struct resctrl_mask *larger =
	        reallocarray(group->masks, group->n_masks + 1, sizeof(*group->masks));

	if (!larger)
		return -ENOMEM;
	group->masks = larger;
	larger[group->n_masks++] = (struct resctrl_mask){level, domain, mask};
	return 0;
}

static int plan_domain(struct planning *planning, const struct resctrl_cache *cache,
        const struct resctrl_domain *domain)
{
	size_t n = planning->plan->n_groups;
	_cleanup_free_ struct resctrl_want *wants = calloc(n + 1, sizeof(*wants));
	char reason[256];
	int r = 0;

	if (!wants)
		return out_of_memory(planning);
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct resctrl_share *share =
		        share_of(&planning->requests[i], cache->level, domain->id);

		if (share)
			wants[i] = (struct resctrl_want){share->ways, share->mask};
		if (share && share->mask)
			r = resctrl_mask_check(
			        cache, domain->taken, share->mask, reason, sizeof(reason));
	}
	if (r == 0)
		r = resctrl_masks(cache, domain->taken, planning->shareable, wants, n, reason,
		        sizeof(reason));
	if (r < 0)
		return refuse(planning, r, "L%d cache %d: %s", cache->level, domain->id, reason);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (share_of(&planning->requests[i], cache->level, domain->id))
			r = add_mask(&planning->plan->groups[i], cache->level, domain->id,
			        wants[i].mask);
	return r < 0 ? out_of_memory(planning) : 0;
}

static int print_group(struct planning *planning, struct resctrl_plan_group *group)
{
	group->schemata = resctrl_print(planning->geometry, group->masks, group->n_masks);
	return group->schemata ? 0 : out_of_memory(planning);
}

static int make_plan(struct planning *planning)
{
	const struct resctrl_geometry *geometry = planning->geometry;
	size_t n = planning->plan->n_groups;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = start_group(planning, i);
	r = r < 0 ? r : check_number(planning);
	for (size_t i = 0; r == 0 && i < n; i++)
		for (size_t k = 0; r == 0 && k < planning->requests[i].n_shares; k++)
			r = check_share(planning, planning->requests[i].name,
			        &planning->requests[i].shares[k]);
	for (size_t i = 0; r == 0 && i < geometry->n_caches; i++)
		for (size_t k = 0; r == 0 && k < geometry->caches[i].n_domains; k++)
			r = plan_domain(
			        planning, &geometry->caches[i], &geometry->caches[i].domains[k]);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = print_group(planning, &planning->plan->groups[i]);
	return r;
}

int resctrl_plan_new(const struct resctrl_geometry *geometry,
        const struct resctrl_request *requests, size_t n_requests, enum resctrl_shareable shareable,
        struct resctrl_plan **ret_plan, char *ret_error, size_t error_size)
{
	_cleanup_(resctrl_plan_freep) struct resctrl_plan *plan = calloc(1, sizeof(*plan));
	struct planning planning = {geometry, requests, plan, shareable, ret_error, error_size};
	int r;

	if (!plan)
		return out_of_memory(&planning);
	plan->groups = calloc(n_requests + 1, sizeof(*plan->groups));
	if (!plan->groups)
		return out_of_memory(&planning);
	plan->n_groups = n_requests;
	r = make_plan(&planning);
	if (r == 0)
		*ret_plan = TAKE_PTR(plan);
	return r;
}

void resctrl_plan_free(struct resctrl_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; plan->groups && i < plan->n_groups; i++) {
		free(plan->groups[i].pids);
		free(plan->groups[i].masks);
		free(plan->groups[i].schemata);
	}
	free(plan->groups);
	free(plan);
}

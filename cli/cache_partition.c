/* SPDX-License-Identifier: MIT */
/*
 * A cache, the curves of groups that are to share it, its best division, and how resctrl would make
 * that: everything that `mtl partition` finds out before it shows or does anything.
 *
 * The cache is the one described by --ways and --size, or the one resctrl can divide, or the last
 * level as sysfs has it. Of resctrl's, the ways that groups in exclusive mode hold are nobody
 * else's; all others are divided, in every cache of that level alike, since a process may run on
 * any CPU, or in those that --domain names. Masks are then those of the plan (resctrl.h), which
 * knows about holes and bits that I/O fills too.
 */

#include "cache_partition.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cache_size.h"
#include "cleanup.h"
#include "demands.h"
#include "divide.h"
#include "terminal.h"

void cache_partition_done(struct cache_partition *partition)
{
	mtl_division_done(&partition->division);
	mtl_demand_list_done(&partition->list);
	resctrl_geometry_done(&partition->geometry);
	resctrl_plan_free(partition->plan);
}

/* --- the cache */

static int from_options(struct cache_partition *partition)
{
	const struct options *options = partition->options;

	if (isnan(options->size))
		return complain(MTL_USAGE, "partition: --ways goes with --size");
	partition->cache = (struct demand_cache){options->size, options->ways};
	if (fmod(options->size, options->ways) != 0)
		return complain(MTL_USAGE,
		        "partition: %.0f bytes do not make %u equal ways: give a --size that is a "
		        "multiple of --ways",
		        options->size, options->ways);
	return MTL_DONE;
}

static int check_domains(const struct options *options, const struct resctrl_cache *level)
{
	char ids[256] = "";

	for (size_t i = 0; i < level->n_domains; i++)
		text_append(ids, sizeof(ids), "%s%d", i ? ", " : "", level->domains[i].id);
	for (size_t k = 0; k < options->domains.n; k++) {
		bool there = false;

		for (size_t i = 0; i < level->n_domains; i++)
			there |= level->domains[i].id == options->domains.values[k];
		if (!there)
			return complain(MTL_USAGE,
			        "partition: --domain: there is no L%d cache with id %.0f; those "
			        "of this machine are %s",
			        level->level, options->domains.values[k], ids);
	}
	return MTL_DONE;
}

/* Ways that can be given in every cache of the level, or of those chosen. */
static int from_resctrl(struct cache_partition *partition)
{
	const struct resctrl_cache *level =
	        resctrl_cache(&partition->geometry, 3) ?: resctrl_cache(&partition->geometry, 2);
	const struct resctrl_domain *first = NULL;
	uint32_t taken = 0;
	uint64_t bytes;

	if (check_domains(partition->options, level) != MTL_DONE)
		return MTL_USAGE;
	for (size_t i = 0; i < level->n_domains; i++) {
		const struct resctrl_domain *domain = &level->domains[i];

		if (!domain_is_chosen(partition->options, domain->id))
			continue;
		first = first ?: domain;
		taken |= domain->taken;
		if (domain->bytes_per_bit != first->bytes_per_bit)
			return complain(MTL_FAILED,
			        "the L%d caches %d and %d differ in size: choose those of one "
			        "size with --domain",
			        level->level, first->id, domain->id);
	}
	bytes = first->bytes_per_bit;
	partition->level = level;
	partition->cache.ways = (unsigned)__builtin_popcount(level->cbm_mask & ~taken);
	if (partition->cache.ways == 0)
		return complain(MTL_FAILED,
		        "all ways of L%d are held by groups in exclusive mode: none are left",
		        level->level);
	partition->cache.bytes = isnan(partition->options->size)
	                                 ? (double)bytes * partition->cache.ways
	                                 : partition->options->size;
	return partition->cache.bytes > 0
	               ? MTL_DONE
	               : complain(MTL_USAGE,
	                         "partition: resctrl does not say how large the cache is: give "
	                         "--size, of all %u ways",
	                         partition->cache.ways);
}

static int from_machine(struct cache_partition *partition, const char *reason)
{
	struct demand_cache *cache = &partition->cache;
	bool is_given = !isnan(partition->options->size);
	struct cache_size size;
	int r = cache_size_read(partition->options->root, &size);

	if (r == 0)
		*cache = (struct demand_cache){
		        is_given ? partition->options->size : size.bytes, size.ways};
	if (r == 0 && !is_given && *size.doubt)
		complain(MTL_DONE, "note: %s", size.doubt);
	if (r == 0 && cache->ways >= 1 && cache->ways <= PARTITION_WAYS_MAX)
		return MTL_DONE;
	return complain(MTL_USAGE,
	        "partition: give --ways N and --size SIZE, since neither sysfs nor the CPU says "
	        "how "
	        "many ways the last-level cache has, nor resctrl: %s",
	        reason);
}

static int find_cache(struct cache_partition *partition)
{
	char error[RESCTRL_ERROR];
	int r;

	if (partition->options->ways)
		return from_options(partition);
	r = resctrl_geometry_read(&partition->place, &partition->geometry, error, sizeof(error));
	if (r == 0)
		return from_resctrl(partition);
	if (partition->options->domains.n)
		return complain(MTL_FAILED, "cannot choose a --domain: %s", error);
	return partition->options->apply ? complain(MTL_FAILED, "cannot --apply: %s", error)
	                                 : from_machine(partition, error);
}

/* --- what cannot be, whatever the curves say */

static int check_number(const struct cache_partition *partition, int n)
{
	unsigned ways = partition->cache.ways, least = partition->options->least ?: 1;

	if (partition->options->clusters || (unsigned)n <= ways / least)
		return MTL_DONE;
	if ((unsigned)n > ways)
		return complain(MTL_USAGE,
		        "partition: %d groups are more than %u way%s: not each can have one; "
		        "--clusters lets them share",
		        n, ways, ways == 1 ? "" : "s");
	return complain(
	        MTL_USAGE, "partition: %d groups cannot have %u ways each of %u", n, least, ways);
}

static int check_operands(const struct cache_partition *partition)
{
	const struct demand_list *list = &partition->list;

	if (list->operands[0].is_data && !partition->options->ways)
		return complain(MTL_USAGE,
		        "partition: sizes are numbers of data in %s: give --ways, and --size as "
		        "one too",
		        list->operands[0].name);
	return MTL_DONE;
}

/* --- resctrl */

/* What plans are made of, one of each for a cluster, and shares for each chosen domain; processes
 * of all of them in one array. */
struct wishes {
	struct resctrl_request *requests;
	struct resctrl_share *shares;
	char (*names)[RESCTRL_NAME_LENGTH + 1];
	int *pids;
	size_t n_pids;   /* so far */
	size_t n_shares; /* of a cluster */
};

static void wishes_done(struct wishes *wishes)
{
	free(wishes->requests);
	free(wishes->shares);
	free(wishes->names);
	free(wishes->pids);
}

static bool wishes_init(const struct cache_partition *partition, struct wishes *wishes)
{
	size_t n = partition->division.n_clusters, processes = 0;

	for (size_t i = 0; i < partition->list.n; i++)
		processes += partition->list.operands[i].n_pids;
	wishes->requests = calloc(n, sizeof(*wishes->requests));
	wishes->n_shares = partition->options->domains.n ?: 1;
	wishes->shares = calloc(n * wishes->n_shares, sizeof(*wishes->shares));
	wishes->names = calloc(n, sizeof(*wishes->names));
	wishes->pids = calloc(processes + 1, sizeof(*wishes->pids));
	return wishes->requests && wishes->shares && wishes->names && wishes->pids;
}

/* Its own group of resctrl: what is divided anew. Others get a new one. */
static bool has_own_group(const struct demand_operand *operand)
{
	return operand->kind == DEMAND_RESCTRL && !strstr(operand->name, "mon_groups/");
}

static bool is_ours(const struct demand_operand *operand)
{
	return has_own_group(operand) &&
	       strncmp(operand->name, RESCTRL_PREFIX, strlen(RESCTRL_PREFIX)) == 0;
}

/* The name of a cluster: its members' names. Its processes go behind those that are there. */
static void add_member(const struct demand_operand *operand, struct wishes *wishes, char *name)
{
	size_t length = strlen(name);

	snprintf(name + length, RESCTRL_NAME_LENGTH + 1 - length, "%s%s", length ? "+" : "",
	        operand->name + (is_ours(operand) ? strlen(RESCTRL_PREFIX) : 0));
	for (size_t i = 0; i < operand->n_pids; i++)
		wishes->pids[wishes->n_pids++] = operand->pids[i];
}

/* A cluster is one group of resctrl, called like its first member, or all of them. */
static void make_request(
        const struct cache_partition *partition, unsigned cluster, struct wishes *wishes)
{
	const struct division *division = &partition->division;
	struct resctrl_share *shares = &wishes->shares[cluster * wishes->n_shares];
	const struct number_list *domains = &partition->options->domains;
	char *name = wishes->names[cluster];
	size_t first = wishes->n_pids;

	for (size_t i = 0; i < partition->list.n; i++)
		if (division->cluster[i] == cluster)
			add_member(&partition->list.operands[i], wishes, name);
	for (size_t k = 0; k < wishes->n_shares; k++)
		shares[k] = (struct resctrl_share){.level = partition->level->level,
		        .domain = domains->n ? (int)domains->values[k] : RESCTRL_EVERY_DOMAIN,
		        .ways = division->ways[mtl_division_first(division, cluster)]};
	wishes->requests[cluster] = (struct resctrl_request){
	        name, wishes->pids + first, wishes->n_pids - first, shares, wishes->n_shares};
}

static bool is_alone(const struct division *division, size_t i)
{
	size_t members = 0;

	for (size_t j = 0; j < division->list->n; j++)
		members += division->cluster[j] == division->cluster[i];
	return members == 1;
}

/* Its lines are for a group of others that is there. */
static bool stays_theirs(const struct division *division, size_t i)
{
	const struct demand_operand *operand = &division->list->operands[i];

	return has_own_group(operand) && !is_ours(operand) && is_alone(division, i);
}

/* Masks and lines of the plan into the division. */
static int take_plan(struct cache_partition *partition)
{
	struct division *division = &partition->division;

	division->lines = calloc(partition->list.n, sizeof(*division->lines));
	if (!division->lines)
		return complain(MTL_FAILED, "out of memory");
	for (size_t i = 0; i < partition->list.n; i++) {
		const struct resctrl_plan_group *group =
		        &partition->plan->groups[division->cluster[i]];

		division->masks[i] = group->n_masks ? group->masks[0].mask : 0;
		division->lines[i].group = strdup(
		        stays_theirs(division, i) ? partition->list.operands[i].name : group->name);
		division->lines[i].schemata = strdup(group->schemata);
		if (!division->lines[i].group || !division->lines[i].schemata)
			return complain(MTL_FAILED, "out of memory");
	}
	return MTL_DONE;
}

int cache_partition_plan(struct cache_partition *partition)
{
	_cleanup_(wishes_done) struct wishes wishes = {0};
	size_t n = partition->division.n_clusters;
	struct resctrl_geometry geometry = partition->geometry;
	char error[RESCTRL_ERROR];
	int r;

	if (!partition->level)
		return MTL_DONE;
	if (!wishes_init(partition, &wishes))
		return complain(MTL_FAILED, "out of memory");
	for (unsigned c = 0; c < n; c++)
		make_request(partition, c, &wishes);
	for (size_t i = 0; i < partition->list.n; i++) /* they take no other class of service */
		geometry.groups -= stays_theirs(&partition->division, i);
	r = resctrl_plan_new(&geometry, wishes.requests, n, RESCTRL_SHAREABLE_LAST,
	        &partition->plan, error, sizeof(error));
	return r < 0 ? complain(MTL_FAILED, "%s", error) : take_plan(partition);
}

/* In a group in exclusive mode they have ways now that a division would take from them. */
static int note_exclusive(const struct cache_partition *partition, struct demand_operand *operand)
{
	_cleanup_(resctrl_homes_done) struct resctrl_homes homes = {0};
	const struct pid_set set = {operand->pids, operand->n_pids};
	char mode[RESCTRL_MODE], error[RESCTRL_ERROR], name[NAME_SHOWN];
	int r = 0;

	if (resctrl_homes_of(&partition->place, &set, &homes, error, sizeof(error)) < 0)
		return 0;
	for (size_t i = 0; r == 0 && i < homes.n; i++) {
		const char *group = homes.homes[i].group;

		if (resctrl_mode(&partition->place, group, mode, error, sizeof(error)) == 0 &&
		        strcmp(mode, "shareable") != 0)
			r = mtl_demand_operand_note(operand,
			        "%s runs in the resctrl group %s, whose ways are its own (%s "
			        "mode): the division takes it out of there, and nobody has these "
			        "ways then",
			        show_name(operand->name, name, sizeof(name)), group, mode);
	}
	return r;
}

static int note_all_exclusive(struct cache_partition *partition)
{
	bool taken = false;
	int r = 0;

	for (size_t i = 0; partition->level && i < partition->level->n_domains; i++)
		taken |= partition->level->domains[i].taken != 0;
	for (size_t i = 0; r == 0 && taken && i < partition->list.n; i++)
		r = note_exclusive(partition, &partition->list.operands[i]);
	return r < 0 ? complain(MTL_FAILED, "out of memory") : MTL_DONE;
}

/* --- all of it */

static unsigned least_ways(const struct cache_partition *partition)
{
	unsigned least = partition->options->least ?: 1;
	unsigned minimum = partition->level ? partition->level->min_cbm_bits : 0;

	return least > minimum ? least : minimum;
}

int cache_partition_new(const struct options *options, int n, char **operands,
        struct cache_partition *ret_partition)
{
	struct cache_partition *partition = ret_partition;
	int code;

	*partition = (struct cache_partition){.options = options, .place = {.root = options->root}};
	code = demands_check("partition", options, n, operands, !options->ways);
	code = code ?: find_cache(partition);
	code = code ?: check_number(partition, n);
	code = code ?: demands_load(options, n, operands, &partition->cache, &partition->list);
	code = code ?: check_operands(partition);
	code = code ?: note_all_exclusive(partition);
	return code
	               ?: divide(&partition->list, &partition->cache, options,
	                          least_ways(partition), &partition->division);
}

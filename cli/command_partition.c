/* SPDX-License-Identifier: MIT */
/*
 * `mtl partition PID|FILE...`: the best division of a cache among groups, shown and, with --apply,
 * made by resctrl.
 *
 * The cache is the one described by --ways and --size, or the one resctrl can divide, or the last
 * level as sysfs has it. Of resctrl's, the ways that groups in exclusive mode hold are nobody
 * else's; all others are divided, in every cache of that level alike, since a process may run on
 * any CPU. Masks are then those of the plan (resctrl.h), which knows about holes and bits that I/O
 * fills too.
 *
 * Only what is predicted to be better is applied.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cache_size.h"
#include "cleanup.h"
#include "curve_report.h"
#include "division.h"
#include "json_fields.h"
#include "options.h"
#include "resctrl.h"

struct partition {
	const struct options *options;
	struct resctrl_place place;
	struct resctrl_geometry geometry;
	const struct resctrl_cache *level; /* NULL: the cache is not from resctrl */
	struct demand_cache cache;
	struct demand_list list;
	struct division division;
	struct resctrl_plan *plan;
};

static void partition_done(struct partition *partition)
{
	division_done(&partition->division);
	demands_done(&partition->list);
	resctrl_geometry_done(&partition->geometry);
	resctrl_plan_free(partition->plan);
}

/* --- the cache */

static int from_options(struct partition *partition)
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

/* Ways that can be given in every cache of the level. */
static int from_resctrl(struct partition *partition)
{
	const struct resctrl_cache *level =
	        resctrl_cache(&partition->geometry, 3) ?: resctrl_cache(&partition->geometry, 2);
	uint64_t bytes = level->domains[0].bytes_per_bit;
	uint32_t taken = 0;

	for (size_t i = 0; i < level->n_domains; i++) {
		taken |= level->domains[i].taken;
		if (level->domains[i].bytes_per_bit != bytes)
			return complain(MTL_FAILED,
			        "the L%d caches of this machine differ in size: give --ways and "
			        "--size of one",
			        level->level);
	}
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

static int from_sysfs(struct partition *partition, const char *reason)
{
	struct demand_cache *cache = &partition->cache;
	int r = cache_size_read(partition->options->root, &cache->bytes, &cache->ways);

	if (r == 0 && !isnan(partition->options->size))
		cache->bytes = partition->options->size;
	if (r == 0 && cache->ways >= 1 && cache->ways <= PARTITION_WAYS_MAX)
		return MTL_DONE;
	return complain(MTL_USAGE,
	        "partition: give --ways N and --size SIZE, since sysfs does not say how many ways "
	        "the last-level cache has, nor resctrl: %s",
	        reason);
}

static int find_cache(struct partition *partition)
{
	char error[RESCTRL_ERROR];
	int r;

	if (partition->options->ways)
		return from_options(partition);
	r = resctrl_geometry_read(&partition->place, &partition->geometry, error, sizeof(error));
	if (r == 0)
		return from_resctrl(partition);
	return partition->options->apply ? complain(MTL_FAILED, "cannot --apply: %s", error)
	                                 : from_sysfs(partition, error);
}

/* --- what cannot be, whatever the curves say */

static int check_number(const struct partition *partition, int n)
{
	unsigned ways = partition->cache.ways, least = partition->options->least ?: 1;

	if (partition->options->clusters || (unsigned)n <= ways / least)
		return MTL_DONE;
	if ((unsigned)n > ways)
		return complain(MTL_USAGE,
		        "partition: %d groups are more than %u ways: not each can have one; "
		        "--clusters lets them share",
		        n, ways);
	return complain(
	        MTL_USAGE, "partition: %d groups cannot have %u ways each of %u", n, least, ways);
}

static int check_operands(const struct partition *partition)
{
	const struct demand_list *list = &partition->list;

	if (list->operands[0].is_data && !partition->options->ways)
		return complain(MTL_USAGE,
		        "partition: sizes are numbers of data in %s: give --ways, and --size as "
		        "one too",
		        list->operands[0].name);
	return MTL_DONE;
}

static int check_apply(const struct partition *partition, int n, char **operands)
{
	for (int i = 0; i < n && partition->options->apply; i++)
		if (!demands_is_pid(operands[i]))
			return complain(MTL_USAGE,
			        "partition: --apply moves processes: %s is a file", operands[i]);
	return MTL_DONE;
}

/* --- resctrl */

/* A cluster is one group of resctrl, called like its first member, or all of them. */
static void make_request(const struct partition *partition, unsigned cluster,
        struct resctrl_share *share, struct resctrl_request *ret_request, char *name, int *pids)
{
	const struct division *division = &partition->division;
	size_t n = partition->list.n, length = 0, at = 0;

	*name = '\0';
	for (size_t i = 0; i < n; i++) {
		if (division->cluster[i] != cluster)
			continue;
		length += (size_t)snprintf(name + length, RESCTRL_NAME_LENGTH + 1 - length, "%s%s",
		        length ? "+" : "", partition->list.operands[i].name);
		length = length > RESCTRL_NAME_LENGTH ? RESCTRL_NAME_LENGTH : length;
		if (partition->list.operands[i].pid)
			pids[at++] = partition->list.operands[i].pid;
	}
	*share = (struct resctrl_share){.level = partition->level->level,
	        .domain = RESCTRL_EVERY_DOMAIN,
	        .ways = division->ways[division_first(division, cluster)]};
	*ret_request = (struct resctrl_request){name, pids, at, share, 1};
}

/* Masks and lines of the plan into the division. */
static int take_plan(struct partition *partition)
{
	struct division *division = &partition->division;

	division->lines = calloc(partition->list.n, sizeof(*division->lines));
	if (!division->lines)
		return complain(MTL_FAILED, "out of memory");
	for (size_t i = 0; i < partition->list.n; i++) {
		const struct resctrl_plan_group *group =
		        &partition->plan->groups[division->cluster[i]];

		division->masks[i] = group->n_masks ? group->masks[0].mask : 0;
		division->lines[i].group = strdup(group->name);
		division->lines[i].schemata = strdup(group->schemata);
		if (!division->lines[i].group || !division->lines[i].schemata)
			return complain(MTL_FAILED, "out of memory");
	}
	return MTL_DONE;
}

static int make_plan(struct partition *partition)
{
	size_t n = partition->division.n_clusters, all = partition->list.n;
	_cleanup_free_ struct resctrl_request *requests = calloc(n, sizeof(*requests));
	_cleanup_free_ struct resctrl_share *shares = calloc(n, sizeof(*shares));
	_cleanup_free_ char *names = calloc(n, RESCTRL_NAME_LENGTH + 1);
	_cleanup_free_ int *pids = calloc(n, all * sizeof(int));
	char error[RESCTRL_ERROR];
	int r;

	if (!requests || !shares || !names || !pids)
		return complain(MTL_FAILED, "out of memory");
	for (unsigned c = 0; c < n; c++)
		make_request(partition, c, &shares[c], &requests[c],
		        names + c * (RESCTRL_NAME_LENGTH + 1), pids + c * all);
	r = resctrl_plan_new(&partition->geometry, requests, n, RESCTRL_SHAREABLE_LAST,
	        &partition->plan, error, sizeof(error));
	return r < 0 ? complain(MTL_FAILED, "%s", error) : take_plan(partition);
}

static void say_report(const char *what, const struct resctrl_report *report)
{
	char notes[RESCTRL_NOTES], *rest = notes, *line;

	complain(MTL_DONE, "%s: %zu threads moved", what, report->moved);
	snprintf(notes, sizeof(notes), "%s", report->notes);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			complain(MTL_DONE, "note: %s", line);
}

static int revert(const struct options *options)
{
	const struct resctrl_place place = {.root = options->root};
	struct resctrl_report report = {0};
	char error[RESCTRL_ERROR];

	if (resctrl_revert(&place, &report, error, sizeof(error)) < 0)
		return complain(MTL_FAILED, "%s", error);
	say_report("reverted", &report);
	return MTL_DONE;
}

static int apply(const struct partition *partition)
{
	struct resctrl_report report = {0};
	char error[RESCTRL_ERROR], verdict[400];

	if (!division_is_better(&partition->division)) {
		division_verdict(&partition->division, verdict, sizeof(verdict));
		return complain(MTL_FAILED, "not applied: %s", verdict);
	}
	if (resctrl_apply(&partition->place, partition->plan, &report, error, sizeof(error)) < 0)
		return complain(MTL_FAILED, "%s", error);
	say_report("applied, until `mtl partition --revert`", &report);
	return MTL_DONE;
}

/* --- the command */

static int write_json(const struct division *division)
{
	_cleanup_json_ struct json_object *object = NULL;
	int r = division_to_json(division, &object);

	if (r == 0)
		json_output(stdout, object);
	return r;
}

static int write_division(const struct options *options, const struct division *division)
{
	struct terminal terminal = terminal_describe(stdout);
	int r = 0;

	if (options->json)
		r = write_json(division);
	else if (options->csv)
		division_csv(stdout, division);
	else
		r = division_report(stdout, division, &terminal);
	if (r < 0 && ferror(stdout))
		return MTL_FAILED;
	return r < 0 ? complain(MTL_FAILED, "cannot show this: %s", strerror(-r)) : MTL_DONE;
}

static unsigned least_ways(const struct partition *partition)
{
	unsigned least = partition->options->least ?: 1;
	unsigned minimum = partition->level ? partition->level->min_cbm_bits : 0;

	return least > minimum ? least : minimum;
}

int command_partition(const struct options *options, int n_operands, char **operands)
{
	_cleanup_(partition_done) struct partition partition = {
	        .options = options, .place = {.root = options->root}};
	int code;

	if (options->revert)
		return n_operands ? complain(MTL_USAGE, "partition: --revert takes no operands")
		                  : revert(options);
	if (n_operands == 0)
		return complain(MTL_USAGE, "partition: PID|FILE... is missing");
	code = demands_check("partition", n_operands, operands);
	code = code ?: check_apply(&partition, n_operands, operands);
	code = code ?: find_cache(&partition);
	code = code ?: check_number(&partition, n_operands);
	code = code
	               ?: demands_load(
	                          options, n_operands, operands, &partition.cache, &partition.list);
	code = code ?: check_operands(&partition);
	code = code
	               ?: division_new(&partition.list, &partition.cache, options,
	                          least_ways(&partition), &partition.division);
	if (code == MTL_DONE && partition.level)
		code = make_plan(&partition);
	if (code == MTL_DONE && options->apply)
		code = apply(&partition);
	return code ?: write_division(options, &partition.division);
}

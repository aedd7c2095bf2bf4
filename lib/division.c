/* SPDX-License-Identifier: MIT */
/*
 * The best division of a cache among groups, as lib finds it.
 *
 * What is best is decided there (docs/THEORY.md section 17). A group gets no fewer ways than its
 * curve knows of: below that misses are a guess, and a guess is no reason to take ways from
 * anybody.
 *
 * It stands beside two states that need no advice: an equal share for each, and one cache for all,
 * of which each occupies what sharing predicts. division_gain.c compares.
 */

#include "division.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "partition.h"
#include "words.h"

#define ROUNDING 1e-9

static size_t first_of(const unsigned *clusters, size_t n, unsigned cluster)
{
	size_t i = 0;

	while (i < n && clusters[i] != cluster)
		i++;
	return i;
}

size_t mtl_division_first(const struct division *division, unsigned cluster)
{
	return first_of(division->cluster, division->list->n, cluster);
}

/* --- what groups must have, and count */

static void take_weights(struct division *division, const double *weights)
{
	for (size_t i = 0; i < division->list->n; i++)
		division->weights[i] = weights ? weights[i] : 1;
}

/* Ways that its curve knows of. */
static unsigned known_from(const struct division *division, size_t i)
{
	double known = division->list->demands[i]->smallest_known_bytes / division->way_bytes;

	return (unsigned)fmin(ceil(known * (1 - ROUNDING)), DEMAND_WAYS_MAX + 1);
}

/* A saved curve is known from one of its sizes, so from the first of them, and not from the
 * resolution. */
static bool begins_by_sizes(const struct demand_operand *operand)
{
	const struct mtl_demand *demand = operand->demand;
	bool is_size = false;

	for (size_t i = 1; i < demand->n; i++)
		is_size |= demand->points[i].size_bytes == demand->smallest_known_bytes;
	return operand->kind == DEMAND_FILE && is_size;
}

/* What lets its curve begin at less. */
static const char *how_to_know_less(const struct demand_operand *operand)
{
	bool by_sizes = begins_by_sizes(operand);

	if (operand->accesses > 0)
		return by_sizes ? "give `mtl trace` smaller --sizes"
		                : "let `mtl trace` sample more of it";
	return by_sizes ? "give `mtl curve` smaller --sizes" : "observe it for longer";
}

static int take_least(struct division *division, unsigned least, char *ret_error, size_t error_size)
{
	size_t n = division->list->n, most = 0;
	unsigned sum = 0;
	char name[NAME_SHOWN], known[NUMBER_TEXT];

	for (size_t i = 0; i < n; i++) {
		unsigned from = known_from(division, i);

		division->least[i] = from > least ? from : least;
		sum += division->least[i];
		most = division->least[i] > division->least[most] ? i : most;
	}
	if (sum <= division->cache.ways ||
	        (division->clusters && division->least[most] <= division->cache.ways))
		return 0;
	snprintf(ret_error, error_size,
	        "the curves say nothing of parts so small: that of %s begins at %s, for which %u "
	        "of %u ways are needed; %s",
	        mtl_name_text(division->list->operands[most].name, name, sizeof(name)),
	        mtl_size_format(division->list->demands[most]->smallest_known_bytes, known),
	        division->least[most], division->cache.ways,
	        how_to_know_less(&division->list->operands[most]));
	return -ENODATA;
}

/* --- the best division */

/* Misses with 0 ... ways ways of all groups, in one allocation, low and high behind them. */
static int make_claims(
        const struct division *division, struct mtl_claim *ret_claims, double **ret_numbers)
{
	size_t n = division->list->n, row = division->cache.ways + 1;
	double *numbers = calloc(3 * n, row * sizeof(double));

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct mtl_demand *demand = division->list->demands[i];
		double *misses = numbers + 3 * i * row, *low = misses + row, *high = low + row;

		for (unsigned k = 0; k < row; k++)
			misses[k] = mtl_demand_misses(
			        demand, k * division->way_bytes, &low[k], &high[k]);
		ret_claims[i] = (struct mtl_claim){.misses = misses,
		        .low = low,
		        .high = high,
		        .falls = true,
		        .work = demand->work,
		        .weight = division->weights[i],
		        .least_ways = division->least[i]};
	}
	*ret_numbers = numbers;
	return 0;
}

static int divide_in_clusters(struct division *division)
{
	struct mtl_cluster_terms terms = {.way_bytes = division->way_bytes,
	        .ways = division->cache.ways,
	        .weights = division->weights,
	        .objective = division->objective};

	for (size_t i = 0; i < division->list->n; i++)
		if (division->least[i] > terms.least_ways)
			terms.least_ways = division->least[i];
	return mtl_partition_clusters(division->list->demands, division->list->n, &terms,
	        division->cluster, division->ways);
}

static int divide(struct division *division)
{
	size_t n = division->list->n;
	_cleanup_free_ struct mtl_claim *claims = calloc(n, sizeof(*claims));
	_cleanup_free_ double *numbers = NULL;
	int r = claims ? make_claims(division, claims, &numbers) : -ENOMEM;

	for (size_t i = 0; i < n; i++)
		division->cluster[i] = (unsigned)i;
	if (r == 0)
		r = division->clusters ? divide_in_clusters(division)
		                       : mtl_partition(claims, n, division->cache.ways,
		                                 division->objective, division->ways);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (division->cluster[i] >= division->n_clusters)
			division->n_clusters = division->cluster[i] + 1;
	division->regret = NAN;
	if (r == 0 && division->n_clusters == n)
		r = mtl_partition_regret(
		        claims, n, division->cache.ways, division->ways, &division->regret);
	return r;
}

/* --- the three states, and others */

static int state_init(struct division_state *state, size_t n)
{
	state->bytes = calloc(2 * n, sizeof(double));
	state->misses = state->bytes + n;
	return state->bytes ? 0 : -ENOMEM;
}

void mtl_division_state_done(struct division_state *state)
{
	free(state->bytes);
}

/* Those of one cluster, in its part; alone in it, without the detour that rounds. */
static int share_part(const struct division *division, const struct division_parts *parts,
        unsigned cluster, struct division_state *state)
{
	size_t n = division->list->n, first = first_of(parts->cluster, n, cluster), members = 0;
	_cleanup_free_ const struct mtl_demand **demands = calloc(n, sizeof(struct mtl_demand *));
	_cleanup_free_ double *numbers = calloc(2 * n, sizeof(double));
	double bytes = first < n ? parts->ways[first] * division->way_bytes : 0, time;
	int r;

	if (!demands || !numbers)
		return -ENOMEM;
	for (size_t i = first; i < n; i++)
		if (parts->cluster[i] == cluster)
			demands[members++] = division->list->demands[i];
	if (members == 1) {
		state->bytes[first] = bytes;
		state->misses[first] = mtl_demand_misses(demands[0], bytes, NULL, NULL);
	}
	if (members <= 1)
		return 0;
	r = mtl_demands_share(demands, members, bytes, &time, numbers, numbers + n);
	for (size_t i = first, at = 0; r == 0 && i < n; i++) {
		if (parts->cluster[i] != cluster)
			continue;
		state->bytes[i] = isinf(time) ? bytes : numbers[at];
		state->misses[i] = numbers[n + at++];
	}
	return r;
}

static int fill_parts(const struct division *division, const struct division_parts *parts,
        struct division_state *state)
{
	int r = 0;

	for (unsigned c = 0; r == 0 && c < parts->n_clusters; c++)
		r = share_part(division, parts, c, state);
	return r;
}

static int fill_chosen(struct division *division)
{
	const struct division_parts parts = {
	        division->ways, division->cluster, division->n_clusters};

	return fill_parts(division, &parts, &division->chosen);
}

static int fill_equal(struct division *division)
{
	size_t n = division->list->n;

	for (size_t i = 0; i < n; i++) {
		division->equal_ways[i] = mtl_partition_equal_share(n, division->cache.ways, i);
		division->equal.bytes[i] = division->equal_ways[i] * division->way_bytes;
		division->equal.misses[i] = mtl_demand_misses(
		        division->list->demands[i], division->equal.bytes[i], NULL, NULL);
	}
	return 0;
}

static int fill_whole(const struct division *division, struct division_state *whole)
{
	double time;
	int r = mtl_demands_share(division->list->demands, division->list->n, division->cache.bytes,
	        &time, whole->bytes, whole->misses);

	for (size_t i = 0; r == 0 && isinf(time) && i < division->list->n; i++)
		whole->bytes[i] = division->cache.bytes;
	return r;
}

static void sum_up(const struct division *division, struct division_state *state)
{
	for (size_t i = 0; i < division->list->n; i++) {
		const struct mtl_demand *demand = division->list->demands[i];
		double least = mtl_demand_misses(demand, division->cache.bytes, NULL, NULL);

		state->total += division->weights[i] * state->misses[i];
		state->worst =
		        fmax(state->worst, mtl_slowdown(demand->work, state->misses[i], least));
	}
}

int mtl_division_state_new(const struct division *division, const struct division_parts *parts,
        struct division_state *ret_state)
{
	_cleanup_(mtl_division_state_done) struct division_state state = {0};
	int r = state_init(&state, division->list->n);

	if (r == 0)
		r = parts ? fill_parts(division, parts, &state) : fill_whole(division, &state);
	if (r < 0)
		return r;
	sum_up(division, &state);
	*ret_state = state;
	state = (struct division_state){0};
	return 0;
}

/* --- all of it */

static int allocate(struct division *division)
{
	size_t n = division->list->n;
	int r;

	division->weights = calloc(n, sizeof(double));
	division->least = calloc(n, sizeof(unsigned));
	division->ways = calloc(n, sizeof(unsigned));
	division->equal_ways = calloc(n, sizeof(unsigned));
	division->cluster = calloc(n, sizeof(unsigned));
	r = state_init(&division->chosen, n);
	r = r ?: state_init(&division->equal, n);
	r = r ?: state_init(&division->whole, n);
	return division->weights && division->least && division->ways && division->equal_ways &&
	                       division->cluster
	               ? r
	               : -ENOMEM;
}

/* Why lib can find none. */
static int no_division(const struct division *division, int r, char *ret_error, size_t error_size)
{
	if (r == -E2BIG)
		snprintf(ret_error, error_size,
		        "clusters tries everything: %zu groups are more than %d", division->list->n,
		        MTL_CLUSTERED_MAX);
	else if (r == -ENOSPC && division->objective == MTL_GUARANTEE)
		snprintf(ret_error, error_size,
		        "there is no division that guarantees everybody an equal share's misses "
		        "and the least number of ways");
	else if (r == -ENOSPC)
		snprintf(ret_error, error_size, "there is no division with so many ways for each");
	else
		snprintf(ret_error, error_size, "cannot divide this cache: %s", strerror(-r));
	return r;
}

int mtl_division_new(const struct demand_list *list, const struct division_terms *terms,
        struct division *ret_division, char *ret_error, size_t error_size)
{
	struct division *division = ret_division;
	int r;

	*division = (struct division){.list = list,
	        .cache = terms->cache,
	        .way_bytes = terms->cache.bytes / terms->cache.ways,
	        .objective = terms->objective,
	        .clusters = terms->clusters};
	r = allocate(division);
	if (r < 0)
		return no_division(division, r, ret_error, error_size);
	take_weights(division, terms->weights);
	r = take_least(division, terms->least, ret_error, error_size);
	if (r < 0)
		return r;
	r = divide(division);
	r = r ?: fill_chosen(division);
	r = r ?: fill_equal(division);
	r = r ?: fill_whole(division, &division->whole);
	if (r < 0)
		return no_division(division, r, ret_error, error_size);
	sum_up(division, &division->chosen);
	sum_up(division, &division->equal);
	sum_up(division, &division->whole);
	mtl_division_compare(division);
	return 0;
}

int mtl_division_place(struct division *division)
{
	uint64_t *masks = calloc(division->list->n, sizeof(*masks));
	unsigned at = 0;

	if (!masks)
		return -ENOMEM;
	for (unsigned c = 0; c < division->n_clusters; c++) {
		unsigned ways = division->ways[mtl_division_first(division, c)];

		for (size_t i = 0; i < division->list->n; i++)
			if (division->cluster[i] == c && ways > 0)
				masks[i] = UINT64_MAX >> (64 - ways) << at;
		at += ways;
	}
	free(division->masks);
	division->masks = masks;
	return 0;
}

char *mtl_division_mask(const struct division *division, size_t i, char *ret_text)
{
	snprintf(ret_text, NUMBER_TEXT, "0x%" PRIx64, division->masks[i]);
	return ret_text;
}

void mtl_division_done(struct division *division)
{
	for (size_t i = 0; division->lines && i < division->list->n; i++) {
		free(division->lines[i].group);
		free(division->lines[i].schemata);
	}
	free(division->lines);
	free(division->weights);
	free(division->least);
	free(division->ways);
	free(division->equal_ways);
	free(division->cluster);
	free(division->masks);
	mtl_division_state_done(&division->chosen);
	mtl_division_state_done(&division->equal);
	mtl_division_state_done(&division->whole);
}

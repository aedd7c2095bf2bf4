/* SPDX-License-Identifier: MIT */
/*
 * `mtl share PID|FILE...`: what programs do to each other in a cache they share.
 *
 * lib predicts who occupies what and misses how often (docs/THEORY.md section 16). Who hurts whom
 * is the same question asked again without each of them: the misses of i fall by so much when j is
 * not there. Such amounts need not add up, since the others take what j leaves.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cache_size.h"
#include "cleanup.h"
#include "curve_report.h"
#include "json_fields.h"
#include "options.h"
#include "share.h"

/* All but one; which: n leaves out nobody. -ENOMEM. */
static int share_but(const struct share *share, size_t which, double *ret_time,
        double *ret_occupancy, double *ret_misses)
{
	size_t n = share->list->n, kept = 0;
	_cleanup_free_ const struct mtl_demand **demands = calloc(n, sizeof(struct mtl_demand *));
	_cleanup_free_ double *numbers = calloc(2 * n, sizeof(double));
	int r;

	if (!demands || !numbers)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (i != which)
			demands[kept++] = share->list->demands[i];
	r = mtl_demands_share(demands, kept, share->size_bytes, ret_time, numbers, numbers + n);
	for (size_t i = 0, at = 0; r == 0 && i < n; i++) {
		if (i == which)
			continue;
		ret_occupancy[i] = numbers[at];
		ret_misses[i] = numbers[n + at++];
	}
	return r;
}

static int compute_without(struct share *share)
{
	size_t n = share->list->n;
	_cleanup_free_ double *numbers = calloc(2 * n, sizeof(double));
	double time;
	int r = numbers ? 0 : -ENOMEM;

	for (size_t j = 0; r == 0 && j < n; j++) {
		r = share_but(share, j, &time, numbers, numbers + n);
		for (size_t i = 0; r == 0 && i < n; i++)
			share->without[i * n + j] = i == j ? share->together[i] : numbers[n + i];
	}
	return r;
}

int share_new(const struct demand_list *list, double size_bytes, struct share *ret_share)
{
	size_t n = list->n;
	_cleanup_(share_done) struct share share = {.list = list, .size_bytes = size_bytes};
	int r;

	share.occupancy = calloc(n * (3 + n), sizeof(double));
	if (!share.occupancy)
		return -ENOMEM;
	share.alone = share.occupancy + n;
	share.together = share.alone + n;
	share.without = share.together + n;
	for (size_t i = 0; i < n; i++)
		share.alone[i] = mtl_demand_misses(list->demands[i], size_bytes, NULL, NULL);
	r = share_but(&share, n, &share.time, share.occupancy, share.together);
	r = r ?: compute_without(&share);
	if (r < 0)
		return r;
	*ret_share = share;
	share.occupancy = NULL;
	return 0;
}

void share_done(struct share *share)
{
	free(share->occupancy);
	share->occupancy = NULL;
}

size_t share_worst(const struct share *share, size_t i)
{
	size_t n = share->list->n, worst = n;
	double least = share->together[i];

	for (size_t j = 0; j < n; j++) {
		if (share->without[i * n + j] < least) {
			least = share->without[i * n + j];
			worst = j;
		}
	}
	return worst;
}

static int find_size(const struct options *options, double *ret_bytes)
{
	unsigned ways;

	*ret_bytes = options->size;
	if (!isnan(options->size) || cache_size_read(options->root, ret_bytes, &ways) == 0)
		return MTL_DONE;
	return complain(MTL_USAGE,
	        "share: sysfs does not say how large the last-level cache is: give --size SIZE");
}

static int write_json(const struct share *share)
{
	_cleanup_json_ struct json_object *object = NULL;
	int r = share_to_json(share, &object);

	if (r == 0)
		json_output(stdout, object);
	return r;
}

static int write_share(const struct options *options, const struct share *share)
{
	struct terminal terminal = terminal_describe(stdout);
	int r = 0;

	if (options->json)
		r = write_json(share);
	else if (options->csv)
		share_csv(stdout, share);
	else
		r = share_report(stdout, share, &terminal);
	if (r < 0 && ferror(stdout))
		return MTL_FAILED;
	return r < 0 ? complain(MTL_FAILED, "cannot show this: %s", strerror(-r)) : MTL_DONE;
}

int command_share(const struct options *options, int n_operands, char **operands)
{
	_cleanup_(demands_done) struct demand_list list = {0};
	_cleanup_(share_done) struct share share = {0};
	struct demand_cache cache = {.ways = 1};
	int code = demands_check("share", n_operands, operands), r;

	code = code ?: find_size(options, &cache.bytes);
	code = code ?: demands_load(options, n_operands, operands, &cache, &list);
	if (code != MTL_DONE)
		return code;
	if (list.operands[0].is_data && isnan(options->size))
		return complain(MTL_USAGE,
		        "share: sizes are numbers of data in %s: give --size as one too",
		        list.operands[0].name);
	r = share_new(&list, cache.bytes, &share);
	if (r < 0)
		return complain(MTL_FAILED, "cannot predict this: %s", strerror(-r));
	if (options->plot)
		code = share_plot(options->plot, &share);
	return code == MTL_DONE ? write_share(options, &share) : code;
}

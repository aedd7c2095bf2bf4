/* SPDX-License-Identifier: MIT */
/*
 * `mtl share PID|FILE|GROUP...`: what programs do to each other in a cache they share.
 * lib/share.c predicts it, share_report.c shows it.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cache_size.h"
#include "cleanup.h"
#include "curve_report.h"
#include "json_fields.h"
#include "measured.h"
#include "options.h"
#include "share_report.h"

static int find_size(const struct options *options, double *ret_bytes, const char **ret_source)
{
	struct cache_size size;

	*ret_bytes = options->size;
	if (!isnan(options->size))
		return MTL_DONE;
	if (cache_size_read(options->root, &size) < 0)
		return complain(MTL_USAGE,
		        "share: neither sysfs nor the CPU says how large the last-level cache is: "
		        "give --size SIZE");
	*ret_bytes = size.bytes;
	*ret_source = size.source;
	return *size.doubt ? complain(MTL_DONE, "note: %s", size.doubt) : MTL_DONE;
}

static int write_json(const struct share *share, const struct measurements *measurements,
        const struct measured_beside *beside)
{
	_cleanup_json_ struct json_object *object = NULL;
	int r = mtl_share_to_json(share, &object);

	r = r ?: measured_put(object, "programs", measurements, beside);
	if (r == 0)
		json_output(stdout, object);
	return r;
}

static int write_share(const struct options *options, const struct share *share, const char *source,
        const struct measurements *measurements)
{
	const struct measured_beside beside = {share->occupancy, share->together};
	struct terminal terminal = terminal_describe(stdout);
	int r = 0;

	if (options->json)
		r = write_json(share, measurements, &beside);
	else if (options->csv)
		share_csv(stdout, share);
	else
		r = share_report(stdout, share, source, &terminal)
		            ?: measured_report(
		                       stdout, measurements, share->list, &beside, &terminal);
	if (r < 0 && ferror(stdout))
		return MTL_FAILED;
	return r < 0 ? complain(MTL_FAILED, "cannot show this: %s", strerror(-r)) : MTL_DONE;
}

int command_share(const struct options *options, int n_operands, char **operands)
{
	_cleanup_(mtl_demand_list_done) struct demand_list list = {0};
	_cleanup_(mtl_share_done) struct share share = {0};
	_cleanup_(measurements_done) struct measurements measurements = {0};
	struct demand_cache cache = {.ways = 1};
	const char *source = NULL;
	int code = demands_check("share", options, n_operands, operands, false), r;

	code = code ?: find_size(options, &cache.bytes, &source);
	code = code ?: demands_load(options, n_operands, operands, &cache, &list);
	if (code != MTL_DONE)
		return code;
	if (list.operands[0].is_data && isnan(options->size))
		return complain(MTL_USAGE,
		        "share: sizes are numbers of data in %s: give --size as one too",
		        list.operands[0].name);
	r = mtl_share_new(&list, cache.bytes, &share);
	if (r < 0)
		return complain(MTL_FAILED, "cannot predict this: %s", strerror(-r));
	if (options->plot)
		code = share_plot(options->plot, &share);
	code = code ?: measure("share", options, &list, &measurements);
	return code ?: write_share(options, &share, source, &measurements);
}

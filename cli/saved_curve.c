/* SPDX-License-Identifier: MIT */
/*
 * `mtl curve --from FILE`: a record of observations, estimated again. Needs no daemon, no rights
 * and not the machine it was taken on.
 */

#include "saved_curve.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "curve_report.h"
#include "json_file.h"
#include "mtl.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

#define NO_RECORD "%s is not a file of `mtl run --record` or `mtl curve --record`: %s"

struct record {
	struct mtl_observation *observations;
	struct mtl_birth *births;
	size_t n, n_births;
	struct mtl_curve_origin origin;
	struct mtl_estimate_options estimate;
};

static void record_done(struct record *record)
{
	free(record->observations);
	free(record->births);
}

static int read_record(const char *file, struct record *ret_record)
{
	_cleanup_(json_object_putp) struct json_object *object = NULL;
	struct record *record = ret_record;
	char error[256];
	int r = json_file_read(file, &object, error, sizeof(error));

	if (r < 0 && r != -EBADMSG)
		return complain(MTL_FAILED, "cannot read observations from %s: %s", file, error);
	if (r < 0)
		return complain(MTL_FAILED, NO_RECORD, file, error);
	if (mtl_record_from_json(object, &record->observations, &record->n, &record->births,
	            &record->n_births, &record->origin, &record->estimate, error,
	            sizeof(error)) < 0)
		return complain(MTL_FAILED, NO_RECORD, file, error);
	return MTL_DONE;
}

static int estimate(struct record *record, struct json_object **ret_curve)
{
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	int r = mtl_curve_from_observations(record->observations, record->n, record->births,
	        record->n_births, &record->estimate, &curve);

	if (r == -ENODATA)
		return complain(MTL_NOT_ENOUGH, "not enough: %zu of about %d observations",
		        record->n, MTL_OBSERVATIONS_NEEDED);
	if (r < 0)
		return complain(
		        MTL_FAILED, "cannot estimate from these observations: %s", strerror(-r));
	r = mtl_curve_to_json(curve, &record->origin, ret_curve);
	return r < 0 ? complain(MTL_FAILED, "cannot show the curve: %s", strerror(-r)) : MTL_DONE;
}

int saved_curve(const struct options *options)
{
	_cleanup_(record_done) struct record record = {0};
	_cleanup_(json_object_putp) struct json_object *curve = NULL;
	int code = read_record(options->from, &record);

	if (code != MTL_DONE)
		return code;
	record.estimate.sizes = options->sizes.values;
	record.estimate.n_sizes = options->sizes.n;
	record.estimate.windows = options->windows.values;
	record.estimate.n_windows = options->windows.n;
	if (!isnan(options->reference))
		record.estimate.reference_bytes = options->reference;
	code = estimate(&record, &curve);
	return code == MTL_DONE ? curve_output(curve, options) : code;
}

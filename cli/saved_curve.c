/* SPDX-License-Identifier: MIT */
/*
 * `mtl curve --from FILE`: a record of observations, estimated again. Needs no daemon, no rights
 * and not the machine it was taken on.
 */

#include "saved_curve.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "curve_report.h"
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

/* Up to a NUL byte, which no JSON has. */
static int read_file(const char *path, char **ret_text, size_t *ret_length)
{
	_cleanup_free_ char *text = NULL;
	FILE *file = fopen(path, "re");
	size_t size = 0;
	ssize_t length;
	int r;

	if (!file)
		return -errno;
	length = getdelim(&text, &size, '\0', file);
	r = length > INT_MAX ? -EFBIG : length < 0 && !feof(file) ? -errno : 0;
	fclose(file);
	if (r < 0)
		return r;
	/* Of an empty file getdelim() leaves an allocation without content. */
	*ret_text = length < 0 ? NULL : TAKE_PTR(text);
	*ret_length = length < 0 ? 0 : (size_t)length;
	return 0;
}

static struct json_object *parse(
        const char *text, size_t length, char *ret_error, size_t error_size)
{
	struct json_tokener *tokener = json_tokener_new();
	enum json_tokener_error error;
	struct json_object *object;

	if (!tokener) {
		snprintf(ret_error, error_size, "out of memory");
		return NULL;
	}
	/* With the terminating NUL, which ends the text for json-c; without a length it reads beyond. */
	object = json_tokener_parse_ex(tokener, text, length < INT_MAX ? (int)length + 1 : INT_MAX);
	error = json_tokener_get_error(tokener);
	if (length == 0)
		snprintf(ret_error, error_size, "it is empty");
	else if (error == json_tokener_success)
		snprintf(ret_error, error_size, "it is null");
	else if (error == json_tokener_error_parse_eof || error == json_tokener_continue)
		snprintf(ret_error, error_size, "it breaks off after byte %zu", length);
	else
		snprintf(ret_error, error_size, "it is no JSON from byte %zu on",
		        json_tokener_get_parse_end(tokener) + 1);
	json_tokener_free(tokener);
	return object;
}

static int read_record(const char *file, struct record *ret_record)
{
	_cleanup_(json_object_putp) struct json_object *object = NULL;
	_cleanup_free_ char *text = NULL;
	struct record *record = ret_record;
	char error[256];
	size_t length = 0;
	int r = read_file(file, &text, &length);

	if (r < 0)
		return complain(
		        MTL_FAILED, "cannot read observations from %s: %s", file, strerror(-r));
	object = parse(text ?: "", length, error, sizeof(error));
	if (!object)
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

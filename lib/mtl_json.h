/* SPDX-License-Identifier: MIT */
#ifndef MTL_JSON_H
#define MTL_JSON_H

/*
 * The curve object and the record of observations as JSON (docs/PROTOCOL.md), both ways. One
 * implementation for the socket, `mtl run`, `mtl curve`, saved files and `--from`.
 * INFINITY and NAN become null where the schema allows it. Reading rejects what does not fit the
 * schema (-EBADMSG) and says where in ret_error.
 */

#include "mtl.h"

int mtl_curve_to_json(const struct mtl_curve *curve, const struct mtl_curve_origin *origin,
	struct json_object **ret_object);
int mtl_curve_from_json(struct json_object *object, struct mtl_curve **ret_curve,
	struct mtl_curve_origin *ret_origin, char *ret_error, size_t error_size);

/* A record: origin, the options needed to estimate again (now, window_seconds, resolution_seconds,
 * reference_bytes, cache_bytes), observations and births. */
int mtl_record_to_json(const struct mtl_observation *observations, size_t n,
	const struct mtl_birth *births, size_t n_births, const struct mtl_curve_origin *origin,
	const struct mtl_estimate_options *options, struct json_object **ret_object);
int mtl_record_from_json(struct json_object *object, struct mtl_observation **ret_observations,
	size_t *ret_n, struct mtl_birth **ret_births, size_t *ret_n_births,
	struct mtl_curve_origin *ret_origin, struct mtl_estimate_options *ret_options, char *ret_error,
	size_t error_size);

#endif

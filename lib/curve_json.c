/* SPDX-License-Identifier: MIT */
/*
 * The curve object: {origin members, curve members, "overhead", "agreement", "reuse", "points",
 * "footprint"}, described
 * by tables of fields (docs/PROTOCOL.md has the schema). NAN and INFINITY are null: an unknown
 * ratio and a fill time that never comes. What is read must also be a curve: sizes and windows
 * positive, low <= value <= high.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "agreement.h"
#include "cleanup.h"
#include "curve_fields.h"
#include "mtl.h"
#include "reuse.h"

DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

/* A document with more points than this is not a curve. */
#define POINTS_MAX 100000

#define DOUBLE(holder, member, ...)                                                                \
	{                                                                                          \
		.name = #member, .type = FIELD_DOUBLE, .offset = offsetof(holder, member),         \
		__VA_ARGS__                                                                        \
	}
#define OTHER(holder, kind, member, ...)                                                           \
	{                                                                                          \
		.name = #member, .type = kind, .offset = offsetof(holder, member),                 \
		.size = sizeof(((holder *)0)->member), __VA_ARGS__                                 \
	}
#define ORIGIN struct mtl_curve_origin
#define CURVE struct mtl_curve
#define POINT struct mtl_curve_point
#define WINDOW struct mtl_footprint_point
#define UNKNOWN .nullable = true, .null_means = NAN

static const struct json_field origin_fields[] = {
        OTHER(ORIGIN, FIELD_PID, pid),
        OTHER(ORIGIN, FIELD_STRING, comm),
        OTHER(ORIGIN, FIELD_STRING, method),
        OTHER(ORIGIN, FIELD_STRING, rung),
        OTHER(ORIGIN, FIELD_STRING, clock),
        DOUBLE(ORIGIN, window_seconds),
        DOUBLE(ORIGIN, wall_seconds),
        DOUBLE(ORIGIN, cpu_seconds),
        OTHER(ORIGIN, FIELD_UINT64, lost),
        DOUBLE(ORIGIN, resident_bytes),
        DOUBLE(ORIGIN, accesses_per_second, UNKNOWN),
        DOUBLE(ORIGIN, l1_misses_per_second, UNKNOWN, .optional = true),
        DOUBLE(ORIGIN, l2_misses_per_second, UNKNOWN, .optional = true),
        DOUBLE(ORIGIN, llc_misses_per_second, UNKNOWN, .optional = true),
        DOUBLE(ORIGIN, phase_seconds, UNKNOWN, .optional = true),
        OTHER(ORIGIN, FIELD_UINT64, phase_changes, .nullable = true, .optional = true),
        OTHER(ORIGIN, FIELD_STRING, phase_reason, .nullable = true),
        OTHER(ORIGIN, FIELD_STRING, note, .nullable = true),
};

static const struct json_field overhead_fields[] = {
        {.name = "target", .offset = offsetof(ORIGIN, overhead_target), UNKNOWN},
        {.name = "daemon", .offset = offsetof(ORIGIN, overhead_daemon), UNKNOWN},
};

/* A loss below zero is a gain, by chance. */
#define SIGNED UNKNOWN, .least = -INFINITY

static const struct json_field checked_fields[] = {
        {.name = "loss", .offset = offsetof(ORIGIN, checked_loss), SIGNED},
        {.name = "low", .offset = offsetof(ORIGIN, checked_low), SIGNED},
        {.name = "high", .offset = offsetof(ORIGIN, checked_high), SIGNED},
        {.name = "reason", .type = FIELD_STRING, .offset = offsetof(ORIGIN, checked_reason),
         .size = sizeof(((ORIGIN *)0)->checked_reason), .nullable = true},
};

static const struct json_field curve_fields[] = {
        OTHER(CURVE, FIELD_UINT64, observations),
        DOUBLE(CURVE, effective_observations),
        DOUBLE(CURVE, footprint_bytes),
        DOUBLE(CURVE, footprint_window_seconds),
        DOUBLE(CURVE, resolution_bytes),
        DOUBLE(CURVE, resolution_seconds),
        DOUBLE(CURVE, reference_bytes),
};

#define AGREEMENT struct mtl_agreement

static const struct json_field agreement_fields[] = {
        DOUBLE(AGREEMENT, cache_bytes, UNKNOWN),
        DOUBLE(AGREEMENT, predicted_misses_per_second, UNKNOWN),
        DOUBLE(AGREEMENT, measured_misses_per_second, UNKNOWN),
        DOUBLE(AGREEMENT, ratio, UNKNOWN),
        OTHER(AGREEMENT, FIELD_STRING, reason, .nullable = true),
};

#define REUSE struct mtl_reuse

static const struct json_field reuse_fields[] = {
        OTHER(REUSE, FIELD_UINT64, observations),
        DOUBLE(REUSE, cache_bytes, UNKNOWN),
        DOUBLE(REUSE, misses_per_second, UNKNOWN),
        DOUBLE(REUSE, delay_seconds, UNKNOWN),
        DOUBLE(REUSE, difference, UNKNOWN),
        DOUBLE(REUSE, overlap, UNKNOWN),
        OTHER(REUSE, FIELD_STRING, reason, .nullable = true),
};

static const struct json_field reuse_point_fields[] = {
        DOUBLE(POINT, size_bytes),
        DOUBLE(POINT, misses_per_second),
        DOUBLE(POINT, low),
        DOUBLE(POINT, high),
        OTHER(POINT, FIELD_BOOL, below_resolution),
};

static const struct json_field point_fields[] = {
        DOUBLE(POINT, size_bytes),
        DOUBLE(POINT, fill_time_seconds, .nullable = true, .null_means = INFINITY),
        DOUBLE(POINT, misses_per_second),
        DOUBLE(POINT, low),
        DOUBLE(POINT, high),
        DOUBLE(POINT, miss_ratio, UNKNOWN),
        DOUBLE(POINT, relative_miss_ratio, UNKNOWN),
        OTHER(POINT, FIELD_BOOL, below_resolution),
};

static const struct json_field window_fields[] = {
        DOUBLE(WINDOW, window_seconds),
        DOUBLE(WINDOW, bytes),
        DOUBLE(WINDOW, low),
        DOUBLE(WINDOW, high),
};

#define N(array) (sizeof(array) / sizeof(*(array)))

static int write_checked(struct json_object *overhead, const struct mtl_curve_origin *origin)
{
	struct json_object *checked = json_object_new_object();
	struct mtl_curve_origin told = *origin;
	int r = mtl_json_put(overhead, "checked", checked);

	if (told.checked_pairs == 0)
		told.checked_loss = told.checked_low = told.checked_high = NAN;
	if (r >= 0)
		r = mtl_json_put(checked, "pairs", json_object_new_int64(told.checked_pairs));
	return r < 0 ? r : mtl_json_fields_write(checked, checked_fields, N(checked_fields), &told);
}

/* Not in files of older versions. */
static int read_checked(struct json_object *overhead, struct mtl_curve_origin *origin,
        const struct json_place *place)
{
	struct json_object *checked, *pairs;
	struct json_place inside = *place;
	int r;

	if (!json_object_object_get_ex(overhead, "checked", NULL))
		return 0;
	r = mtl_json_member(overhead, "checked", json_type_object, place, &checked);
	if (r < 0)
		return r;
	inside.path = "overhead.checked";
	r = mtl_json_member(checked, "pairs", json_type_int, &inside, &pairs);
	if (r < 0)
		return r;
	origin->checked_pairs = json_object_get_int(pairs);
	return mtl_json_fields_read(checked, checked_fields, N(checked_fields), origin, &inside);
}

int mtl_json_origin_write(struct json_object *object, const struct mtl_curve_origin *origin)
{
	struct json_object *overhead;
	int r = mtl_json_fields_write(object, origin_fields, N(origin_fields), origin);

	if (r < 0)
		return r;
	overhead = json_object_new_object();
	r = mtl_json_put(object, "overhead", overhead);
	if (r >= 0)
		r = mtl_json_fields_write(overhead, overhead_fields, N(overhead_fields), origin);
	return r < 0 ? r : write_checked(overhead, origin);
}

int mtl_json_origin_read(struct json_object *object, const struct json_place *place,
        struct mtl_curve_origin *ret_origin)
{
	struct mtl_curve_origin origin = {0};
	struct json_place inside = *place;
	struct json_object *overhead;
	int r = mtl_json_fields_read(object, origin_fields, N(origin_fields), &origin, place);

	if (r < 0)
		return r;
	r = mtl_json_member(object, "overhead", json_type_object, place, &overhead);
	if (r < 0)
		return r;
	inside.path = "overhead";
	r = mtl_json_fields_read(overhead, overhead_fields, N(overhead_fields), &origin, &inside);
	if (r >= 0)
		r = read_checked(overhead, &origin, &inside);
	if (r < 0)
		return r;
	*ret_origin = origin;
	return 0;
}

/* An array of structs under a name. */
static int write_array(struct json_object *object, const char *name,
        const struct json_field *fields, size_t n_fields, const void *items, size_t n, size_t size)
{
	struct json_object *array = json_object_new_array();
	int r = mtl_json_put(object, name, array);

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct json_object *item = json_object_new_object();
		r = mtl_json_append(array, item);
		if (r == 0)
			r = mtl_json_fields_write(
			        item, fields, n_fields, (const char *)items + i * size);
	}
	return r;
}

static int read_array(struct json_object *object, const char *name, const struct json_field *fields,
        size_t n_fields, size_t size, const struct json_place *place, void **ret_items,
        size_t *ret_n)
{
	_cleanup_free_ char *items = NULL;
	struct json_object *array;
	char path[JSON_PATH_SIZE];
	int r = mtl_json_member(object, name, json_type_array, place, &array);

	if (r < 0)
		return r;
	size_t n = json_object_array_length(array);
	if (n > POINTS_MAX)
		return mtl_json_refuse(place, name, "too many points");
	items = calloc(n + 1, size);
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_place inside = *place;
		snprintf(path, sizeof(path), "%s[%zu]", name, i);
		inside.path = path;
		r = mtl_json_fields_read(json_object_array_get_idx(array, i), fields, n_fields,
		        items + i * size, &inside);
		if (r < 0)
			return r;
	}
	*ret_items = TAKE_PTR(items);
	*ret_n = n;
	return 0;
}

static int write_agreement(struct json_object *object, const struct mtl_curve *curve,
        const struct mtl_curve_origin *origin)
{
	struct json_object *inside = json_object_new_object();
	struct mtl_agreement agreement;
	int r = mtl_json_put(object, "agreement", inside);

	mtl_agreement(curve, origin, &agreement);
	return r < 0 ? r
	             : mtl_json_fields_write(
	                       inside, agreement_fields, N(agreement_fields), &agreement);
}

/* Curves saved by an older version have none. */
static int read_agreement(
        struct json_object *object, const struct json_place *place, struct mtl_curve *curve)
{
	struct json_place inside = *place;
	struct mtl_agreement agreement = {.predicted_misses_per_second = NAN};
	struct json_object *member;
	int r = 0;

	inside.path = "agreement";
	if (json_object_object_get_ex(object, "agreement", &member))
		r = mtl_json_fields_read(
		        member, agreement_fields, N(agreement_fields), &agreement, &inside);
	if (r < 0)
		return r;
	curve->cache_bytes = agreement.cache_bytes > 0 ? agreement.cache_bytes : 0;
	curve->cache_misses_per_second = agreement.predicted_misses_per_second;
	return 0;
}

static int write_reuse(struct json_object *object, const struct mtl_reuse *reuse)
{
	struct json_object *inside = reuse ? json_object_new_object() : NULL;
	int r;

	if (!reuse)
		return json_object_object_add(object, "reuse", NULL) < 0 ? -ENOMEM : 0;
	r = mtl_json_put(object, "reuse", inside);
	if (r == 0)
		r = mtl_json_fields_write(inside, reuse_fields, N(reuse_fields), reuse);
	return r < 0 ? r
	             : write_array(inside, "points", reuse_point_fields, N(reuse_point_fields),
	                       reuse->points, reuse->n_points, sizeof(*reuse->points));
}

/* Curves saved by an older version have none. */
static int read_reuse(
        struct json_object *object, const struct json_place *place, struct mtl_curve *curve)
{
	struct json_place inside = *place;
	struct json_object *member;
	void *points;
	int r;

	if (!json_object_object_get_ex(object, "reuse", &member) || !member)
		return 0;
	inside.path = "reuse";
	curve->reuse = calloc(1, sizeof(*curve->reuse));
	if (!curve->reuse)
		return -ENOMEM;
	r = mtl_json_fields_read(member, reuse_fields, N(reuse_fields), curve->reuse, &inside);
	if (r == 0)
		r = read_array(member, "points", reuse_point_fields, N(reuse_point_fields),
		        sizeof(*curve->reuse->points), &inside, &points, &curve->reuse->n_points);
	if (r < 0)
		return r;
	curve->reuse->points = points;
	return 0;
}

int mtl_curve_to_json(const struct mtl_curve *curve, const struct mtl_curve_origin *origin,
        struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	int r = object ? mtl_json_origin_write(object, origin) : -ENOMEM;

	if (r == 0)
		r = mtl_json_fields_write(object, curve_fields, N(curve_fields), curve);
	if (r == 0)
		r = write_agreement(object, curve, origin);
	if (r == 0)
		r = write_reuse(object, curve->reuse);
	if (r == 0)
		r = write_array(object, "points", point_fields, N(point_fields), curve->points,
		        curve->n_points, sizeof(*curve->points));
	if (r == 0)
		r = write_array(object, "footprint", window_fields, N(window_fields),
		        curve->footprint, curve->n_footprint, sizeof(*curve->footprint));
	if (r < 0)
		return r;
	*ret_object = TAKE_PTR(object);
	return 0;
}

static int refuse_item(
        const struct json_place *place, const char *array, size_t i, const char *reason)
{
	char name[JSON_PATH_SIZE];

	snprintf(name, sizeof(name), "%s[%zu]", array, i);
	return mtl_json_refuse(place, name, reason);
}

static int check_points(const struct mtl_curve_point *points, size_t n, const char *array,
        const struct json_place *place)
{
	for (size_t i = 0; i < n; i++) {
		if (points[i].size_bytes <= 0)
			return refuse_item(place, array, i, "size_bytes must be positive");
		if (points[i].low > points[i].misses_per_second ||
		        points[i].misses_per_second > points[i].high)
			return refuse_item(place, array, i, "not low <= misses_per_second <= high");
	}
	return 0;
}

/* What the types alone do not say. */
static int check_curve(const struct mtl_curve *curve, const struct json_place *place)
{
	int r = check_points(curve->points, curve->n_points, "points", place);

	if (r == 0 && curve->reuse)
		r = check_points(
		        curve->reuse->points, curve->reuse->n_points, "reuse.points", place);
	if (r < 0)
		return r;
	for (size_t i = 0; i < curve->n_footprint; i++) {
		const struct mtl_footprint_point *p = &curve->footprint[i];
		if (p->window_seconds <= 0)
			return refuse_item(
			        place, "footprint", i, "window_seconds must be positive");
		if (p->low > p->bytes || p->bytes > p->high)
			return refuse_item(place, "footprint", i, "not low <= bytes <= high");
	}
	return 0;
}

static int read_curve(
        struct json_object *object, const struct json_place *place, struct mtl_curve *curve)
{
	void *points, *windows;
	int r = mtl_json_fields_read(object, curve_fields, N(curve_fields), curve, place);

	if (r == 0)
		r = read_agreement(object, place, curve);
	if (r == 0)
		r = read_reuse(object, place, curve);
	if (r < 0)
		return r;
	r = read_array(object, "points", point_fields, N(point_fields), sizeof(*curve->points),
	        place, &points, &curve->n_points);
	if (r < 0)
		return r;
	curve->points = points;
	r = read_array(object, "footprint", window_fields, N(window_fields),
	        sizeof(*curve->footprint), place, &windows, &curve->n_footprint);
	if (r < 0)
		return r;
	curve->footprint = windows;
	return check_curve(curve, place);
}

int mtl_curve_from_json(struct json_object *object, struct mtl_curve **ret_curve,
        struct mtl_curve_origin *ret_origin, char *ret_error, size_t error_size)
{
	const struct json_place place = {ret_error, error_size, ""};
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = calloc(1, sizeof(*curve));
	struct mtl_curve_origin origin;
	int r = curve ? mtl_json_origin_read(object, &place, &origin) : -ENOMEM;

	if (r == 0)
		r = read_curve(object, &place, curve);
	if (r < 0)
		return r;
	*ret_curve = TAKE_PTR(curve);
	*ret_origin = origin;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Demands from the two kinds of curve there are as JSON.
 *
 * A live curve is per second of CPU time. The process had cpu_seconds / wall_seconds of them in a
 * second of wall-clock time: by this its misses are multiplied and its times divided. Below the
 * smallest size misses stay level, which is a guess and marked as one.
 *
 * A trace's curve is per access; all accesses are one run, the unit of time. Without a cache every
 * access misses, so below the smallest size misses rise to that. At the footprint, which the object
 * knows, first accesses are left. The curve has no fill time there; with misses linear between the
 * last point before, (c, T, a), and the footprint, (m, -, b), in lines, lines come at that rate,
 *
 *     T + integral of dx / misses(x), c ... m  =  T + (m - c) ln(a / b) / (a - b).
 *
 * What could not be such a curve is refused: sizes, or times until null, that do not rise; misses
 * that do (by more than rounding); numbers that no machine has, so that sums and products of what
 * is accepted are finite.
 */

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "json_fields.h"
#include "mtl.h"

DEFINE_CLEANUP(struct mtl_demand, mtl_demand_free)
DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free)

#define POINTS_MAX 100000
#define LEAST 1e-30
#define MOST 1e30
#define ROUNDING 1e-9

struct trace {
	uint64_t accesses, distinct, line_bytes;
};

struct trace_point {
	double size_bytes, fill_time_accesses, miss_ratio;
};

#define FIELD(holder, kind, member, ...)                                                           \
	{                                                                                          \
		.name = #member, .type = kind, .offset = offsetof(holder, member), __VA_ARGS__     \
	}
#define N(array) (sizeof(array) / sizeof(*(array)))

static const struct json_field trace_fields[] = {
        FIELD(struct trace, FIELD_UINT64, accesses),
        FIELD(struct trace, FIELD_UINT64, distinct),
        FIELD(struct trace, FIELD_UINT64, line_bytes),
};

static const struct json_field point_fields[] = {
        FIELD(struct trace_point, FIELD_DOUBLE, size_bytes),
        FIELD(struct trace_point, FIELD_DOUBLE, fill_time_accesses, .nullable = true,
                .null_means = INFINITY),
        FIELD(struct trace_point, FIELD_DOUBLE, miss_ratio),
};

static int refuse_point(const struct json_place *place, size_t i, const char *reason)
{
	char name[JSON_PATH_SIZE];

	snprintf(name, sizeof(name), "points[%zu]", i);
	return mtl_json_refuse(place, name, reason);
}

static bool is_sane(double value)
{
	return value == 0 || (value >= LEAST && value <= MOST);
}

/* With room for n points, one before them and one among them. */
static int demand_new(const char *name, const char *unit, size_t n, struct mtl_demand **ret_demand)
{
	struct mtl_demand *demand = calloc(1, sizeof(*demand) + (n + 2) * sizeof(*demand->points));

	if (!demand)
		return -ENOMEM;
	snprintf(demand->name, sizeof(demand->name), "%s", name);
	snprintf(demand->unit, sizeof(demand->unit), "%s", unit);
	demand->n = n + 1;
	*ret_demand = demand;
	return 0;
}

/* Why a point cannot follow the one before it, or NULL. */
static const char *misfit(const struct mtl_demand_point *before, const struct mtl_demand_point *p)
{
	if (!is_sane(p->size_bytes) || !is_sane(p->misses) || !is_sane(p->high) ||
	        !(is_sane(p->fill_time) || isinf(p->fill_time)))
		return "a number is out of range";
	if (!(p->size_bytes > before->size_bytes))
		return "sizes must rise";
	if (isfinite(p->fill_time) ? !(p->fill_time > before->fill_time)
	                           : !(p->fill_time >= before->fill_time))
		return "fill times must rise";
	if (p->misses > before->misses * (1 + ROUNDING))
		return "misses must not rise with size";
	return NULL;
}

/* Points 1 ... n - 1 are a curve; made to fall without rounding. */
static int check_points(struct mtl_demand *demand, const struct json_place *place)
{
	for (size_t i = 1; i < demand->n; i++) {
		struct mtl_demand_point *p = &demand->points[i];
		const struct mtl_demand_point *before = p - 1;
		const char *reason = misfit(before, p);

		if (reason)
			return refuse_point(place, i - 1, reason);
		p->misses = fmin(p->misses, before->misses);
		p->low = fmin(fmin(p->low, before->low), p->misses);
		p->high = fmax(fmin(p->high, before->high), p->misses);
	}
	return 0;
}

static size_t filled_points(const struct mtl_demand *demand)
{
	size_t n = 0;

	while (n < demand->n && isfinite(demand->points[n].fill_time))
		n++;
	return n;
}

/* A point between others (or beyond the last) that changes no misses. */
static void insert_point(struct mtl_demand *demand, size_t i, double size)
{
	struct mtl_demand_point p = {.size_bytes = size};

	p.misses = mtl_demand_misses(demand, size, &p.low, &p.high);
	memmove(&demand->points[i + 1], &demand->points[i],
	        (demand->n - i) * sizeof(*demand->points));
	demand->points[i] = p;
	demand->n++;
}

/*
 * The point of the whole footprint, which is not above the first size that is never filled; none
 * where the points reach as far already. NULL: none.
 */
static struct mtl_demand_point *whole_point(struct mtl_demand *demand, double whole)
{
	size_t i = filled_points(demand);

	if (i < demand->n)
		whole = fmin(whole, demand->points[i].size_bytes);
	if (!(whole > demand->points[i - 1].size_bytes))
		return NULL;
	if (i == demand->n || whole < demand->points[i].size_bytes)
		insert_point(demand, i, whole);
	return &demand->points[i];
}

/* What the last filled point says, and what is known otherwise about how long was looked. */
static int finish(struct mtl_demand *demand, double longest, const struct json_place *place)
{
	const struct mtl_demand_point *last = &demand->points[filled_points(demand) - 1];

	if (!(last->size_bytes > 0))
		return mtl_json_refuse(place, "points", "nothing is ever filled");
	demand->footprint_bytes = last->size_bytes;
	demand->longest_time = fmax(longest, last->fill_time);
	return 0;
}

/* --- live */

static void scale_points(const struct mtl_curve *curve, double share, struct mtl_demand *demand)
{
	for (size_t i = 0; i < curve->n_points; i++) {
		const struct mtl_curve_point *from = &curve->points[i];

		demand->points[i + 1] = (struct mtl_demand_point){
		        .size_bytes = from->size_bytes,
		        .fill_time = from->fill_time_seconds / share,
		        .misses = from->misses_per_second * share,
		        .low = from->low * share,
		        .high = from->high * share,
		};
	}
	demand->points[0] = demand->points[1];
	demand->points[0].size_bytes = demand->points[0].fill_time = 0;
}

/* Its times are the curve's divided by the share of wall-clock time it ran in. */
static int complete_live(const struct mtl_curve *curve, double share,
        const struct json_place *place, struct mtl_demand *demand)
{
	double longest = curve->footprint_window_seconds / share;
	const struct mtl_demand_point *last;
	struct mtl_demand_point *whole;
	int r = check_points(demand, place);

	if (r < 0)
		return r;
	if (!is_sane(longest) || !is_sane(curve->footprint_bytes) ||
	        !is_sane(curve->resolution_bytes))
		return mtl_json_refuse(place, "", "the footprint is out of range");
	last = &demand->points[filled_points(demand) - 1];
	if (longest > last->fill_time) {
		whole = whole_point(demand, curve->footprint_bytes);
		if (whole)
			whole->fill_time = longest;
	}
	demand->smallest_known_bytes = fmax(curve->resolution_bytes, curve->points[0].size_bytes);
	return finish(demand, longest, place);
}

static int from_live(struct json_object *object, const char *name, double miss_cost,
        const struct json_place *place, struct mtl_demand **ret_demand)
{
	_cleanup_(mtl_demand_freep) struct mtl_demand *demand = NULL;
	_cleanup_(mtl_curve_freep) struct mtl_curve *curve = NULL;
	struct mtl_curve_origin origin;
	double share;
	int r = mtl_curve_from_json(object, &curve, &origin, place->error, place->error_size);

	if (r < 0)
		return r;
	share = origin.cpu_seconds / origin.wall_seconds;
	if (!(share > 0 && is_sane(share)))
		return mtl_json_refuse(place, "cpu_seconds", "it must have run for some time");
	if (curve->n_points == 0)
		return mtl_json_refuse(place, "points", "expected some");
	r = demand_new(name, "second", curve->n_points, &demand);
	if (r < 0)
		return r;
	scale_points(curve, share, demand);
	demand->work = share / miss_cost;
	r = complete_live(curve, share, place, demand);
	if (r < 0)
		return r;
	*ret_demand = TAKE_PTR(demand);
	return 0;
}

/* --- traces */

static int read_points(struct json_object *array, const struct trace *trace,
        const struct json_place *place, struct mtl_demand *demand)
{
	double accesses = (double)trace->accesses;

	demand->points[0] = (struct mtl_demand_point){0, 0, accesses, accesses, accesses};
	for (size_t i = 0; i + 1 < demand->n; i++) {
		struct trace_point p;
		char path[JSON_PATH_SIZE];
		struct json_place inside = *place;
		int r;

		snprintf(path, sizeof(path), "points[%zu]", i);
		inside.path = path;
		r = mtl_json_fields_read(json_object_array_get_idx(array, i), point_fields,
		        N(point_fields), &p, &inside);
		if (r < 0)
			return r;
		double misses = p.miss_ratio * accesses;
		demand->points[i + 1] = (struct mtl_demand_point){
		        p.size_bytes, p.fill_time_accesses / accesses, misses, misses, misses};
	}
	return check_points(demand, place);
}

/* The whole footprint: first accesses are left, and it takes as long as misses bring it in. */
static void complete_trace(const struct trace *trace, struct mtl_demand *demand)
{
	double cold = (double)trace->distinct, line = (double)trace->line_bytes;
	struct mtl_demand_point *p = whole_point(demand, cold * line);
	double a, b;

	if (!p)
		return;
	a = p[-1].misses;
	if (isinf(p->fill_time)) /* of the curve itself */
		b = p->misses;
	else
		b = fmin(fmax(cold, p + 1 < demand->points + demand->n ? p[1].misses : 0), a);
	p->misses = p->low = p->high = b;
	p->fill_time =
	        p[-1].fill_time + (p->size_bytes - p[-1].size_bytes) / line *
	                                  (a - b > ROUNDING * a ? log(a / b) / (a - b) : 1 / a);
	/* no misses, no rate */
	if (!(p->fill_time > p[-1].fill_time && p->fill_time <= MOST))
		p->fill_time = 2 * p[-1].fill_time + 1;
}

/* Only estimates from samples have one. */
static int read_resolution(
        struct json_object *object, const struct json_place *place, double *ret_bytes)
{
	struct json_object *member;

	if (!json_object_object_get_ex(object, "resolution_bytes", &member))
		return 0;
	if (mtl_json_read_double(member, 0, ret_bytes) < 0 || !is_sane(*ret_bytes))
		return mtl_json_refuse(
		        place, "resolution_bytes", "expected a number, not negative");
	return 0;
}

static int read_trace(
        struct json_object *object, const struct json_place *place, struct trace *ret_trace)
{
	int r = mtl_json_fields_read(object, trace_fields, N(trace_fields), ret_trace, place);

	if (r < 0)
		return r;
	if (!ret_trace->accesses || !ret_trace->distinct || !ret_trace->line_bytes)
		return mtl_json_refuse(
		        place, "", "accesses, distinct and line_bytes must be positive");
	return 0;
}

static int from_trace(struct json_object *object, const char *name, double miss_cost,
        const struct json_place *place, struct mtl_demand **ret_demand)
{
	_cleanup_(mtl_demand_freep) struct mtl_demand *demand = NULL;
	struct json_object *points;
	double resolution = 0;
	struct trace trace;
	int r = read_trace(object, place, &trace);

	r = r ?: read_resolution(object, place, &resolution);
	r = r ?: mtl_json_member(object, "points", json_type_array, place, &points);
	if (r < 0)
		return r;
	size_t n = json_object_array_length(points);
	if (n == 0 || n > POINTS_MAX)
		return mtl_json_refuse(place, "points", n ? "too many points" : "expected some");
	r = demand_new(name, "run", n, &demand);
	r = r ?: read_points(points, &trace, place, demand);
	if (r < 0)
		return r;
	demand->smallest_known_bytes = fmax(resolution, demand->points[1].size_bytes);
	demand->work = (double)trace.accesses / miss_cost;
	complete_trace(&trace, demand);
	r = finish(demand, 1, place);
	if (r < 0)
		return r;
	*ret_demand = TAKE_PTR(demand);
	return 0;
}

static const struct {
	const char *member; /* that only this kind has */
	int (*read)(struct json_object *object, const char *name, double miss_cost,
	        const struct json_place *place, struct mtl_demand **ret_demand);
} kinds[] = {
        {"cpu_seconds", from_live},
        {"accesses", from_trace},
};

int mtl_demand_from_json(struct json_object *curve, const char *name, double miss_cost,
        struct mtl_demand **ret_demand, char *ret_error, size_t error_size)
{
	const struct json_place place = {ret_error, error_size, ""};

	if (!(miss_cost >= LEAST && miss_cost <= MOST))
		return -EINVAL;
	for (size_t i = 0; i < N(kinds) && json_object_is_type(curve, json_type_object); i++)
		if (json_object_object_get_ex(curve, kinds[i].member, NULL))
			return kinds[i].read(curve, name, miss_cost, &place, ret_demand);
	return mtl_json_refuse(&place, "", "neither a curve of mtld nor one of mtl trace");
}

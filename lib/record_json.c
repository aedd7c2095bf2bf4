/* SPDX-License-Identifier: MIT */
/*
 * The record: observations, births and what is needed to estimate from them again, anywhere.
 *
 *     { "format": "mtl-observations-1", origin members, option members,
 *       "observations": [[moment, deadline, weight, wall, slots, whole_line, sequence, t0, t1
 * ...]], "births": [[moment, lines]] }
 *
 * An observation has as many times as slots; null is a word that stayed untouched. window_seconds
 * is both the origin's and the option.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cleanup.h"
#include "curve_fields.h"
#include "mtl.h"

#define FORMAT "mtl-observations-1"
#define OBSERVATIONS_MAX 1000000
/* Largest integer that a double, and so any JSON reader, holds exactly. */
#define INTEGER_MAX 9007199254740992.0

#define OPTION(member)                                                                             \
	{                                                                                          \
		.name = #member, .type = FIELD_DOUBLE,                                             \
		.offset = offsetof(struct mtl_estimate_options, member)                            \
	}

static const struct json_field option_fields[] = {
        OPTION(now),
        OPTION(window_seconds),
        OPTION(resolution_seconds),
        OPTION(reference_bytes),
        OPTION(cache_bytes),
};

#define N(array) (sizeof(array) / sizeof(*(array)))

/* The members of an observation before its times. */
struct column {
	const char *name;
	double least, most;
	bool integer;
};

static const struct column columns[] = {
        {"moment", -INFINITY, INFINITY, false},
        {"deadline", 0, INFINITY, false},
        {"weight", 0, INFINITY, false},
        {"wall", -INFINITY, INFINITY, false},
        {"slots", 1, MTL_SLOTS_MAX, true},
        {"whole_line", 0, 1, true},
        {"sequence", 0, INTEGER_MAX, true},
};

/* The shortest text that reads back as this float; null: untouched. */
static int append_time(struct json_object *row, float time)
{
	char text[32];

	if (!isfinite(time))
		return json_object_array_add(row, NULL) < 0 ? -ENOMEM : 0;
	snprintf(text, sizeof(text), "%.9g", time);
	return mtl_json_append(row, json_object_new_double_s(time, text));
}

static int write_row(struct json_object *rows, const double *values, size_t n, const float *times,
        size_t n_times)
{
	struct json_object *row = json_object_new_array_ext(n + n_times);
	int r = mtl_json_append(rows, row);

	for (size_t i = 0; r == 0 && i < n; i++)
		r = isfinite(values[i]) ? mtl_json_append(row, mtl_json_number_new(values[i]))
		                        : -EINVAL;
	for (size_t i = 0; r == 0 && i < n_times; i++)
		r = append_time(row, times[i]);
	return r;
}

static int write_observation(struct json_object *rows, const struct mtl_observation *o)
{
	const double values[N(columns)] = {
	        o->moment, o->deadline, o->weight, o->wall, o->slots, o->whole_line, o->sequence};

	return write_row(rows, values, N(values), o->touched,
	        o->slots < MTL_SLOTS_MAX ? o->slots : MTL_SLOTS_MAX);
}

static int write_rows(struct json_object *object, const struct mtl_observation *observations,
        size_t n, const struct mtl_birth *births, size_t n_births)
{
	struct json_object *rows = json_object_new_array_ext(n ? n : 1);
	int r = mtl_json_put(object, "observations", rows);

	for (size_t i = 0; r == 0 && i < n; i++)
		r = write_observation(rows, &observations[i]);
	if (r < 0)
		return r;
	rows = json_object_new_array_ext(n_births ? n_births : 1);
	r = mtl_json_put(object, "births", rows);
	for (size_t i = 0; r == 0 && i < n_births; i++)
		r = write_row(rows, (double[]){births[i].moment, births[i].lines}, 2, NULL, 0);
	return r;
}

int mtl_record_to_json(const struct mtl_observation *observations, size_t n,
        const struct mtl_birth *births, size_t n_births, const struct mtl_curve_origin *origin,
        const struct mtl_estimate_options *options, struct json_object **ret_object)
{
	_cleanup_json_ struct json_object *object = json_object_new_object();
	int r = object ? mtl_json_put(object, "format", json_object_new_string(FORMAT)) : -ENOMEM;

	if (r == 0)
		r = mtl_json_origin_write(object, origin);
	if (r == 0)
		r = mtl_json_fields_write(object, option_fields, N(option_fields), options);
	if (r == 0)
		r = write_rows(object, observations, n, births, n_births);
	if (r < 0)
		return r;
	*ret_object = TAKE_PTR(object);
	return 0;
}

static int refuse_cell(const struct json_place *place, const char *array, size_t row,
        const char *cell, const char *reason)
{
	char name[JSON_PATH_SIZE];

	snprintf(name, sizeof(name), "%s[%zu]%s%s", array, row, *cell ? "." : "", cell);
	return mtl_json_refuse(place, name, reason);
}

static int read_column(struct json_object *row, size_t i, double *ret_value)
{
	const struct column *column = &columns[i];
	double value;

	if (mtl_json_read_double(json_object_array_get_idx(row, i), column->least, &value) < 0 ||
	        value > column->most || (column->integer && value != floor(value)))
		return -EBADMSG;
	*ret_value = value;
	return 0;
}

/* A time, or null for a word that stayed untouched. */
static int read_touched(struct json_object *value, float *ret_touched)
{
	double touched = INFINITY;

	if (value && mtl_json_read_double(value, -INFINITY, &touched) < 0)
		return -EBADMSG;
	*ret_touched = touched;
	return 0;
}

static int read_observation(struct json_object *row, size_t index, const struct json_place *place,
        struct mtl_observation *ret_observation)
{
	double c[N(columns)];

	if (!json_object_is_type(row, json_type_array))
		return refuse_cell(place, "observations", index, "", "expected an array");
	for (size_t i = 0; i < N(columns); i++)
		if (read_column(row, i, &c[i]) < 0)
			return refuse_cell(place, "observations", index, columns[i].name,
			        "missing, not a number or out of range");
	*ret_observation = (struct mtl_observation){.moment = c[0],
	        .deadline = c[1],
	        .weight = c[2],
	        .wall = c[3],
	        .slots = c[4],
	        .whole_line = c[5],
	        .sequence = c[6]};
	if (json_object_array_length(row) != N(columns) + ret_observation->slots)
		return refuse_cell(place, "observations", index, "", "not as many times as slots");
	for (unsigned k = 0; k < ret_observation->slots; k++)
		if (read_touched(json_object_array_get_idx(row, N(columns) + k),
		            &ret_observation->touched[k]) < 0)
			return refuse_cell(place, "observations", index, "touched",
			        "expected numbers or null");
	return 0;
}

static int read_birth(struct json_object *row, size_t index, const struct json_place *place,
        struct mtl_birth *ret_birth)
{
	if (!json_object_is_type(row, json_type_array) || json_object_array_length(row) != 2)
		return refuse_cell(place, "births", index, "", "expected [moment, lines]");
	if (mtl_json_read_double(json_object_array_get_idx(row, 0), -INFINITY, &ret_birth->moment) <
	                0 ||
	        mtl_json_read_double(json_object_array_get_idx(row, 1), 0, &ret_birth->lines) < 0)
		return refuse_cell(place, "births", index, "", "expected two numbers");
	return 0;
}

static int rows_of(struct json_object *object, const char *name, const struct json_place *place,
        size_t size, void **ret_items, struct json_object **ret_rows)
{
	int r = mtl_json_member(object, name, json_type_array, place, ret_rows);

	if (r < 0)
		return r;
	if (json_object_array_length(*ret_rows) > OBSERVATIONS_MAX)
		return mtl_json_refuse(place, name, "too many");
	*ret_items = calloc(json_object_array_length(*ret_rows) + 1, size);
	return *ret_items ? 0 : -ENOMEM;
}

static int read_rows(struct json_object *object, const struct json_place *place,
        struct mtl_observation **ret_observations, size_t *ret_n, struct mtl_birth **ret_births,
        size_t *ret_n_births)
{
	_cleanup_free_ void *observations = NULL, *births = NULL;
	struct json_object *observation_rows, *birth_rows;
	int r = rows_of(object, "observations", place, sizeof(struct mtl_observation),
	        &observations, &observation_rows);
	if (r < 0)
		return r;
	r = rows_of(object, "births", place, sizeof(struct mtl_birth), &births, &birth_rows);
	if (r < 0)
		return r;
	size_t n = json_object_array_length(observation_rows);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = read_observation(json_object_array_get_idx(observation_rows, i), i, place,
		        (struct mtl_observation *)observations + i);
	size_t n_births = json_object_array_length(birth_rows);
	for (size_t i = 0; r == 0 && i < n_births; i++)
		r = read_birth(json_object_array_get_idx(birth_rows, i), i, place,
		        (struct mtl_birth *)births + i);
	if (r < 0)
		return r;
	*ret_observations = TAKE_PTR(observations);
	*ret_n = n;
	*ret_births = TAKE_PTR(births);
	*ret_n_births = n_births;
	return 0;
}

static int read_format(struct json_object *object, const struct json_place *place)
{
	struct json_object *format;

	if (!json_object_is_type(object, json_type_object))
		return mtl_json_refuse(place, "", "expected an object");
	if (!json_object_object_get_ex(object, "format", &format) ||
	        !json_object_is_type(format, json_type_string) ||
	        strcmp(json_object_get_string(format), FORMAT) != 0)
		return mtl_json_refuse(place, "format", "expected \"" FORMAT "\"");
	return 0;
}

int mtl_record_from_json(struct json_object *object, struct mtl_observation **ret_observations,
        size_t *ret_n, struct mtl_birth **ret_births, size_t *ret_n_births,
        struct mtl_curve_origin *ret_origin, struct mtl_estimate_options *ret_options,
        char *ret_error, size_t error_size)
{
	const struct json_place place = {ret_error, error_size, ""};
	struct mtl_estimate_options options = {0};
	struct mtl_curve_origin origin;
	int r = read_format(object, &place);

	if (r == 0)
		r = mtl_json_origin_read(object, &place, &origin);
	if (r == 0)
		r = mtl_json_fields_read(object, option_fields, N(option_fields), &options, &place);
	if (r == 0)
		r = read_rows(object, &place, ret_observations, ret_n, ret_births, ret_n_births);
	if (r < 0)
		return r;
	options.accesses_per_second = origin.accesses_per_second;
	*ret_options = options;
	*ret_origin = origin;
	return 0;
}

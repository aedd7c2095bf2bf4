/* SPDX-License-Identifier: MIT */
/*
 * Fields: a struct and a JSON object with the same members, described by one table.
 *
 * The table drives writing and reading, so that the two cannot diverge. What is read is checked
 * for presence, type and range; the first misfit is reported with its place. Members the table does
 * not name are ignored: a later version may have more to say.
 */

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include "cleanup.h"
#include "json_fields.h"
#include "words.h"

int mtl_json_refuse(const struct json_place *place, const char *name, const char *reason)
{
	const char *dot = *place->path && *name ? "." : "";
	const char *colon = *place->path || *name ? ": " : "";

	if (place->error_size > 0)
		snprintf(place->error, place->error_size, "%s%s%s%s%s", place->path, dot, name,
		        colon, reason);
	return -EBADMSG;
}

struct json_object *mtl_json_number_new(double value)
{
	char text[NUMBER_TEXT];

	return json_object_new_double_s(value + 0.0, mtl_number_text(value, text));
}

int mtl_json_put(struct json_object *object, const char *name, struct json_object *value)
{
	if (!value)
		return -ENOMEM;
	if (json_object_object_add(object, name, value) < 0) {
		json_object_put(value);
		return -ENOMEM;
	}
	return 0;
}

int mtl_json_put_number(struct json_object *object, const char *name, double number)
{
	if (isfinite(number))
		return mtl_json_put(object, name, mtl_json_number_new(number));
	return json_object_object_add(object, name, NULL) < 0 ? -ENOMEM : 0;
}

int mtl_json_put_numbers(struct json_object *object, const struct json_number *numbers, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = mtl_json_put_number(object, numbers[i].name, numbers[i].value);
	return r;
}

int mtl_json_append(struct json_object *array, struct json_object *value)
{
	if (!value)
		return -ENOMEM;
	if (json_object_array_add(array, value) < 0) {
		json_object_put(value);
		return -ENOMEM;
	}
	return 0;
}

struct json_object *mtl_json_text_new(const char *text)
{
	_cleanup_free_ char *clean = strdup(text);

	for (size_t left = clean ? strlen(clean) : 0, at = 0, n; left > 0; left -= n, at += n) {
		n = mtl_utf8_length(clean + at, left);
		if (n > 0)
			continue;
		clean[at] = '?';
		n = 1;
	}
	return clean ? json_object_new_string(clean) : NULL;
}

/* A field may be full to its end. */
static struct json_object *string_new(const char *from, size_t size)
{
	_cleanup_free_ char *text = strndup(from, size);

	return text ? mtl_json_text_new(text) : NULL;
}

static struct json_object *value_new(const struct json_field *field, const void *from)
{
	switch (field->type) {
	case FIELD_DOUBLE:
		return mtl_json_number_new(*(const double *)from);
	case FIELD_UINT64:
		return json_object_new_uint64(*(const uint64_t *)from);
	case FIELD_PID:
		return json_object_new_int64(*(const pid_t *)from);
	case FIELD_BOOL:
		return json_object_new_boolean(*(const bool *)from);
	case FIELD_STRING:
		return string_new(from, field->size);
	}
	return NULL;
}

static bool is_null(const struct json_field *field, const void *from)
{
	return field->type == FIELD_DOUBLE && !isfinite(*(const double *)from);
}

static bool is_left_out(const struct json_field *field, const void *from)
{
	return field->type == FIELD_STRING && field->nullable && *(const char *)from == '\0';
}

int mtl_json_fields_write(
        struct json_object *object, const struct json_field *fields, size_t n, const void *from)
{
	for (size_t i = 0; i < n; i++) {
		const void *value = (const char *)from + fields[i].offset;
		int r = 0;
		if (is_null(&fields[i], value) && !fields[i].nullable)
			return -EINVAL;
		if (is_null(&fields[i], value))
			r = json_object_object_add(object, fields[i].name, NULL) < 0 ? -ENOMEM : 0;
		else if (!is_left_out(&fields[i], value))
			r = mtl_json_put(object, fields[i].name, value_new(&fields[i], value));
		if (r < 0)
			return r;
	}
	return 0;
}

int mtl_json_read_double(struct json_object *value, double least, double *ret_value)
{
	enum json_type type = json_object_get_type(value);

	if (type != json_type_double && type != json_type_int)
		return -EBADMSG;
	double number = json_object_get_double(value);
	if (!isfinite(number) || number < least)
		return -EBADMSG;
	*ret_value = number;
	return 0;
}

static bool read_string(struct json_object *value, char *to, size_t size)
{
	size_t n = json_object_is_type(value, json_type_string)
	                   ? (size_t)json_object_get_string_len(value)
	                   : size;

	if (n >= size || strlen(json_object_get_string(value)) != n)
		return false;
	memset(to, 0, size);
	memcpy(to, json_object_get_string(value), n);
	return true;
}

/* json-c clamps what does not fit; an integer is taken only when it prints as it was written. */
static bool read_integer(struct json_object *value, int64_t most, int64_t *ret_integer)
{
	double number;

	if (mtl_json_read_double(value, 0, &number) < 0 || number != floor(number) || number > most)
		return false;
	*ret_integer = json_object_is_type(value, json_type_int) ? json_object_get_int64(value)
	                                                         : (int64_t)number;
	return true;
}

static const char *read_value(struct json_object *value, const struct json_field *field, void *to)
{
	int64_t integer;

	switch (field->type) {
	case FIELD_DOUBLE:
		if (mtl_json_read_double(value, field->least, to) < 0)
			return field->least == 0 ? "expected a number, not negative"
			                         : "expected a number";
		return NULL;
	case FIELD_UINT64:
		if (!read_integer(value, INT64_MAX / 2, &integer))
			return "expected an integer, not negative";
		*(uint64_t *)to = integer;
		return NULL;
	case FIELD_PID:
		if (!read_integer(value, INT32_MAX, &integer))
			return "expected a process id";
		*(pid_t *)to = integer;
		return NULL;
	case FIELD_BOOL:
		if (!json_object_is_type(value, json_type_boolean))
			return "expected true or false";
		*(bool *)to = json_object_get_boolean(value);
		return NULL;
	case FIELD_STRING:
		return read_string(value, to, field->size) ? NULL : "expected a (shorter) string";
	}
	return "unknown type";
}

/* What null stands for. */
static void read_null(const struct json_field *field, void *to)
{
	if (field->type == FIELD_DOUBLE)
		*(double *)to = field->null_means;
	else
		memset(to, 0, field->size);
}

int mtl_json_fields_read(struct json_object *object, const struct json_field *fields, size_t n,
        void *to, const struct json_place *place)
{
	if (!json_object_is_type(object, json_type_object))
		return mtl_json_refuse(place, "", "expected an object");
	for (size_t i = 0; i < n; i++) {
		const struct json_field *field = &fields[i];
		void *value = (char *)to + field->offset;
		struct json_object *member = NULL;
		const char *reason = NULL;
		bool there = json_object_object_get_ex(object, field->name, &member);

		if (!there && !field->optional && !(field->nullable && field->type == FIELD_STRING))
			reason = "missing";
		else if (member)
			reason = read_value(member, field, value);
		else if (field->nullable)
			read_null(field, value);
		else
			reason = "must not be null";
		if (reason)
			return mtl_json_refuse(place, field->name, reason);
	}
	return 0;
}

int mtl_json_member(struct json_object *object, const char *name, enum json_type type,
        const struct json_place *place, struct json_object **ret_member)
{
	struct json_object *member;

	if (!json_object_is_type(object, json_type_object))
		return mtl_json_refuse(place, "", "expected an object");
	if (!json_object_object_get_ex(object, name, &member))
		return mtl_json_refuse(place, name, "missing");
	if (!json_object_is_type(member, type))
		return mtl_json_refuse(place, name,
		        type == json_type_array ? "expected an array" : "expected an object");
	*ret_member = member;
	return 0;
}

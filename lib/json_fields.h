/* SPDX-License-Identifier: MIT */
#ifndef MTL_JSON_FIELDS_H
#define MTL_JSON_FIELDS_H

/* Structs as JSON objects by a table of their fields, both ways. Shared by curve and record. */

#include <stdbool.h>
#include <stddef.h>
#include <json-c/json.h>

enum json_field_type {
	FIELD_DOUBLE, /* double; not finite is null, null is `null_means` where nullable */
	FIELD_UINT64,
	FIELD_PID,
	FIELD_BOOL,
	FIELD_STRING, /* char array of `size` bytes */
};

struct json_field {
	const char *name;
	enum json_field_type type;
	size_t offset, size;
	bool nullable;     /* may be null; a FIELD_STRING may also be absent, meaning "" */
	bool optional;     /* and be absent, which is read like null */
	double null_means; /* for FIELD_DOUBLE */
	double least;      /* smallest FIELD_DOUBLE that fits the schema */
};

/* Where a reading error is: `path` grows as in "curve.points[3].low". */
struct json_place {
	char *error;
	size_t error_size;
	const char *path;
};

#define JSON_PATH_SIZE 96

/* -EBADMSG, having written "path.name: reason" into the error of the place. */
int mtl_json_refuse(const struct json_place *place, const char *name, const char *reason);

/* NULL on lack of memory. Numbers print as short as they read back the same, -0 as 0. */
struct json_object *mtl_json_number_new(double value);

/* What comes from outside and may hold any byte: those that are not UTF-8 become '?'. NULL on lack
 * of memory. */
struct json_object *mtl_json_text_new(const char *text);

/* -EINVAL: a number that is not finite where the schema has no null. */
int mtl_json_fields_write(
        struct json_object *object, const struct json_field *fields, size_t n, const void *from);
int mtl_json_fields_read(struct json_object *object, const struct json_field *fields, size_t n,
        void *to, const struct json_place *place);

/* Takes the value, also on failure; a NULL value is -ENOMEM. */
int mtl_json_put(struct json_object *object, const char *name, struct json_object *value);
int mtl_json_append(struct json_object *array, struct json_object *value);

/* A number, null where it is not finite. -ENOMEM. */
int mtl_json_put_number(struct json_object *object, const char *name, double number);

/* Some of them. */
struct json_number {
	const char *name;
	double value;
};
int mtl_json_put_numbers(struct json_object *object, const struct json_number *numbers, size_t n);

/* The member of that type, or -EBADMSG. */
int mtl_json_member(struct json_object *object, const char *name, enum json_type type,
        const struct json_place *place, struct json_object **ret_member);

int mtl_json_read_double(struct json_object *value, double least, double *ret_value);

static inline void json_object_putp(struct json_object **object)
{
	json_object_put(*object);
}

#define _cleanup_json_ __attribute__((cleanup(json_object_putp)))

#endif

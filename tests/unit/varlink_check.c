/* SPDX-License-Identifier: MIT */
/*
 * Enough of the Varlink interface definition language to check answers by it. A declaration is
 * found by its name and its last parenthesised list of fields ("method A(in) -> (out)": out); a
 * field is "name: type", a type [?][[]]name; "?" may be null or left out. Comments are cut first.
 */
#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cleanup.h"
#include "varlink_check.h"

struct check {
	const char *text; /* the description without comments */
	char *problem;
	size_t size;
};

static int differ(struct check *check, const char *name, const char *what)
{
	snprintf(check->problem, check->size, "%s: %s", name, what);
	return -EBADMSG;
}

static char *without_comments(const char *text)
{
	char *copy = strdup(text);

	for (char *p = copy; p && (p = strchr(p, '#'));)
		while (*p && *p != '\n')
			*p++ = ' ';
	return copy;
}

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\n");
}

/* The field list of a declaration, behind its opening parenthesis. */
static const char *find_fields(const char *text, const char *name)
{
	static const char *const kinds[] = {"type", "method", "error"};
	char head[96];
	const char *p = NULL, *arrow;

	for (size_t i = 0; i < 3 && !p; i++) {
		snprintf(head, sizeof(head), "\n%s %s", kinds[i], name);
		p = strstr(text, head);
		while (p && isalnum((unsigned char)p[strlen(head)]))
			p = strstr(p + 1, head);
	}
	if (!p)
		return NULL;
	p = strchr(p, '(') + 1;
	arrow = strchr(p, ')') + 1;
	arrow = skip_space(arrow);
	return strncmp(arrow, "->", 2) ? p : strchr(arrow, '(') + 1;
}

static int check_fields(
        struct check *check, const char *fields, const char *name, struct json_object *object);

static bool is_a(struct json_object *value, const char *type)
{
	static const struct {
		const char *name;
		enum json_type types[2];
	} simple[] = {
	        {"int", {json_type_int, json_type_int}},
	        {"float", {json_type_double, json_type_int}},
	        {"string", {json_type_string, json_type_string}},
	        {"bool", {json_type_boolean, json_type_boolean}},
	        {"object", {json_type_object, json_type_object}},
	};

	for (size_t i = 0; i < sizeof(simple) / sizeof(*simple); i++)
		if (!strcmp(type, simple[i].name))
			return json_object_is_type(value, simple[i].types[0]) ||
			       json_object_is_type(value, simple[i].types[1]);
	return false;
}

static int check_value(
        struct check *check, const char *type, const char *name, struct json_object *value)
{
	const char *fields;
	int r = 0;

	if (*type == '?')
		return value ? check_value(check, type + 1, name, value) : 0;
	if (!strncmp(type, "[]", 2)) {
		if (!json_object_is_type(value, json_type_array))
			return differ(check, name, "not an array");
		for (size_t i = 0; r == 0 && i < json_object_array_length(value); i++)
			r = check_value(check, type + 2, name, json_object_array_get_idx(value, i));
		return r;
	}
	if (is_a(value, type))
		return 0;
	fields = isupper((unsigned char)*type) ? find_fields(check->text, type) : NULL;
	return fields ? check_fields(check, fields, type, value) : differ(check, name, type);
}

/* One "name: type"; behind it. */
static const char *read_field(const char *p, char *ret_name, char *ret_type)
{
	size_t n;

	p = skip_space(p);
	n = strcspn(p, ": \t\n");
	memcpy(ret_name, p, n);
	ret_name[n] = '\0';
	p = skip_space(strchr(p, ':') + 1);
	n = strcspn(p, ",) \t\n");
	memcpy(ret_type, p, n);
	ret_type[n] = '\0';
	p = skip_space(p + n);
	return *p == ',' ? p + 1 : p;
}

static int check_fields(
        struct check *check, const char *fields, const char *name, struct json_object *object)
{
	size_t present = 0;

	if (!json_object_is_type(object, json_type_object))
		return differ(check, name, "not an object");
	for (const char *p = fields; *skip_space(p) != ')';) {
		char field[64], type[64];
		struct json_object *value;
		int r;

		p = read_field(p, field, type);
		if (!json_object_object_get_ex(object, field, &value) && *type != '?')
			return differ(check, name, field);
		present += json_object_object_get_ex(object, field, NULL);
		r = check_value(check, type, field, value);
		if (r < 0)
			return r;
	}
	if ((size_t)json_object_object_length(object) != present)
		return differ(check, name, "has members that are not declared");
	return 0;
}

int varlink_check(const char *description, const char *name, struct json_object *object,
        char *ret_problem, size_t size)
{
	_cleanup_free_ char *text = without_comments(description);
	struct check check = {text, ret_problem, size};
	const char *fields = text ? find_fields(text, name) : NULL;

	if (!fields)
		return differ(&check, name, "is not declared");
	return check_fields(&check, fields, name, object);
}

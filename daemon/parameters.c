/* SPDX-License-Identifier: MIT */
/*
 * Method parameters by table: one row names a parameter, where it goes, whether it is required and
 * its range. Unknown parameters are refused, so that a misspelt one is not silently ignored. JSON
 * null stands for "not given", as Varlink's ?type says. json-c turns 1e999 into infinity and clamps
 * integers to 64 bits; both fall outside every range here.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cleanup.h"
#include "json_message.h"
#include "parameters.h"

static int read_integer(const struct parameter *parameter, struct json_object *value,
        int64_t *ret_number, char *ret_reason, size_t reason_size)
{
	int64_t number = json_object_get_int64(value);

	if (!json_object_is_type(value, json_type_int)) {
		snprintf(ret_reason, reason_size, "must be an integer");
		return -EBADMSG;
	}
	if ((double)number < parameter->low || (double)number > parameter->high) {
		snprintf(ret_reason, reason_size, "must be %.0f to %.0f", parameter->low,
		        parameter->high);
		return -ERANGE;
	}
	*ret_number = number;
	return 0;
}

int parameter_pid(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size)
{
	int64_t number;
	int r = read_integer(parameter, value, &number, ret_reason, reason_size);

	if (r == 0)
		*(pid_t *)member = (pid_t)number;
	return r;
}

int parameter_unsigned(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size)
{
	int64_t number;
	int r = read_integer(parameter, value, &number, ret_reason, reason_size);

	if (r == 0)
		*(unsigned *)member = (unsigned)number;
	return r;
}

int parameter_bool(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size)
{
	(void)parameter;
	if (!json_object_is_type(value, json_type_boolean)) {
		snprintf(ret_reason, reason_size, "must be true or false");
		return -EBADMSG;
	}
	*(bool *)member = json_object_get_boolean(value);
	return 0;
}

int parameter_object(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size)
{
	(void)parameter;
	if (!json_object_is_type(value, json_type_object)) {
		snprintf(ret_reason, reason_size, "must be an object");
		return -EBADMSG;
	}
	*(struct json_object **)member = value;
	return 0;
}

/* An array of low to high entries. */
static int check_array(struct json_object *value, double low, double high, const char *what,
        char *ret_reason, size_t reason_size)
{
	double n;

	if (!json_object_is_type(value, json_type_array)) {
		snprintf(ret_reason, reason_size, "must be an array of %s", what);
		return -EBADMSG;
	}
	n = (double)json_object_array_length(value);
	if (n < low || n > high) {
		snprintf(ret_reason, reason_size, "must have %.0f to %.0f entries", low, high);
		return -ERANGE;
	}
	return 0;
}

int parameter_objects(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size)
{
	int r = check_array(
	        value, parameter->low, parameter->high, "objects", ret_reason, reason_size);

	for (size_t i = 0; r == 0 && i < json_object_array_length(value); i++)
		if (!json_object_is_type(json_object_array_get_idx(value, i), json_type_object)) {
			snprintf(ret_reason, reason_size, "must be an array of objects");
			r = -EBADMSG;
		}
	if (r == 0)
		*(struct json_object **)member = value;
	return r;
}

int parameter_pids(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size)
{
	struct pids *pids = member;
	int r = check_array(value, 1, PIDS_MAX, "pids", ret_reason, reason_size);

	for (size_t i = 0; r == 0 && i < json_object_array_length(value); i++)
		r = parameter_pid(parameter, json_object_array_get_idx(value, i), &pids->values[i],
		        ret_reason, reason_size);
	if (r == 0)
		pids->n = json_object_array_length(value);
	return r;
}

static bool is_number(struct json_object *value)
{
	return json_object_is_type(value, json_type_int) ||
	       json_object_is_type(value, json_type_double);
}

int parameter_number(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size)
{
	double number = json_object_get_double(value);

	if (!is_number(value)) {
		snprintf(ret_reason, reason_size, "must be a number");
		return -EBADMSG;
	}
	if (!isfinite(number) || number < parameter->low || number > parameter->high) {
		snprintf(ret_reason, reason_size, "must be %.10g to %.10g", parameter->low,
		        parameter->high);
		return -ERANGE;
	}
	*(double *)member = number;
	return 0;
}

int parameter_numbers(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size)
{
	struct numbers *numbers = member;
	int r = check_array(value, 1, NUMBERS_MAX, "numbers", ret_reason, reason_size);
	size_t n;

	if (r < 0)
		return r;
	n = json_object_array_length(value);
	for (size_t i = 0; i < n; i++) {
		r = parameter_number(parameter, json_object_array_get_idx(value, i),
		        &numbers->values[i], ret_reason, reason_size);

		if (r < 0)
			return r;
	}
	numbers->n = n;
	return 0;
}

int parameter_string(const struct parameter *parameter, struct json_object *value, void *member,
        char *ret_reason, size_t reason_size)
{
	(void)parameter;
	if (!json_object_is_type(value, json_type_string)) {
		snprintf(ret_reason, reason_size, "must be a string");
		return -EBADMSG;
	}
	*(const char **)member = json_object_get_string(value);
	return 0;
}

static void name_problem(struct parameter_problem *problem, const char *name)
{
	snprintf(problem->name, sizeof(problem->name), "%s", name);
	text_clean(problem->name);
}

static int check_known(const struct parameter *table, size_t n, struct json_object *object,
        struct parameter_problem *ret_problem)
{
	json_object_object_foreach (object, key, value) {
		size_t i = 0;

		(void)value;
		while (i < n && strcmp(table[i].name, key) != 0)
			i++;
		if (i == n) {
			name_problem(ret_problem, key);
			snprintf(ret_problem->reason, sizeof(ret_problem->reason),
			        "there is no such parameter");
			return -EBADMSG;
		}
	}
	return 0;
}

static int read_one(const struct parameter *parameter, struct json_object *object,
        struct arguments *arguments, struct parameter_problem *ret_problem)
{
	struct json_object *value = object ? json_object_object_get(object, parameter->name) : NULL;

	name_problem(ret_problem, parameter->name);
	if (value)
		return parameter->read(parameter, value, (char *)arguments + parameter->offset,
		        ret_problem->reason, sizeof(ret_problem->reason));
	if (!parameter->required)
		return 0;
	snprintf(ret_problem->reason, sizeof(ret_problem->reason), "is missing");
	return -EBADMSG;
}

int parameters_read(const struct parameter *table, size_t n, struct json_object *object,
        struct arguments *arguments, struct parameter_problem *ret_problem)
{
	_cleanup_free_ struct arguments *read = malloc(sizeof(*read));
	int r = object ? check_known(table, n, object, ret_problem) : 0;

	if (!read)
		return -ENOMEM;
	*read = *arguments;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = read_one(&table[i], object, read, ret_problem);
	if (r == 0)
		*arguments = *read;
	return r;
}

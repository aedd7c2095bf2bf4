/* SPDX-License-Identifier: MIT */
/*
 * What options of `mtl partition` accept: numbers of ways and rounds, positive numbers, fractions,
 * ids of caches, an objective by name and weights, "a=2,b=0.5" (a name may have '=' in it: the last
 * one counts).
 */

#include "partition_options.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "division.h"
#include "option_values.h"
#include "options.h"

#define LEAST 1e-12
#define MOST 1e12
#define ROUNDS_MAX 1000

int value_objective(const char *text, void *field, char *ret_error, size_t error_size)
{
	if (mtl_objective_from_name(text, field) == 0)
		return 0;
	snprintf(ret_error, error_size,
	        "'%.60s' is not an objective: choose total, fair or guarantee", text);
	return -EINVAL;
}

int value_ways(const char *text, void *field, char *ret_error, size_t error_size)
{
	return value_number_of("ways", PARTITION_WAYS_MAX, text, field, ret_error, error_size);
}

int value_rounds(const char *text, void *field, char *ret_error, size_t error_size)
{
	return value_number_of("rounds", ROUNDS_MAX, text, field, ret_error, error_size);
}

/* NAN: it is none. What strtod() takes for more (hex, inf, signs, blanks) is not for us. */
static double plain_number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end == text || *end || text[strspn(text, "0123456789.eE-")] || text[0] == '-'
	               ? NAN
	               : value;
}

int value_positive(const char *text, void *field, char *ret_error, size_t error_size)
{
	double value = plain_number(text);

	if (!(value >= LEAST && value <= MOST)) {
		snprintf(ret_error, error_size,
		        "'%.60s' is not a positive number: give one such as 2, 0.5 or 1e-7", text);
		return -EINVAL;
	}
	*(double *)field = value;
	return 0;
}

int value_domains(const char *text, void *field, char *ret_error, size_t error_size)
{
	struct number_list *list = field, domains = {0};
	_cleanup_free_ double *values = calloc(strlen(text) / 2 + 1, sizeof(double));

	for (const char *at = text; values; at++) {
		size_t digits = strspn(at, "0123456789");

		if (digits < 1 || digits > 9 || (at[digits] && at[digits] != ',')) {
			snprintf(ret_error, error_size,
			        "'%.60s' is not a list of caches: give their ids as in schemata, "
			        "such as 0,1",
			        text);
			return -EINVAL;
		}
		values[domains.n++] = strtod(at, NULL);
		at += digits;
		if (!*at)
			break;
	}
	if (!values) {
		snprintf(ret_error, error_size, "out of memory");
		return -ENOMEM;
	}
	domains.n = numbers_sort_unique(values, domains.n);
	domains.values = TAKE_PTR(values);
	free(list->values);
	*list = domains;
	return 0;
}

int value_fraction(const char *text, void *field, char *ret_error, size_t error_size)
{
	double value = plain_number(text);

	if (!(value >= 0 && value < 1)) {
		snprintf(ret_error, error_size,
		        "'%.60s' is not a fraction: give 0 or more and less than 1, such as 0.05",
		        text);
		return -EINVAL;
	}
	*(double *)field = value;
	return 0;
}

static bool has_weight(const struct weight_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->weights[i].name, name) == 0)
			return true;
	return false;
}

bool domain_is_chosen(const struct options *options, int id)
{
	const struct number_list *list = &options->domains;
	bool chosen = list->n == 0;

	for (size_t i = 0; i < list->n; i++)
		chosen |= list->values[i] == id;
	return chosen;
}

static int add_weight(
        struct weight_list *list, const char *text, char *ret_error, size_t error_size)
{
	const char *equals = strrchr(text, '=');
	struct weight weight = {0}, *more;

	if (!equals || equals == text) {
		snprintf(ret_error, error_size,
		        "'%.60s' is not a weight: give NAME=W, such as a=2,b=0.5", text);
		return -EINVAL;
	}
	if (value_positive(equals + 1, &weight.value, ret_error, error_size) < 0)
		return -EINVAL;
	more = reallocarray(list->weights, list->n + 1, sizeof(*more));
	weight.name = strndup(text, (size_t)(equals - text));
	if (more)
		list->weights = more;
	if (!more || !weight.name) {
		free(weight.name);
		snprintf(ret_error, error_size, "out of memory");
		return -ENOMEM;
	}
	if (has_weight(list, weight.name)) {
		snprintf(ret_error, error_size, "'%.60s' is given two weights: give one",
		        weight.name);
		free(weight.name);
		return -EINVAL;
	}
	list->weights[list->n++] = weight;
	return 0;
}

int value_weights(const char *text, void *field, char *ret_error, size_t error_size)
{
	_cleanup_(weights_done) struct weight_list list = {0};
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *token;

	while ((token = strsep(&rest, ","))) {
		int r = add_weight(&list, token, ret_error, error_size);

		if (r < 0)
			return r;
	}
	weights_done(field);
	*(struct weight_list *)field = list;
	list = (struct weight_list){0};
	return 0;
}

void weights_done(struct weight_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->weights[i].name);
	free(list->weights);
	*list = (struct weight_list){0};
}

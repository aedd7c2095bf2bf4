/* SPDX-License-Identifier: MIT */
/*
 * What options accept: one function a kind of value, called by the rows of the table in options.c.
 * Single numbers are parsed in size.c, what only traces have in the files of `mtl trace`.
 */

#include "option_values.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "export_state.h"
#include "mtl.h"
#include "options.h"
#include "plot_file.h"
#include "size.h"

#define LIST_MAX 4096

int value_flag(const char *text, void *field, char *ret_error, size_t error_size)
{
	(void)text, (void)ret_error, (void)error_size;
	*(bool *)field = true;
	return 0;
}

int value_number_of(const char *things, unsigned most, const char *text, unsigned *ret_number,
        char *ret_error, size_t error_size)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long number =
	        digits > 0 && digits < 9 && !text[digits] ? strtoul(text, NULL, 10) : 0;

	if (number < 1 || number > most) {
		snprintf(ret_error, error_size, "'%.60s' is not a number of %s: give 1 to %u", text,
		        things, most);
		return -EINVAL;
	}
	*ret_number = (unsigned)number;
	return 0;
}

int value_text(const char *text, void *field, char *ret_error, size_t error_size)
{
	if (!*text) {
		snprintf(ret_error, error_size, "an empty name is not accepted");
		return -EINVAL;
	}
	*(const char **)field = text;
	return 0;
}

int value_size(const char *text, void *field, char *ret_error, size_t error_size)
{
	return size_parse(text, field, ret_error, error_size);
}

int line_check(double bytes, double line_bytes, char *ret_error, size_t error_size)
{
	char line[NUMBER_TEXT];

	if (bytes >= line_bytes)
		return 0;
	snprintf(ret_error, error_size,
	        "%.0f is less than one line of %s bytes, which no cache is: a plain number is "
	        "bytes, for "
	        "kilobytes write %.0fK",
	        bytes, ratio_format(line_bytes, line), bytes);
	return -EINVAL;
}

int value_cache_size(const char *text, void *field, char *ret_error, size_t error_size)
{
	double bytes;
	int r = size_parse(text, &bytes, ret_error, error_size);

	r = r ?: line_check(bytes, MTL_LINE_BYTES, ret_error, error_size);
	if (r == 0)
		*(double *)field = bytes;
	return r;
}

int value_seconds(const char *text, void *field, char *ret_error, size_t error_size)
{
	return seconds_parse(text, field, ret_error, error_size);
}

int value_duration(const char *text, void *field, char *ret_error, size_t error_size)
{
	double seconds;
	int r = seconds_parse(text, &seconds, ret_error, error_size);

	if (r < 0)
		return r;
	if (seconds <= 0) {
		snprintf(ret_error, error_size, "'%.60s' is too short: give more than 0 seconds",
		        text);
		return -EINVAL;
	}
	*(double *)field = seconds;
	return 0;
}

/* mtld has the last word; here it is a matter of usage. */
int value_rung(const char *text, void *field, char *ret_error, size_t error_size)
{
	static const char *const names[] = {"auto", "pebs", "ibs", "counters", "watchpoints"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], text) == 0)
			return value_text(text, field, ret_error, error_size);
	snprintf(ret_error, error_size,
	        "'%.60s' is no rung: give auto, pebs, ibs, counters or watchpoints", text);
	return -EINVAL;
}

static int value_count(const char *text, void *field, char *ret_error, size_t error_size)
{
	return count_parse(text, field, ret_error, error_size);
}

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

size_t numbers_sort_unique(double *values, size_t n)
{
	size_t kept = 0;

	qsort(values, n, sizeof(*values), compare_numbers);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || values[i] != values[kept - 1])
			values[kept++] = values[i];
	return kept;
}

double numbers_quantile(double *values, size_t n, double share)
{
	qsort(values, n, sizeof(*values), compare_numbers);
	return values[(size_t)(share * (double)(n - 1) + 0.5)];
}

static size_t count_items(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == ',';
	return n;
}

static int fill_list(struct number_list *list, char *text, value_function item, char *ret_error,
        size_t error_size)
{
	char *token;

	while ((token = strsep(&text, ","))) {
		token += strspn(token, " ");
		int r = item(token, &list->values[list->n], ret_error, error_size);

		if (r < 0)
			return r;
		list->n++;
	}
	return 0;
}

static int value_list(const char *text, struct number_list *ret_list, value_function item,
        char *ret_error, size_t error_size)
{
	_cleanup_free_ char *copy = strdup(text);
	_cleanup_free_ double *values = NULL;
	struct number_list list = {0};
	size_t n = count_items(text);
	int r;

	if (n > LIST_MAX) {
		snprintf(ret_error, error_size, "%zu items are too many: give at most %d", n,
		        LIST_MAX);
		return -EINVAL;
	}
	list.values = values = calloc(n, sizeof(double));
	if (!copy || !values) {
		snprintf(ret_error, error_size, "out of memory");
		return -ENOMEM;
	}
	r = fill_list(&list, copy, item, ret_error, error_size);
	if (r < 0)
		return r;
	list.n = numbers_sort_unique(list.values, list.n);
	free(ret_list->values);
	*ret_list = list;
	TAKE_PTR(values);
	return 0;
}

int value_sizes(const char *text, void *field, char *ret_error, size_t error_size)
{
	return value_list(text, field, value_size, ret_error, error_size);
}

int value_cache_sizes(const char *text, void *field, char *ret_error, size_t error_size)
{
	return value_list(text, field, value_cache_size, ret_error, error_size);
}

int value_windows(const char *text, void *field, char *ret_error, size_t error_size)
{
	return value_list(text, field, value_duration, ret_error, error_size);
}

int value_counts(const char *text, void *field, char *ret_error, size_t error_size)
{
	return value_list(text, field, value_count, ret_error, error_size);
}

int value_format(const char *text, void *field, char *ret_error, size_t error_size)
{
	return trace_format_parse(text, field, ret_error, error_size);
}

int value_line_size(const char *text, void *field, char *ret_error, size_t error_size)
{
	return trace_line_size_parse(text, field, ret_error, error_size);
}

int value_method(const char *text, void *field, char *ret_error, size_t error_size)
{
	return trace_method_parse(text, field, ret_error, error_size);
}

int value_cache(const char *text, void *field, char *ret_error, size_t error_size)
{
	struct trace_cache_list *list = field;
	struct trace_cache cache, *more;
	int r;

	if (strcmp(text, "auto") == 0) {
		list->machine = true;
		return 0;
	}
	r = trace_cache_parse(text, &cache, ret_error, error_size);

	if (r < 0)
		return r;
	more = reallocarray(list->caches, list->n + 1, sizeof(*more));
	if (!more) {
		snprintf(ret_error, error_size, "out of memory");
		return -ENOMEM;
	}
	list->caches = more;
	list->caches[list->n++] = cache;
	return 0;
}

int value_emission(const char *text, void *field, char *ret_error, size_t error_size)
{
	return trace_emission_parse(text, field, ret_error, error_size);
}

int value_level(const char *text, void *field, char *ret_error, size_t error_size)
{
	if (*text < '1' || *text > '8' || text[1]) {
		snprintf(
		        ret_error, error_size, "'%.60s' is no level of a cache: give 1 to 8", text);
		return -EINVAL;
	}
	*(unsigned *)field = (unsigned)(*text - '0');
	return 0;
}

int value_plot(const char *text, void *field, char *ret_error, size_t error_size)
{
	int r = plot_file_check(text, ret_error, error_size);

	if (r < 0)
		return r;
	*(const char **)field = text;
	return 0;
}

int value_repeat(const char *text, void *field, char *ret_error, size_t error_size)
{
	double count;
	char unused[128];

	if (count_parse(text, &count, unused, sizeof(unused)) < 0) {
		snprintf(ret_error, error_size, "'%.60s' is no number of times: 1, 20, 5k", text);
		return -EINVAL;
	}
	*(uint64_t *)field = (uint64_t)count;
	return 0;
}

int value_output(const char *text, void *field, char *ret_error, size_t error_size)
{
	return value_text(text ?: "-", field, ret_error, error_size);
}

int value_listen(const char *text, void *field, char *ret_error, size_t error_size)
{
	return http_address_parse(text, field, ret_error, error_size);
}

int value_top(const char *text, void *field, char *ret_error, size_t error_size)
{
	return value_number_of("processes", EXPORT_TOP_MAX, text, field, ret_error, error_size);
}

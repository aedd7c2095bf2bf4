/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_OPTION_VALUES_H
#define MTL_CLI_OPTION_VALUES_H

#include <stddef.h>

/*
 * Reads what was given to an option into its field of struct options. 0, or a negative errno with
 * one sentence in ret_error; the field is then as before.
 */
typedef int (*value_function)(const char *text, void *field, char *ret_error, size_t error_size);

int value_flag(const char *text, void *field, char *ret_error, size_t error_size); /* bool */
int value_text(const char *text, void *field, char *ret_error, size_t error_size); /* char * */
int value_size(const char *text, void *field, char *ret_error, size_t error_size); /* double */
/* The same of a cache, which has a line of MTL_LINE_BYTES at least; and a list of such. */
int value_cache_size(const char *text, void *field, char *ret_error, size_t error_size);
int value_cache_sizes(const char *text, void *field, char *ret_error, size_t error_size);
/* Is a cache of so many bytes none, because it is less than one line? -EINVAL and why. */
int line_check(double bytes, double line_bytes, char *ret_error, size_t error_size);
int value_seconds(const char *text, void *field, char *ret_error, size_t error_size);  /* double */
int value_duration(const char *text, void *field, char *ret_error, size_t error_size); /* > 0 */
int value_rung(const char *text, void *field, char *ret_error, size_t error_size);     /* char * */

/* struct number_list */
int value_sizes(const char *text, void *field, char *ret_error, size_t error_size);
int value_windows(const char *text, void *field, char *ret_error, size_t error_size);
int value_counts(const char *text, void *field, char *ret_error, size_t error_size);

/* Of `mtl trace`. */
int value_format(const char *text, void *field, char *ret_error, size_t error_size);
int value_line_size(const char *text, void *field, char *ret_error, size_t error_size);
int value_method(const char *text, void *field, char *ret_error, size_t error_size);
int value_cache(const char *text, void *field, char *ret_error, size_t error_size); /* one more */
int value_emission(const char *text, void *field, char *ret_error, size_t error_size);
int value_level(const char *text, void *field, char *ret_error, size_t error_size); /* unsigned */
int value_plot(const char *text, void *field, char *ret_error, size_t error_size);

/* Of `mtl partition`. */
int value_ways(const char *text, void *field, char *ret_error, size_t error_size); /* unsigned */
int value_positive(const char *text, void *field, char *ret_error, size_t error_size); /* double */
int value_fraction(const char *text, void *field, char *ret_error, size_t error_size); /* double */
int value_rounds(const char *text, void *field, char *ret_error, size_t error_size); /* unsigned */
int value_objective(const char *text, void *field, char *ret_error, size_t error_size);
int value_domains(const char *text, void *field, char *ret_error, size_t error_size); /* list */
int value_weights(const char *text, void *field, char *ret_error, size_t error_size);

/* Of `mtl stub`. */
int value_repeat(const char *text, void *field, char *ret_error, size_t error_size); /* uint64_t */
int value_output(const char *text, void *field, char *ret_error, size_t error_size); /* NULL: "-" */

/* Of `mtl export`. */
int value_listen(const char *text, void *field, char *ret_error, size_t error_size);
int value_top(const char *text, void *field, char *ret_error, size_t error_size); /* unsigned */

/* A number from 1 to most, of these things; no value_function of its own. */
int value_number_of(const char *things, unsigned most, const char *text, unsigned *ret_number,
        char *ret_error, size_t error_size);

/* In ascending order, without repeats; how many are left. */
size_t numbers_sort_unique(double *values, size_t n);

/* The value that so large a share of n > 0 of them is below (0.5: the median). Sorts them. */
double numbers_quantile(double *values, size_t n, double share);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_SIZE_H
#define MTL_CLI_SIZE_H

#include <stddef.h>

#define NUMBER_TEXT 32

/*
 * "4096", "512K", "1.5M", "8 MB", "2GiB" -> whole bytes, at least 1. Three digits of a larger
 * unit are rounded to whole bytes (1.41K); parts of bytes are refused.
 * -EINVAL with one sentence in ret_error, which names the text and what is accepted.
 */
int size_parse(const char *text, double *ret_bytes, char *ret_error, size_t error_size);

/* "20", "1.5s", "500ms", "50us" -> seconds, 0 included. -EINVAL like size_parse(). */
int seconds_parse(const char *text, double *ret_seconds, char *ret_error, size_t error_size);

/* "20000", "500k", "1.5M", "2G" (powers of 1000, letters just so) -> a whole number, at least 1;
 * parts are refused, not rounded. -EINVAL likewise. */
int count_parse(const char *text, double *ret_count, char *ret_error, size_t error_size);

/* A process number, 1..INT_MAX. -EINVAL like size_parse(). */
int pid_parse(const char *text, int *ret_pid, char *ret_error, size_t error_size);

/* These write into a buffer of NUMBER_TEXT bytes and return it. NAN is "-", INFINITY is "never". */
char *size_format(double bytes, char *ret_text);       /* "512K", "1.41M" */
char *count_format(double count, char *ret_text);      /* "12.3 M" (powers of 1000) */
char *seconds_format(double seconds, char *ret_text);  /* "50 us", "1.2 ms", "30 s" */
char *percent_format(double fraction, char *ret_text); /* "0.4 %" */
char *ratio_format(double ratio, char *ret_text);      /* "0.064", "<0.001" */

#endif

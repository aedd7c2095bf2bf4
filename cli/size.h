/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_SIZE_H
#define MTL_CLI_SIZE_H

#include <stddef.h>
#include <time.h>
#include "words.h"

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

/* How lib/words.h writes them, by the names they have here. */
#define size_format mtl_size_format
#define count_format mtl_count_format
#define seconds_format mtl_seconds_format
#define percent_format mtl_percent_format
#define ratio_format mtl_ratio_format

/* "50 us", "30 s", "5 min 20 s", "2 h", "3 d 4 h", likewise: how long something has been. */
char *duration_format(double seconds, char *ret_text);

/* "2026-11-30 12:03:05", as clocks here have it, into NUMBER_TEXT bytes, which it returns. */
char *time_format(time_t time, char *ret_text);

#endif

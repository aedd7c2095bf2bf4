/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people write them.
 *
 * A text is a decimal number followed by a unit out of a table. Cache sizes go by powers of 1024
 * whatever the spelling (K, KB, KiB), because that is how caches are built; counts and times go by
 * powers of 1000.
 * Invariant: what size_format() prints (lib/words.c), size_parse() reads, within the three digits.
 */

#include "size.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KI 1024.0
#define SIZE_LIMIT 0x1p60 /* 1 EiB */
#define COUNT_LIMIT 0x1p53
#define SECONDS_LIMIT 1e9
#define ROUNDED 5e-3 /* of a number with three digits */

struct unit {
	const char *name;
	double factor;
};

static const struct unit size_units[] = {
        {"", 1},
        {"B", 1},
        {"K", KI},
        {"KB", KI},
        {"KiB", KI},
        {"M", KI *KI},
        {"MB", KI *KI},
        {"MiB", KI *KI},
        {"G", KI *KI *KI},
        {"GB", KI *KI *KI},
        {"GiB", KI *KI *KI},
        {"T", KI *KI *KI *KI},
        {"TB", KI *KI *KI *KI},
        {"TiB", KI *KI *KI *KI},
        {NULL, 0},
};

static const struct unit count_units[] = {
        {"", 1},
        {"k", 1e3},
        {"M", 1e6},
        {"G", 1e9},
        {NULL, 0},
};

static const struct unit second_units[] = {
        {"", 1},
        {"s", 1},
        {"ms", 1e-3},
        {"us", 1e-6},
        {NULL, 0},
};

/* Digits and at most one point: what strtod() takes for more (hex, inf, signs) is not for us. */
static size_t number_length(const char *text)
{
	size_t length = strspn(text, "0123456789");

	if (text[length] == '.')
		length += 1 + strspn(text + length + 1, "0123456789");
	return length == 1 && text[0] == '.' ? 0 : length;
}

static int number_parse(const char *text, const struct unit *units,
        int (*compare)(const char *, const char *), double *ret_value, double *ret_factor)
{
	size_t length = number_length(text);
	const char *unit = text + length;

	if (length == 0)
		return -EINVAL;
	unit += strspn(unit, " ");
	for (const struct unit *u = units; u->name; u++) {
		if (compare(u->name, unit) == 0) {
			*ret_value = strtod(text, NULL) * u->factor;
			*ret_factor = u->factor;
			return 0;
		}
	}
	return -EINVAL;
}

int size_parse(const char *text, double *ret_bytes, char *ret_error, size_t error_size)
{
	double bytes, factor, whole;

	if (number_parse(text, size_units, strcasecmp, &bytes, &factor) < 0) {
		snprintf(ret_error, error_size,
		        "'%.60s' is not a size: give bytes, or a number with K, M, G or T (512K, "
		        "1.5M)",
		        text);
		return -EINVAL;
	}
	whole = round(bytes);
	if (fabs(bytes - whole) > (factor > 1 ? ROUNDED * bytes : 0)) {
		snprintf(ret_error, error_size, "'%.60s' is no whole number of bytes", text);
		return -EINVAL;
	}
	bytes = whole;
	if (bytes < 1 || bytes > SIZE_LIMIT) {
		snprintf(ret_error, error_size,
		        "size '%.60s' is out of range: give 1 byte to 1048576T", text);
		return -EINVAL;
	}
	*ret_bytes = bytes;
	return 0;
}

int seconds_parse(const char *text, double *ret_seconds, char *ret_error, size_t error_size)
{
	double seconds, factor;

	if (number_parse(text, second_units, strcasecmp, &seconds, &factor) < 0) {
		snprintf(ret_error, error_size,
		        "'%.60s' is not a time: give seconds, or a number with s, ms or us (20, "
		        "500ms)",
		        text);
		return -EINVAL;
	}
	if (seconds > SECONDS_LIMIT) {
		snprintf(ret_error, error_size,
		        "time '%.60s' is out of range: give at most 1e9 seconds", text);
		return -EINVAL;
	}
	*ret_seconds = seconds;
	return 0;
}

int count_parse(const char *text, double *ret_count, char *ret_error, size_t error_size)
{
	double count, factor, whole;

	if (number_parse(text, count_units, strcmp, &count, &factor) < 0) {
		snprintf(ret_error, error_size,
		        "'%.60s' is not a number of accesses or data: give a number, or one with "
		        "k, M "
		        "or G as written (20000, 1.5M)",
		        text);
		return -EINVAL;
	}
	whole = round(count);
	if (count < 0x1p52 && fabs(count - whole) > 1e-12 * whole) {
		snprintf(ret_error, error_size,
		        "'%.60s' is no whole number, and there are no parts of accesses or data",
		        text);
		return -EINVAL;
	}
	if (whole < 1 || whole > COUNT_LIMIT) {
		snprintf(
		        ret_error, error_size, "'%.60s' is out of range: give 1 to 9007199G", text);
		return -EINVAL;
	}
	*ret_count = whole;
	return 0;
}

int pid_parse(const char *text, int *ret_pid, char *ret_error, size_t error_size)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || pid < 1 || pid > INT_MAX) {
		snprintf(ret_error, error_size,
		        "'%.60s' is not a process number: give one as `ps` or `pgrep` shows it",
		        text);
		return -EINVAL;
	}
	*ret_pid = (int)pid;
	return 0;
}

char *duration_format(double seconds, char *ret_text)
{
	static const struct {
		double seconds, part;
		const char *unit, *part_unit;
	} scales[] = {{86400, 3600, "d", "h"}, {3600, 60, "h", "min"}, {60, 1, "min", "s"}};

	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		double parts = round(seconds / scales[i].part);
		double in_one = scales[i].seconds / scales[i].part;

		if (!(parts >= in_one) || isinf(seconds))
			continue;
		if (fmod(parts, in_one) == 0)
			snprintf(ret_text, NUMBER_TEXT, "%.0f %s", parts / in_one, scales[i].unit);
		else
			snprintf(ret_text, NUMBER_TEXT, "%.0f %s %.0f %s", floor(parts / in_one),
			        scales[i].unit, fmod(parts, in_one), scales[i].part_unit);
		return ret_text;
	}
	return seconds_format(seconds, ret_text);
}

char *time_format(time_t time, char *ret_text)
{
	struct tm local;

	*ret_text = '\0';
	if (localtime_r(&time, &local))
		strftime(ret_text, NUMBER_TEXT, "%F %T", &local);
	return ret_text;
}

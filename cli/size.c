/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people write and read them.
 *
 * A text is a decimal number followed by a unit out of a table; a formatted number is scaled to the
 * largest unit of a table that leaves it at 1 or more and printed with three significant digits,
 * zeros trimmed. Cache sizes go by powers of 1024 whatever the spelling (K, KB, KiB), because that
 * is how caches are built; counts and times go by powers of 1000.
 * Invariant: what size_format() prints, size_parse() reads, within the three digits.
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
/* Less is not told apart, but 0 is said of nothing else. */
#define LEAST 1e-3
#define ROUNDED 5e-3 /* of a number with three digits */
#define LEAST_TEXT "<0.001"

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

/* Ascending, for printing. */
static const struct unit size_short[] = {
        {"B", 1},
        {"K", KI},
        {"M", KI *KI},
        {"G", KI *KI *KI},
        {"T", KI *KI *KI *KI},
        {NULL, 0},
};

static const struct unit count_short[] = {
        {"", 1},
        {" k", 1e3},
        {" M", 1e6},
        {" G", 1e9},
        {" T", 1e12},
        {NULL, 0},
};

static const struct unit second_short[] = {
        {" ns", 1e-9},
        {" us", 1e-6},
        {" ms", 1e-3},
        {" s", 1},
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

/* Three significant digits, without an exponent below a million. */
static void print_digits(double value, char *ret_text)
{
	int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;

	if (fabs(value) >= 1e6) {
		snprintf(ret_text, NUMBER_TEXT, "%.3g", value);
		return;
	}
	if (value < 0.9995 && value > 0)
		decimals = (int)fmin(2 - floor(log10(value)), 9);
	snprintf(ret_text, NUMBER_TEXT, "%.*f", decimals, value);
	if (!strchr(ret_text, '.'))
		return;
	for (char *last = ret_text + strlen(ret_text) - 1; *last == '0' || *last == '.'; last--) {
		bool point = *last == '.';

		*last = '\0';
		if (point)
			break;
	}
}

static char *format_special(double value, char *ret_text)
{
	strcpy(ret_text, isnan(value) ? "-" : "never");
	return ret_text;
}

/* Rounding must not give "1024K" where "1M" is meant: compare with half a digit less. */
static char *format_scaled(
        double value, const struct unit *units, double zero_below, char *ret_text)
{
	const struct unit *unit = units;

	if (!isfinite(value))
		return format_special(value, ret_text);
	if (fabs(value) < zero_below)
		value = 0;
	while (unit[1].name && value / unit[1].factor >= 0.9995)
		unit++;
	print_digits(value / unit->factor, ret_text);
	if (value != 0 || unit->factor == 1)
		strncat(ret_text, unit->name, NUMBER_TEXT - 1 - strlen(ret_text));
	return ret_text;
}

char *size_format(double bytes, char *ret_text)
{
	return format_scaled(bytes, size_short, 0.5, ret_text);
}

char *count_format(double count, char *ret_text)
{
	return count > 0 && count < LEAST ? strcpy(ret_text, LEAST_TEXT)
	                                  : format_scaled(count, count_short, LEAST, ret_text);
}

char *seconds_format(double seconds, char *ret_text)
{
	if (seconds == 0)
		return strcpy(ret_text, "0 s");
	return format_scaled(seconds, second_short, 0, ret_text);
}

char *percent_format(double fraction, char *ret_text)
{
	if (!isfinite(fraction))
		return format_special(fraction, ret_text);
	return strcat(ratio_format(fraction * 100, ret_text), " %");
}

char *ratio_format(double ratio, char *ret_text)
{
	if (!isfinite(ratio))
		return format_special(ratio, ret_text);
	if (ratio > 0 && ratio < LEAST)
		return strcpy(ret_text, LEAST_TEXT);
	print_digits(fabs(ratio) < LEAST ? 0 : ratio, ret_text);
	return ret_text;
}

/* SPDX-License-Identifier: MIT */
/*
 * Numbers and names as sentences have them.
 *
 * A number is scaled to the largest unit of a table that leaves it at 1 or more and printed with
 * three significant digits, zeros trimmed. Cache sizes go by powers of 1024, because that is how
 * caches are built; counts and times go by powers of 1000.
 *
 * Names come from outside (a file may be called anything): the middle of a long one is left out,
 * and what is no character, or one that moves the cursor, becomes '?'.
 */

#include "words.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KI 1024.0
/* Less is not told apart, but 0 is said of nothing else. */
#define LEAST 1e-3
#define LEAST_TEXT "<0.001"

/* Ascending, closed by one without a name. */
struct unit {
	const char *name;
	double factor;
};

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
	if (value < 0) {
		*ret_text = '-';
		format_scaled(-value, units, 0, ret_text + 1);
		return ret_text;
	}
	while (unit[1].name && value / unit[1].factor >= 0.9995)
		unit++;
	print_digits(value / unit->factor, ret_text);
	if (value != 0 || unit->factor == 1)
		strncat(ret_text, unit->name, NUMBER_TEXT - 1 - strlen(ret_text));
	return ret_text;
}

char *mtl_size_format(double bytes, char *ret_text)
{
	return format_scaled(bytes, size_short, 0.5, ret_text);
}

char *mtl_count_format(double count, char *ret_text)
{
	return count > 0 && count < LEAST ? strcpy(ret_text, LEAST_TEXT)
	                                  : format_scaled(count, count_short, LEAST, ret_text);
}

char *mtl_seconds_format(double seconds, char *ret_text)
{
	if (seconds == 0)
		return strcpy(ret_text, "0 s");
	return format_scaled(seconds, second_short, 0, ret_text);
}

char *mtl_percent_format(double fraction, char *ret_text)
{
	if (!isfinite(fraction))
		return format_special(fraction, ret_text);
	return strcat(mtl_ratio_format(fraction * 100, ret_text), " %");
}

char *mtl_ratio_format(double ratio, char *ret_text)
{
	if (!isfinite(ratio))
		return format_special(ratio, ret_text);
	if (ratio > 0 && ratio < LEAST)
		return strcpy(ret_text, LEAST_TEXT);
	print_digits(fabs(ratio) < LEAST ? 0 : ratio, ret_text);
	return ret_text;
}

char *mtl_number_text(double value, char *ret_text)
{
	value += 0.0; /* no -0 */
	for (int digits = 9; digits <= 17; digits += 4) {
		snprintf(ret_text, NUMBER_TEXT, "%.*g", digits, value);
		if (strtod(ret_text, NULL) == value)
			break;
	}
	return ret_text;
}

/* --- names */

size_t mtl_utf8_length(const char *text, size_t n)
{
	static const struct {
		unsigned char first, last;
		size_t length;
		unsigned char second_first, second_last;
	} forms[] = {
	        {0x01, 0x7f, 1, 0, 0},
	        {0xc2, 0xdf, 2, 0x80, 0xbf},
	        {0xe0, 0xe0, 3, 0xa0, 0xbf},
	        {0xe1, 0xec, 3, 0x80, 0xbf},
	        {0xed, 0xed, 3, 0x80, 0x9f},
	        {0xee, 0xef, 3, 0x80, 0xbf},
	        {0xf0, 0xf0, 4, 0x90, 0xbf},
	        {0xf1, 0xf3, 4, 0x80, 0xbf},
	        {0xf4, 0xf4, 4, 0x80, 0x8f},
	};
	const unsigned char *bytes = (const unsigned char *)text;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		size_t length = forms[i].length;
		if (bytes[0] < forms[i].first || bytes[0] > forms[i].last || length > n)
			continue;
		if (length > 1 &&
		        (bytes[1] < forms[i].second_first || bytes[1] > forms[i].second_last))
			return 0;
		for (size_t k = 2; k < length; k++)
			if ((bytes[k] & 0xc0) != 0x80)
				return 0;
		return length;
	}
	return 0;
}

/* Is it within a character, not at its first byte? */
static bool is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

char *mtl_name_shorten(const char *name, char *ret_text, size_t size)
{
	size_t length = strlen(name), head = (size - 4) / 3, tail = size - 4 - head;
	const char *end = name + length - (length < tail ? length : tail);

	if (length < size)
		return strcpy(ret_text, name);
	while (head > 0 && is_inside(name[head]))
		head--;
	while (is_inside(*end))
		end++;
	snprintf(ret_text, size, "%.*s...%s", (int)head, name, end);
	return ret_text;
}

char *mtl_name_text(const char *name, char *ret_text, size_t size)
{
	mtl_name_shorten(name, ret_text, size);
	for (size_t left = strlen(ret_text), n, at = 0; left > 0; left -= n, at += n) {
		unsigned char c = (unsigned char)ret_text[at];

		n = mtl_utf8_length(ret_text + at, left);
		if (n == 0 || c < ' ' || c == 0x7f) {
			ret_text[at] = '?';
			n = 1;
		}
	}
	return ret_text;
}

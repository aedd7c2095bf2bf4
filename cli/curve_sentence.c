/* SPDX-License-Identifier: MIT */
/*
 * What a curve says, in one plain sentence.
 *
 * Only trusted points (at or above the resolution) speak. Let m be the misses at the smallest of
 * them. The working set is held by the smallest size where misses are at most a tenth of m
 * (HELD); the interval of that size is where the low and the high ends of the 90 % interval cross
 * the same tenth. The rise is told at the largest size where misses are still at least half of m
 * (HIGH_SHARE). A curve whose ends are within the factor FLAT of each other has no working set in
 * this range, and the sentence says that instead. Ratios name what they compare with.
 */

#include "curve_report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "size.h"

#define HELD 0.1
#define HIGH_SHARE 0.5
#define FLAT 1.5
#define RATIO_MAX 100

struct sentence {
	char *text;
	size_t size;
};

struct reading {
	const struct mtl_curve_point *first, *last; /* trusted ones */
	const struct mtl_curve_point *held, *held_low, *held_high;
	const struct mtl_curve_point *rise;
};

static void say(struct sentence *sentence, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static void say(struct sentence *sentence, const char *format, ...)
{
	size_t length = strlen(sentence->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence->text + length, sentence->size - length, format, arguments);
	va_end(arguments);
}

static void note(
        const struct mtl_curve_point **where, const struct mtl_curve_point *point, bool when)
{
	if (when && !*where)
		*where = point;
}

static struct reading read_curve(const struct mtl_curve *curve)
{
	struct reading reading = {0};

	for (size_t i = 0; i < curve->n_points; i++) {
		const struct mtl_curve_point *point = &curve->points[i];

		if (point->below_resolution)
			continue;
		note(&reading.first, point, true);
		double misses = reading.first->misses_per_second;

		note(&reading.held, point, point->misses_per_second <= HELD * misses);
		note(&reading.held_low, point, point->low <= HELD * misses);
		note(&reading.held_high, point, point->high <= HELD * misses);
		if (point->misses_per_second >= HIGH_SHARE * misses)
			reading.rise = point;
		reading.last = point;
	}
	return reading;
}

static void say_working_set(struct sentence *sentence, const struct reading *reading)
{
	char size[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT];

	say(sentence, "%s hold its working set",
	        size_format_words(reading->held->size_bytes, size));
	if (reading->held_low == reading->held_high)
		return;
	size_format_words(reading->held_low->size_bytes, low);
	if (reading->held_high)
		say(sentence, " (%s to %s)", low,
		        size_format_words(reading->held_high->size_bytes, high));
	else
		say(sentence, " (%s or more)", low);
}

static void say_not_held(struct sentence *sentence, const struct reading *reading)
{
	char last[NUMBER_TEXT], first[NUMBER_TEXT], share[NUMBER_TEXT];

	percent_format(reading->last->misses_per_second / reading->first->misses_per_second, share);
	say(sentence, "even %s do not hold its working set: %s of the misses at %s remain",
	        size_format_words(reading->last->size_bytes, last), share,
	        size_format_words(reading->first->size_bytes, first));
}

static void say_rise(struct sentence *sentence, const struct mtl_curve_point *high,
        const struct mtl_curve_point *low)
{
	char size[NUMBER_TEXT], from[NUMBER_TEXT], to[NUMBER_TEXT], times[NUMBER_TEXT];
	double ratio = high->misses_per_second / low->misses_per_second;

	if (high->size_bytes >= low->size_bytes)
		return;
	say(sentence, "; below %s misses rise ", size_format_words(high->size_bytes, size));
	if (ratio < RATIO_MAX)
		say(sentence, "%sx",
		        ratio_format(ratio < 10 ? round(ratio * 10) / 10 : round(ratio), times));
	else
		say(sentence, "from %s to %s a second", count_format(low->misses_per_second, from),
		        count_format(high->misses_per_second, to));
}

static bool say_special(struct sentence *sentence, const struct reading *reading)
{
	char first[NUMBER_TEXT], last[NUMBER_TEXT], misses[NUMBER_TEXT];

	if (!reading->first) {
		say(sentence, "all of these sizes are below the resolution");
		return true;
	}
	size_format_words(reading->first->size_bytes, first);
	size_format_words(reading->last->size_bytes, last);
	count_format(reading->last->misses_per_second, misses);
	if (reading->first->misses_per_second <= 0)
		say(sentence, "it hardly misses with %s or more", first);
	else if (reading->first == reading->last)
		say(sentence, "with %s it misses %s times a second", first, misses);
	else if (reading->first->misses_per_second < FLAT * reading->last->misses_per_second)
		say(sentence,
		        "from %s to %s the size makes little difference: it misses about %s "
		        "times a second",
		        first, last, misses);
	else
		return false;
	return true;
}

void curve_sentence(const struct mtl_curve *curve, char *ret_text, size_t size)
{
	struct sentence sentence = {.text = ret_text, .size = size};
	struct reading reading = read_curve(curve);
	char limit[NUMBER_TEXT];

	ret_text[0] = '\0';
	if (!say_special(&sentence, &reading)) {
		reading.held ? say_working_set(&sentence, &reading)
		             : say_not_held(&sentence, &reading);
		say_rise(&sentence, reading.rise, reading.held ?: reading.last);
	}
	if (curve->n_points && curve->points[0].below_resolution)
		say(&sentence, "; cannot tell below %s",
		        size_format_words(
		                reading.first ? reading.first->size_bytes : curve->resolution_bytes,
		                limit));
	say(&sentence, ".");
	if (ret_text[0] >= 'a' && ret_text[0] <= 'z')
		ret_text[0] -= 'a' - 'A';
}

/* SPDX-License-Identifier: MIT */
/*
 * What a curve says, in one plain sentence, out of nothing but listed sizes and their misses, so
 * that it never says other than the table.
 *
 * Only trusted points (at or above the resolution) speak. The smallest of them has the most misses,
 * m. The working set is held by the smallest size whose misses are below HELD times m; it is
 * uncertain when the 90 % interval of that size, or of the listed size before it, has HELD times m
 * inside. The rise is told between the two neighbours whose misses differ most. A curve whose ends
 * are within the factor FLAT of each other has no working set in this range.
 */

#include "curve_report.h"

#include <math.h>
#include <string.h>

#include "size.h"

#define HELD 0.05
#define FLAT 1.5
#define RATIO_MAX 100

struct sentence {
	char *text;
	size_t size;
};

/* NULL where there is none. */
struct reading {
	const struct mtl_curve_point *first, *last; /* trusted ones */
	const struct mtl_curve_point *held;
	const struct mtl_curve_point *uncertain;
	const struct mtl_curve_point *rise; /* the smaller size; the next point is the larger one */
};

#define say(sentence, ...) text_append((sentence)->text, (sentence)->size, __VA_ARGS__)

static double fall_after(const struct mtl_curve_point *point)
{
	return point->misses_per_second - point[1].misses_per_second;
}

static void find_rise(struct reading *reading)
{
	for (const struct mtl_curve_point *p = reading->first; p < reading->last; p++) {
		if (fall_after(p) > (reading->rise ? fall_after(reading->rise) : 0))
			reading->rise = p;
	}
}

static void find_held(struct reading *reading)
{
	double limit = HELD * reading->first->misses_per_second;

	for (const struct mtl_curve_point *p = reading->first; p <= reading->last; p++) {
		if (p->misses_per_second >= limit)
			continue;
		reading->held = p;
		if (p->high >= limit)
			reading->uncertain = p;
		else if (p > reading->first && p[-1].low < limit)
			reading->uncertain = p - 1;
		return;
	}
}

static struct reading read_curve(const struct mtl_curve *curve)
{
	struct reading reading = {0};

	for (size_t i = 0; i < curve->n_points; i++) {
		if (curve->points[i].below_resolution)
			continue;
		if (!reading.first)
			reading.first = &curve->points[i];
		reading.last = &curve->points[i];
	}
	if (reading.first) {
		find_rise(&reading);
		find_held(&reading);
	}
	return reading;
}

static void say_working_set(
        struct sentence *sentence, const struct reading *reading, const struct mtl_curve *curve)
{
	char size[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT];
	const struct mtl_curve_point *uncertain = reading->uncertain;

	say(sentence, "%s holds its working set (as seen within %s of CPU time)",
	        size_format(reading->held->size_bytes, size),
	        seconds_format(curve->footprint_window_seconds, low));
	if (!uncertain)
		return;
	size_format(uncertain->size_bytes, size);
	say(sentence, ", which is uncertain: 90 %% interval %s .. %s/s at %s, run longer",
	        count_format(uncertain->low, low), count_format(uncertain->high, high), size);
}

static void say_not_held(struct sentence *sentence, const struct reading *reading)
{
	char last[NUMBER_TEXT], first[NUMBER_TEXT], share[NUMBER_TEXT];

	percent_format(reading->last->misses_per_second / reading->first->misses_per_second, share);
	say(sentence, "even %s does not hold its working set: %s of the misses at %s remain%s",
	        size_format(reading->last->size_bytes, last), share,
	        size_format(reading->first->size_bytes, first),
	        isinf(reading->last->fill_time_seconds) ? ", those of new pages" : "");
}

static void say_rise(struct sentence *sentence, const struct mtl_curve_point *high)
{
	const struct mtl_curve_point *low = high + 1;
	char size[NUMBER_TEXT], smaller[NUMBER_TEXT], from[NUMBER_TEXT], to[NUMBER_TEXT];
	double ratio = high->misses_per_second / low->misses_per_second;

	say(sentence, "; from %s down to %s misses rise from %s%s to %s/s",
	        size_format(low->size_bytes, size), size_format(high->size_bytes, smaller),
	        count_format(low->misses_per_second, from), low->misses_per_second > 0 ? "/s" : "",
	        count_format(high->misses_per_second, to));
	if (low->misses_per_second > 0 && ratio < RATIO_MAX)
		say(sentence, " (%sx)",
		        ratio_format(ratio < 10 ? round(ratio * 10) / 10 : round(ratio), size));
}

/* A range in which no size holds more than another. */
static bool say_special(
        struct sentence *sentence, const struct reading *reading, const struct mtl_curve *curve)
{
	char first[NUMBER_TEXT], last[NUMBER_TEXT], misses[NUMBER_TEXT], most[NUMBER_TEXT];

	if (!reading->first) {
		say(sentence, "all of these sizes are below the resolution");
		return true;
	}
	size_format(reading->first->size_bytes, first);
	size_format(reading->last->size_bytes, last);
	count_format(reading->last->misses_per_second, misses);
	count_format(reading->first->misses_per_second, most);
	if (isinf(reading->first->fill_time_seconds))
		say(sentence,
		        "%s holds all it touches within %s of CPU time: %s misses/s, of new pages",
		        first, seconds_format(curve->footprint_window_seconds, last), misses);
	else if (reading->first->misses_per_second <= 0)
		say(sentence, "with %s or more it does not miss", first);
	else if (reading->first == reading->last)
		say(sentence, "at %s it has %s misses/s", first, misses);
	else if (reading->first->misses_per_second < FLAT * reading->last->misses_per_second)
		say(sentence, "from %s to %s the size makes little difference: %s%s%s misses/s",
		        first, last, most, strcmp(most, misses) ? " and " : "",
		        strcmp(most, misses) ? misses : "");
	else
		return false;
	return true;
}

static void say_limit(
        struct sentence *sentence, const struct reading *reading, const struct mtl_curve *curve)
{
	char limit[NUMBER_TEXT];

	if (curve->n_points && curve->points[0].below_resolution)
		say(sentence, "; cannot tell below %s",
		        size_format(reading->first ? reading->first->size_bytes
		                                   : curve->resolution_bytes,
		                limit));
}

void curve_sentence(const struct mtl_curve *curve, char *ret_text, size_t size)
{
	struct sentence sentence = {.text = ret_text, .size = size};
	struct reading reading = read_curve(curve);

	ret_text[0] = '\0';
	if (!say_special(&sentence, &reading, curve)) {
		reading.held ? say_working_set(&sentence, &reading, curve)
		             : say_not_held(&sentence, &reading);
		if (reading.rise)
			say_rise(&sentence, reading.rise);
	}
	say_limit(&sentence, &reading, curve);
	say(&sentence, ".");
	if (ret_text[0] >= 'a' && ret_text[0] <= 'z')
		ret_text[0] -= 'a' - 'A';
}

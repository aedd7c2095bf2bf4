/* SPDX-License-Identifier: MIT */
/*
 * What the curve of a trace says, in one plain sentence, out of nothing but its listed points: the
 * smallest size that holds the working set, where misses fall most, and what is left at the end.
 *
 * The working set is held by the smallest size at which misses beside the first accesses are below
 * HELD times those at the smallest size.
 */

#include "trace_curve.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "size.h"

#define HELD 0.05

struct sentence {
	const struct trace_curve *curve;
	char *text;
	size_t size;
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

static const char *size_of(
        const struct sentence *sentence, const struct trace_point *point, char *text)
{
	const struct trace_facts *facts = sentence->curve->facts;

	trace_size_text(facts, point->size_bytes, text);
	if (!facts->bytes)
		strncat(text, " data", NUMBER_TEXT - 1 - strlen(text));
	return text;
}

static const struct trace_point *find_held(const struct trace_curve *curve, double cold)
{
	double limit = HELD * (curve->points[0].miss_ratio - cold);

	for (size_t i = 1; i < curve->n_points; i++) {
		if (curve->points[i].miss_ratio - cold <= limit)
			return &curve->points[i];
	}
	return NULL;
}

/* The smaller of the two neighbours between which misses fall most; NULL: they do not. */
static const struct trace_point *find_fall(const struct trace_curve *curve)
{
	const struct trace_point *most = NULL;
	double fall = 0;

	for (size_t i = 0; i + 1 < curve->n_points; i++) {
		const struct trace_point *point = &curve->points[i];

		if (point->miss_ratio - point[1].miss_ratio <= fall)
			continue;
		fall = point->miss_ratio - point[1].miss_ratio;
		most = point;
	}
	return most;
}

static void say_held(
        struct sentence *sentence, const struct trace_point *held, const struct trace_point *last)
{
	char size[NUMBER_TEXT], ratio[NUMBER_TEXT];

	if (held)
		say(sentence, "%s holds its working set, with a miss ratio of %s",
		        size_of(sentence, held, size), ratio_format(held->miss_ratio, ratio));
	else
		say(sentence, "even %s does not hold its working set: the miss ratio is still %s",
		        size_of(sentence, last, size), ratio_format(last->miss_ratio, ratio));
}

static void say_fall(struct sentence *sentence, const struct trace_point *fall)
{
	char from[NUMBER_TEXT], to[NUMBER_TEXT], before[NUMBER_TEXT], after[NUMBER_TEXT];

	if (!fall)
		return;
	say(sentence, "; it falls most from %s to %s, from %s to %s", size_of(sentence, fall, from),
	        size_of(sentence, fall + 1, to), ratio_format(fall->miss_ratio, before),
	        ratio_format(fall[1].miss_ratio, after));
}

static void say_cold(struct sentence *sentence, const struct trace_point *last)
{
	char size[NUMBER_TEXT];

	if (isinf(last->fill_time))
		say(sentence, "; at %s only first accesses miss", size_of(sentence, last, size));
}

void trace_sentence(const struct trace_curve *curve, char *ret_text, size_t size)
{
	struct sentence sentence = {.curve = curve, .text = ret_text, .size = size};
	const struct trace_point *first = &curve->points[0];
	const struct trace_point *last = &curve->points[curve->n_points - 1];
	const struct trace_facts *facts = curve->facts;
	double cold = fmin(facts->distinct / (double)facts->accesses, last->miss_ratio);
	char at[NUMBER_TEXT], ratio[NUMBER_TEXT];

	ret_text[0] = '\0';
	if (facts->distinct >= (double)facts->accesses)
		say(&sentence, "Nothing is accessed twice: every access misses at every size.");
	else if (isinf(first->fill_time))
		say(&sentence, "At %s it holds all that is accessed: only first accesses miss, %s.",
		        size_of(&sentence, first, at), ratio_format(first->miss_ratio, ratio));
	else if (first->miss_ratio <= last->miss_ratio)
		say(&sentence, "The miss ratio is %s at all of these sizes.",
		        ratio_format(first->miss_ratio, ratio));
	if (*ret_text)
		return;
	say_held(&sentence, find_held(curve, cold), last);
	say_fall(&sentence, find_fall(curve));
	say_cold(&sentence, last);
	say(&sentence, ".");
	if (ret_text[0] >= 'a' && ret_text[0] <= 'z')
		ret_text[0] -= 'a' - 'A';
}

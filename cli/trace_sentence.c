/* SPDX-License-Identifier: MIT */
/*
 * What the curve of a trace says, in one plain sentence: the size that holds the working set
 * (trace_fine.c), between which of the listed points misses fall most, and what is left at the end.
 */

#include "trace_curve.h"

#include <math.h>
#include <string.h>

#include "size.h"

struct sentence {
	const struct trace_curve *curve;
	char *text;
	size_t size;
};

#define say(sentence, ...) text_append((sentence)->text, (sentence)->size, __VA_ARGS__)

static const char *with_unit(const struct sentence *sentence, char *text)
{
	if (!sentence->curve->facts->bytes)
		strncat(text, strcmp(text, "1") == 0 ? " datum" : " data",
		        NUMBER_TEXT - 1 - strlen(text));
	return text;
}

static const char *point_of(
        const struct sentence *sentence, const struct trace_point *point, char *text)
{
	size_t i = (size_t)(point - sentence->curve->points);

	return with_unit(sentence, trace_point_text(sentence->curve, i, text));
}

static const char *size_of(const struct sentence *sentence, double size, char *text)
{
	return with_unit(sentence, trace_size_text(sentence->curve->facts, size, text));
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

static void say_held(struct sentence *sentence)
{
	const struct trace_curve *curve = sentence->curve;
	const char *holds = curve->facts->bytes || curve->working_set_bytes == 1 ? "holds" : "hold";
	char size[NUMBER_TEXT], ratio[NUMBER_TEXT];

	if (curve->working_set_bytes < curve->resolution_bytes)
		say(sentence, "its working set is below the %s that this sample can tell",
		        size_of(sentence, curve->resolution_bytes, size));
	else
		say(sentence, "%s %s its working set, with a miss ratio of %s",
		        size_of(sentence, curve->working_set_bytes, size), holds,
		        trace_ratio_text(curve->working_set_ratio, ratio));
}

static void say_fall(struct sentence *sentence, const struct trace_point *fall)
{
	char from[NUMBER_TEXT], to[NUMBER_TEXT], before[NUMBER_TEXT], after[NUMBER_TEXT];

	if (!fall)
		return;
	say(sentence, "; of these sizes it falls most from %s to %s, from %s to %s",
	        point_of(sentence, fall, from), point_of(sentence, fall + 1, to),
	        trace_ratio_text(fall->miss_ratio, before),
	        trace_ratio_text(fall[1].miss_ratio, after));
}

static void say_cold(struct sentence *sentence, const struct trace_point *last)
{
	char size[NUMBER_TEXT];

	if (isinf(last->fill_time))
		say(sentence, "; at %s only first accesses miss", point_of(sentence, last, size));
}

void trace_sentence(const struct trace_curve *curve, char *ret_text, size_t size)
{
	struct sentence sentence = {.curve = curve, .text = ret_text, .size = size};
	const struct trace_point *first = &curve->points[0];
	const struct trace_point *last = &curve->points[curve->n_points - 1];
	const struct trace_facts *facts = curve->facts;
	char at[NUMBER_TEXT], ratio[NUMBER_TEXT];

	ret_text[0] = '\0';
	if (facts->distinct >= (double)facts->accesses)
		say(&sentence, "Nothing is accessed twice: every access misses at every size.");
	else if (isinf(first->fill_time))
		say(&sentence, "At %s it holds all that is accessed: only first accesses miss, %s.",
		        point_of(&sentence, first, at), trace_ratio_text(first->miss_ratio, ratio));
	if (*ret_text)
		return;
	if (first->miss_ratio <= last->miss_ratio)
		say(&sentence, "the miss ratio is %s at %s; ",
		        trace_ratio_text(first->miss_ratio, ratio),
		        first == last ? "this size" : "all of these sizes");
	say_held(&sentence);
	say_fall(&sentence, find_fall(curve));
	say_cold(&sentence, last);
	say(&sentence, ".");
	if (ret_text[0] >= 'a' && ret_text[0] <= 'z')
		ret_text[0] -= 'a' - 'A';
}

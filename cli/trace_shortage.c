/* SPDX-License-Identifier: MIT */
/*
 * What is said where memory does not suffice even to begin.
 *
 * trace_pass.c takes off what engines need in any case and shares out the rest by what each needs
 * for a further datum, so that an engine that begins with b bytes and grows by g of all the G needs
 * a rest of b G / g. The least --memory is what satisfies all; it is given in whole K, so that it
 * can be typed as it stands.
 */

#include "trace_shortage.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "size.h"

#define K 1024.0

static bool is_first(const struct engine_wish *wishes, size_t i)
{
	size_t j = 0;

	while (!engine_wish_same(&wishes[j], &wishes[i]))
		j++;
	return j == i;
}

static double all_growth(const struct engine_wish *wishes, size_t n)
{
	double growth = 0;

	for (size_t i = 0; i < n; i++)
		growth += is_first(wishes, i) ? engine_wish_growth(&wishes[i]) : 0;
	return growth;
}

static double least_for_all(const struct engine_wish *wishes, size_t n)
{
	double growth = all_growth(wishes, n), fixed = 0, rest = 0;

	for (size_t i = 0; i < n; i++) {
		double least = (double)engine_wish_least(&wishes[i]);
		unsigned own = engine_wish_growth(&wishes[i]);

		if (own)
			rest = fmax(rest, least * growth / own);
		else if (is_first(wishes, i))
			fixed += least;
	}
	return fixed + ceil(rest) + (fixed > 0);
}

static const struct engine_wish *greatest(const struct engine_wish *wishes, size_t n)
{
	const struct engine_wish *most = &wishes[0];

	for (size_t i = 1; i < n; i++)
		if (engine_wish_least(&wishes[i]) > engine_wish_least(most))
			most = &wishes[i];
	return most;
}

void trace_shortage(const struct engine_wish *wishes, size_t n, uint64_t memory_bytes,
        unsigned share, char *ret_error, size_t error_size)
{
	const struct engine_wish *most = greatest(wishes, n);
	double least = least_for_all(wishes, n) * share;
	char what[80], limit[NUMBER_TEXT], needed[NUMBER_TEXT];

	engine_wish_text(most, what, sizeof(what));
	size_format((double)engine_wish_least(most), needed);
	if (!memory_bytes || least <= (double)memory_bytes) {
		snprintf(ret_error, error_size,
		        "the machine has not enough memory even to begin: %s needs %s", what,
		        needed);
		return;
	}
	snprintf(ret_error, error_size,
	        "there is not enough memory even to begin: %s needs %s, and %s may be used; "
	        "--memory %.0fK is the least",
	        what, needed, size_format((double)memory_bytes, limit), ceil(least / K));
}

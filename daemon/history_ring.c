// SPDX-License-Identifier: MIT
/*
 * The last hour of a process at fixed sizes.
 *
 * An entry is the curve as it was at its end, of the window it had then: neighbours overlap, unless
 * a change of phase lies between them. It is due after ENTRY_SECONDS when NEWS observations have
 * come, else after PATIENCE_SECONDS, with what there is: an estimate takes some 2 ms, so that
 * processes of which little is seen cost little. Memory grows with the entries.
 *
 * Sizes are those that anybody may ask for later, so they are many and fixed; what lies between two
 * of them is told with the bounds that both of them are (mtl_history_between()).
 */
#include "history_ring.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define ENTRY_SECONDS 10.0
#define PATIENCE_SECONDS 60.0
#define NEWS 60
#define IDLE_SECONDS 0.01 /* of CPU time: it did not run */
#define SMALLEST 32768.0
#define POWERS 16
#define FIRST_ROOM 16

#define CODE_UNKNOWN UINT16_MAX
#define CODES_AN_OCTAVE 1023.0
#define LEAST_OCTAVE (-16.0)

DEFINE_CLEANUP(struct mtl_history, mtl_history_free)

static const char *const reasons[] = {
        [HISTORY_KNOWN] = "",
        [HISTORY_TOO_FEW] = "too few observations",
        [HISTORY_PAUSED] = "paused: a debugger was attached",
        [HISTORY_IDLE] = "it did not run",
};

uint16_t history_code(double value)
{
	double code = (log2(value) - LEAST_OCTAVE) * CODES_AN_OCTAVE;

	if (isnan(value))
		return CODE_UNKNOWN;
	return value > 0 && code >= 1 ? (uint16_t)lround(fmin(code, CODE_UNKNOWN - 1)) : 0;
}

double history_value(uint16_t code)
{
	if (code == CODE_UNKNOWN)
		return NAN;
	return code ? exp2(code / CODES_AN_OCTAVE + LEAST_OCTAVE) : 0;
}

/* --- sizes */

static void insert_size(struct history_ring *history, double size)
{
	unsigned i = history->n_sizes;

	if (!(size > 0) || i == HISTORY_SIZES)
		return;
	for (unsigned k = 0; k < i; k++)
		if (history->sizes[k] == size)
			return;
	for (; i > 0 && history->sizes[i - 1] > size; i--)
		history->sizes[i] = history->sizes[i - 1];
	history->sizes[i] = size;
	history->n_sizes++;
}

void history_begin(struct history_ring *history, double l2_bytes, double last_cache_bytes,
        double wall, double offset)
{
	*history = (struct history_ring){.begin = wall - offset, .end = wall - offset};
	for (unsigned i = 0; i < POWERS; i++)
		insert_size(history, SMALLEST * exp2(i));
	history->usual[0] = l2_bytes;
	history->usual[1] = last_cache_bytes / 2;
	history->usual[2] = last_cache_bytes;
	for (unsigned i = 0; i < HISTORY_USUAL; i++)
		insert_size(history, history->usual[i]);
}

void history_done(struct history_ring *history)
{
	free(history->entries);
	*history = (struct history_ring){0};
}

/* --- entries */

/* An exec begins to count anew. */
static uint64_t news(const struct history_ring *history, const struct history_now *now)
{
	return now->seen >= history->seen ? now->seen - history->seen : now->seen;
}

bool history_due(const struct history_ring *history, const struct history_now *now)
{
	double passed = now->wall - history->end;

	return passed >= PATIENCE_SECONDS ||
	       (passed >= ENTRY_SECONDS && news(history, now) >= NEWS);
}

enum history_reason history_reason_now(
        const struct history_ring *history, const struct history_now *now)
{
	if (now->cpu - history->cpu < IDLE_SECONDS)
		return HISTORY_IDLE;
	if (now->paused)
		return HISTORY_PAUSED;
	return news(history, now) > 0 ? HISTORY_KNOWN : HISTORY_TOO_FEW;
}

void history_question(const struct history_ring *history, struct mtl_estimate_options *options)
{
	options->sizes = history->sizes;
	options->n_sizes = history->n_sizes;
	options->resamples = HISTORY_RESAMPLES;
}

static int make_room(struct history_ring *history)
{
	unsigned room = history->room ? fmin(2 * history->room, HISTORY_ENTRIES) : FIRST_ROOM;
	struct history_entry *entries;

	if (history->n < history->room || history->room == HISTORY_ENTRIES)
		return 0;
	entries = realloc(history->entries, room * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	history->entries = entries;
	history->next = history->n;
	history->room = room;
	return 0;
}

static void put(uint16_t code[3], double value, double low, double high)
{
	code[0] = history_code(value);
	code[1] = history_code(low);
	code[2] = history_code(high);
}

/* What is decided by windows too short to be trusted is not known. */
static void put_curve(struct history_entry *entry, const struct mtl_curve *curve)
{
	for (size_t i = 0; i < curve->n_points && i < HISTORY_SIZES; i++) {
		const struct mtl_curve_point *point = &curve->points[i];

		if (!point->below_resolution)
			put(entry->misses[i], point->misses_per_second, point->low, point->high);
	}
	if (curve->n_footprint) {
		const struct mtl_footprint_point *last = &curve->footprint[curve->n_footprint - 1];

		put(entry->footprint, last->bytes, last->low, last->high);
	}
}

int history_add(struct history_ring *history, const struct history_now *now,
        enum history_reason reason, const struct mtl_curve *curve)
{
	struct history_entry *entry;
	int r = make_room(history);

	if (r < 0)
		return r;
	entry = &history->entries[history->next];
	memset(entry, 0xff, sizeof(*entry)); /* every code: unknown */
	entry->end_ds = (uint32_t)((now->wall - history->begin) * 10);
	entry->wall_ds = (uint16_t)fmin((now->wall - history->end) * 10, UINT16_MAX);
	entry->cpu_seconds = (float)fmax(now->cpu - history->cpu, 0);
	entry->reason = reason;
	entry->changed = now->changes > history->changes;
	if (curve)
		put_curve(entry, curve);
	history->next = (history->next + 1) % history->room;
	history->n = fmin(history->n + 1, history->room);
	history->end = now->wall;
	history->cpu = now->cpu;
	history->seen = now->seen;
	history->changes = now->changes;
	return 0;
}

/* --- telling */

static struct mtl_history_value value_of(const uint16_t code[3])
{
	return (struct mtl_history_value){
	        history_value(code[0]), history_value(code[1]), history_value(code[2])};
}

static void tell_entry(const struct history_ring *history, const struct history_entry *entry,
        double wall, const struct mtl_history *told, struct mtl_history_entry *ret_entry)
{
	struct mtl_history_value misses[HISTORY_SIZES];

	ret_entry->seconds_ago = fmax(0, wall - history->begin - entry->end_ds / 10.0);
	ret_entry->wall_seconds = entry->wall_ds / 10.0;
	ret_entry->cpu_seconds = entry->cpu_seconds;
	ret_entry->changed = entry->changed;
	ret_entry->footprint = value_of(entry->footprint);
	snprintf(ret_entry->reason, sizeof(ret_entry->reason), "%s", reasons[entry->reason]);
	for (unsigned i = 0; i < history->n_sizes; i++)
		misses[i] = value_of(entry->misses[i]);
	for (size_t i = 0; i < told->n_sizes; i++)
		ret_entry->misses[i] = mtl_history_between(
		        history->sizes, misses, history->n_sizes, told->sizes[i]);
}

static const struct history_entry *entry_at(const struct history_ring *history, unsigned i)
{
	return &history->entries[(history->next + history->room - history->n + i) % history->room];
}

/* Entries that ended longer ago than HISTORY_SECONDS. */
static unsigned too_old(const struct history_ring *history, double wall)
{
	unsigned i = 0;

	while (i < history->n &&
	        wall - history->begin - entry_at(history, i)->end_ds / 10.0 > HISTORY_SECONDS)
		i++;
	return i;
}

static size_t usual_sizes(const struct history_ring *history, double *ret_sizes)
{
	static const double otherwise[HISTORY_USUAL] = {1 << 20, 8 << 20, 32 << 20};
	size_t n = 0;

	for (unsigned i = 0; i < HISTORY_USUAL; i++)
		if (history->usual[i] > 0 && (n == 0 || history->usual[i] > ret_sizes[n - 1]))
			ret_sizes[n++] = history->usual[i];
	if (n == 0)
		memcpy(ret_sizes, otherwise, sizeof(otherwise));
	return n ? n : HISTORY_USUAL;
}

int history_tell(const struct history_ring *history, double wall, const double *sizes, size_t n,
        struct mtl_history **ret_history)
{
	_cleanup_(mtl_history_freep) struct mtl_history *told = NULL;
	double usual[HISTORY_USUAL];
	unsigned skip = too_old(history, wall);
	int r;

	if (n == 0) {
		n = usual_sizes(history, usual);
		sizes = usual;
	}
	r = mtl_history_new(n, history->n - skip, &told);
	if (r < 0)
		return r;
	memcpy(told->sizes, sizes, n * sizeof(*sizes));
	for (unsigned i = skip; i < history->n; i++)
		tell_entry(history, entry_at(history, i), wall, told, &told->entries[i - skip]);
	*ret_history = TAKE_PTR(told);
	return 0;
}

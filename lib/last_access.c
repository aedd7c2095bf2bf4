/* SPDX-License-Identifier: MIT */
/*
 * The table of last accesses (last_access.h).
 *
 * It is too big for the caches, so accesses are done in blocks: first the home lines of all data
 * are asked for, then they are looked at, four places at once and without a branch that nobody
 * could predict. What is not at home, or new, comes last, when the next line has come too. On
 * processors that compare four numbers at once, that is used.
 */

#include "last_access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_LINES 8
#define BLOCK 64 /* accesses that wait for memory together */

static int allocate(struct mtl_last_access *table, uint64_t n, struct mtl_last_segment *ret_segment)
{
	uint64_t bytes = n * sizeof(struct mtl_last_line);
	struct mtl_last_line *lines;

	if (table->bytes + bytes > table->most)
		return -ENOMEM;
	lines = aligned_alloc(sizeof(*lines), bytes);
	if (!lines)
		return -ENOMEM;
	memset(lines, 0, bytes);
	table->bytes += bytes;
	if (table->bytes > table->peak)
		table->peak = table->bytes;
	*ret_segment = (struct mtl_last_segment){lines, n};
	return 0;
}

int mtl_last_access_init(struct mtl_last_access *ret_table, uint64_t most_bytes)
{
	struct mtl_last_access table = {.most = most_bytes ? most_bytes : UINT64_MAX};

	for (unsigned i = 0; i < LAST_SEGMENTS; i++) {
		if (allocate(&table, LEAST_LINES, &table.segments[i]) < 0) {
			mtl_last_access_done(&table);
			return -ENOMEM;
		}
	}
	*ret_table = table;
	return 0;
}

void mtl_last_access_done(struct mtl_last_access *table)
{
	for (unsigned i = 0; i < LAST_SEGMENTS; i++)
		free(table->segments[i].lines);
	*table = (struct mtl_last_access){0};
}

/* Fibonacci hashing (Knuth, 6.4), with the upper half folded in. */
static inline uint64_t hash_of(uint64_t datum)
{
	return (datum ^ (datum >> 32)) * 0x9e3779b97f4a7c15;
}

static inline unsigned segment_of(uint64_t hash)
{
	return (unsigned)(hash >> (64 - LAST_SEGMENT_BITS));
}

static inline uint64_t home_in(const struct mtl_last_segment *segment, uint64_t hash)
{
	return ((hash << LAST_SEGMENT_BITS >> 32) * segment->n_lines) >> 32;
}

static inline struct mtl_last_line *home_of(const struct mtl_last_access *table, uint64_t datum)
{
	uint64_t hash = hash_of(datum);
	const struct mtl_last_segment *segment = &table->segments[segment_of(hash)];

	return &segment->lines[home_in(segment, hash)];
}

static uint64_t *datum_at(const struct mtl_last_segment *segment, uint64_t place)
{
	return &segment->lines[place / LAST_PLACES].datum[place % LAST_PLACES];
}

static uint64_t *time_at(const struct mtl_last_segment *segment, uint64_t place)
{
	return &segment->lines[place / LAST_PLACES].time[place % LAST_PLACES];
}

static uint64_t place_after(const struct mtl_last_segment *segment, uint64_t place)
{
	return place + 1 < segment->n_lines * LAST_PLACES ? place + 1 : 0;
}

/* The datum's place, or the empty one where it would go. */
static uint64_t probe(const struct mtl_last_segment *segment, uint64_t datum)
{
	uint64_t place = home_in(segment, hash_of(datum)) * LAST_PLACES;

	while (*time_at(segment, place) && *datum_at(segment, place) != datum)
		place = place_after(segment, place);
	return place;
}

/* Room for more in a segment. */
static int grow(struct mtl_last_access *table, struct mtl_last_segment *segment)
{
	struct mtl_last_segment grown;
	int r = allocate(table, segment->n_lines + segment->n_lines * 3 / 8, &grown);

	if (r < 0)
		return r;
	for (uint64_t i = 0; i < segment->n_lines * LAST_PLACES; i++) {
		if (!*time_at(segment, i))
			continue;
		uint64_t place = probe(&grown, *datum_at(segment, i));

		*datum_at(&grown, place) = *datum_at(segment, i);
		*time_at(&grown, place) = *time_at(segment, i);
	}
	free(segment->lines);
	table->bytes -= segment->n_lines * sizeof(struct mtl_last_line);
	*segment = grown;
	return 0;
}

uint64_t *mtl_last_access_time(struct mtl_last_access *table, uint64_t datum)
{
	unsigned index = segment_of(hash_of(datum));
	struct mtl_last_segment *segment = &table->segments[index];
	uint64_t place = probe(segment, datum);

	if (*time_at(segment, place))
		return time_at(segment, place);
	if (table->in_segment[index] >= segment->n_lines * 3) {
		if (grow(table, segment) < 0)
			return NULL;
		place = probe(segment, datum);
	}
	table->in_segment[index]++;
	table->used++;
	*datum_at(segment, place) = datum;
	return time_at(segment, place);
}

/* No memory for the access at `failed`: those after it that were done are undone, last one first.
 */
static void undo(struct mtl_last_access *table, const uint64_t *data, size_t n, size_t failed,
        const uint32_t *late, size_t n_late, const uint64_t *times)
{
	for (size_t i = n; i-- > failed + 1;) {
		if (n_late > 0 && late[n_late - 1] == i)
			n_late--;
		else
			*mtl_last_access_time(table, data[i]) = times[i];
	}
}

static size_t renew_late(struct mtl_last_access *table, const uint64_t *data, size_t n,
        uint64_t now, const uint32_t *late, size_t n_late, uint64_t *ret_times)
{
	for (size_t k = 0; k < n_late; k++) {
		uint64_t *time = mtl_last_access_time(table, data[late[k]]);

		if (!time) {
			undo(table, data, n, late[k], late, n_late, ret_times);
			return late[k];
		}
		ret_times[late[k]] = *time;
		*time = now + late[k];
	}
	return n;
}

/* Bit i: the datum is at place i of the line, or this is empty and the datum is 0. */
static inline unsigned match_anywhere(const struct mtl_last_line *line, uint64_t datum)
{
	return (unsigned)(line->datum[0] == datum) | (unsigned)(line->datum[1] == datum) << 1 |
	       (unsigned)(line->datum[2] == datum) << 2 | (unsigned)(line->datum[3] == datum) << 3;
}

/* At most BLOCK accesses. Those that come last are in their order, and to other data than the
 * rest. */
static inline __attribute__((always_inline)) size_t renew_block(struct mtl_last_access *table,
        const uint64_t *data, size_t n, uint64_t now, uint64_t *ret_times,
        unsigned (*match)(const struct mtl_last_line *line, uint64_t datum))
{
	struct mtl_last_line *homes[BLOCK];
	uint32_t late[BLOCK];
	size_t n_late = 0;

	for (size_t i = 0; i < n; i++) {
		homes[i] = home_of(table, data[i]);
		__builtin_prefetch(homes[i], 1);
	}
	for (size_t i = 0; i < n; i++) {
		unsigned found = match(homes[i], data[i]);
		unsigned place = (unsigned)__builtin_ctz(found | 1u << (LAST_PLACES - 1));
		uint64_t *time = &homes[i]->time[place];

		ret_times[i] = *time;
		if (__builtin_expect(found && *time, 1)) {
			*time = now + i;
		} else {
			late[n_late++] = (uint32_t)i;
			__builtin_prefetch(homes[i] + 1, 1);
		}
	}
	return n_late ? renew_late(table, data, n, now, late, n_late, ret_times) : n;
}

static size_t renew_anywhere(struct mtl_last_access *table, const uint64_t *data, size_t n,
        uint64_t now, uint64_t *ret_times)
{
	return renew_block(table, data, n, now, ret_times, match_anywhere);
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static inline unsigned match_avx2(
        const struct mtl_last_line *line, uint64_t datum)
{
	__m256i data = _mm256_load_si256((const __m256i *)line->datum);
	__m256i equal = _mm256_cmpeq_epi64(data, _mm256_set1_epi64x((long long)datum));

	return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(equal));
}

__attribute__((target("avx2"))) static size_t renew_avx2(struct mtl_last_access *table,
        const uint64_t *data, size_t n, uint64_t now, uint64_t *ret_times)
{
	return renew_block(table, data, n, now, ret_times, match_avx2);
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}
#else
#define renew_avx2 renew_anywhere
static bool has_avx2(void)
{
	return false;
}
#endif

size_t mtl_last_access_renew(struct mtl_last_access *table, const uint64_t *data, size_t n,
        uint64_t now, uint64_t *ret_times)
{
	__typeof__(&renew_anywhere) renew = has_avx2() ? renew_avx2 : renew_anywhere;
	size_t done = 0;

	while (done < n) {
		size_t block = n - done < BLOCK ? n - done : BLOCK;
		size_t renewed = renew(table, data + done, block, now + done, ret_times + done);

		done += renewed;
		if (renewed < block)
			break;
	}
	return done;
}

/* Must an entry with this home, now at `from`, not move to the place `to` before it (cyclically)?
 */
static bool stays(uint64_t to, uint64_t from, uint64_t home)
{
	return to <= from ? to < home && home <= from : to < home || home <= from;
}

/* Later entries of the run move up, unless that would put them before their home (Knuth, 6.4 R). */
void mtl_last_access_remove(struct mtl_last_access *table, uint64_t datum)
{
	unsigned index = segment_of(hash_of(datum));
	struct mtl_last_segment *segment = &table->segments[index];
	uint64_t hole = probe(segment, datum);

	if (!*time_at(segment, hole))
		return;
	for (uint64_t i = place_after(segment, hole); *time_at(segment, i);
	        i = place_after(segment, i)) {
		uint64_t moved = *datum_at(segment, i);

		if (stays(hole, i, home_in(segment, hash_of(moved)) * LAST_PLACES))
			continue;
		*datum_at(segment, hole) = moved;
		*time_at(segment, hole) = *time_at(segment, i);
		hole = i;
	}
	*datum_at(segment, hole) = *time_at(segment, hole) = 0;
	table->in_segment[index]--;
	table->used--;
}

bool mtl_last_access_next(const struct mtl_last_access *table, struct mtl_last_cursor *cursor,
        uint64_t *ret_datum, uint64_t **ret_time)
{
	for (; cursor->segment < LAST_SEGMENTS; cursor->segment++, cursor->place = 0) {
		const struct mtl_last_segment *segment = &table->segments[cursor->segment];

		while (cursor->place < segment->n_lines * LAST_PLACES) {
			uint64_t place = cursor->place++;

			if (!*time_at(segment, place))
				continue;
			*ret_datum = *datum_at(segment, place);
			*ret_time = time_at(segment, place);
			return true;
		}
	}
	return false;
}

double mtl_last_access_displacement(const struct mtl_last_access *table)
{
	struct mtl_last_cursor cursor = {0};
	uint64_t datum, *time;
	double sum = 0;

	while (mtl_last_access_next(table, &cursor, &datum, &time)) {
		const struct mtl_last_segment *segment = &table->segments[cursor.segment];
		uint64_t places = segment->n_lines * LAST_PLACES;
		uint64_t home = home_in(segment, hash_of(datum)) * LAST_PLACES;

		sum += (double)((cursor.place - 1 + places - home) % places);
	}
	return table->used ? sum / (double)table->used : 0;
}

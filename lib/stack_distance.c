/* SPDX-License-Identifier: MIT */
/*
 * The LRU stack of a whole trace, one access at a time (Mattson et al. 1970; Bennett and Kruskal
 * 1975): the distance of an access is the number of marks after that of its datum, plus one.
 *
 * Positions run out after a few accesses for every datum; then the ranks are closed, each datum's
 * position becoming that of its rank. With eight positions a datum this happens once in seven
 * accesses for each of them, and takes one bit of memory a position.
 */

#include "stack_distance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define BLOCK 1024
#define AHEAD 8 /* accesses between prefetch and use */
#define POSITIONS_A_DATUM 8
#define LEAST_POSITIONS 8192
#define LEAST_COUNTS (4 * BLOCK)

DEFINE_CLEANUP(struct mtl_stack, mtl_stack_free)

static uint64_t bytes_now(const struct mtl_stack *s)
{
	return sizeof(*s) + s->last.bytes + s->order.bytes + s->n_counts * sizeof(*s->counts);
}

/* May `more` be allocated on top of what there is? The table of last accesses keeps its own peak.
 */
static int admit(struct mtl_stack *s, uint64_t more)
{
	uint64_t bytes = bytes_now(s) + more;

	if (bytes > s->most_bytes)
		return -ENOMEM;
	s->last.most = s->most_bytes - (bytes - s->last.bytes);
	return 0;
}

static void note_peak(struct mtl_stack *s)
{
	uint64_t bytes = bytes_now(s) - s->last.bytes + s->last.peak;

	if (bytes > s->peak)
		s->peak = bytes;
}

int mtl_stack_new(uint64_t memory_bytes, struct mtl_stack **ret_stack)
{
	_cleanup_(mtl_stack_freep) struct mtl_stack *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->most_bytes = memory_bytes ? memory_bytes : UINT64_MAX;
	if (mtl_last_access_init(&s->last, 0) < 0)
		return -ENOMEM;
	if (mtl_recency_init(&s->order, LEAST_POSITIONS, 0) < 0)
		return -ENOMEM;
	s->counts = calloc(LEAST_COUNTS, sizeof(*s->counts));
	if (!s->counts)
		return -ENOMEM;
	s->n_counts = LEAST_COUNTS;
	if (admit(s, 0) < 0)
		return -ENOMEM;
	*ret_stack = TAKE_PTR(s);
	return 0;
}

struct mtl_stack *mtl_stack_free(struct mtl_stack *stack)
{
	if (!stack)
		return NULL;
	mtl_last_access_done(&stack->last);
	mtl_recency_done(&stack->order);
	free(stack->counts);
	free(stack);
	return NULL;
}

/* Data to the positions of their ranks, on a line with room for more. */
static int close_ranks(struct mtl_stack *s)
{
	uint64_t marks = s->order.marks, capacity = s->order.capacity;
	struct mtl_last_cursor cursor = {0};
	struct mtl_recency order;
	uint64_t datum, *time;
	int r;

	if (marks * POSITIONS_A_DATUM > capacity)
		capacity = marks * POSITIONS_A_DATUM;
	r = admit(s, mtl_recency_bytes_for(capacity)) ?: mtl_recency_init(&order, capacity, marks);
	if (r < 0)
		return r;
	while (mtl_last_access_next(&s->last, &cursor, &datum, &time))
		*time = marks - mtl_recency_after(&s->order, *time - 1);
	mtl_recency_done(&s->order);
	s->order = order;
	return admit(s, 0);
}

/* Counts for the distances of a block of new data. */
static int more_counts(struct mtl_stack *s)
{
	uint64_t n = s->n_counts + s->n_counts / 8 + BLOCK;
	uint64_t *counts;

	if (admit(s, (n - s->n_counts) * sizeof(*counts)) < 0)
		return -ENOMEM;
	counts = realloc(s->counts, n * sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	memset(counts + s->n_counts, 0, (n - s->n_counts) * sizeof(*counts));
	s->counts = counts;
	s->n_counts = n;
	return admit(s, 0);
}

/* Room for one to `most` accesses, all of which may be to new data; ret_n: for how many. */
static int make_room(struct mtl_stack *s, size_t most, size_t *ret_n)
{
	int r = 0;

	if (s->order.end == s->order.capacity)
		r = close_ranks(s);
	if (r == 0 && s->last.used + BLOCK >= s->n_counts)
		r = more_counts(s);
	if (r < 0)
		return r;
	*ret_n = s->order.capacity - s->order.end;
	*ret_n = *ret_n < most ? *ret_n : most;
	return 0;
}

/* Positions + 1 of previous marks, 0 for none, to distances. */
static void measure(struct mtl_stack *s, size_t n, uint64_t *distances)
{
	for (size_t i = 0; i < n; i++) {
		if (i + AHEAD < n && distances[i + AHEAD])
			__builtin_prefetch(
			        mtl_recency_bits(&s->order, distances[i + AHEAD] - 1), 1);
		if (distances[i]) {
			distances[i] = mtl_recency_renew(&s->order, distances[i] - 1) + 1;
		} else {
			mtl_recency_add(&s->order);
			distances[i] = MTL_NEVER;
		}
	}
}

/* A step of its own, because none of these waits for another. */
static void count(struct mtl_stack *s, size_t n, const uint64_t *distances)
{
	s->accesses += n;
	for (size_t i = 0; i < n; i++)
		if (distances[i] != MTL_NEVER)
			s->counts[distances[i]]++;
}

int mtl_stack_access(
        struct mtl_stack *stack, const uint64_t *data, size_t n, uint64_t *ret_distances)
{
	uint64_t block[BLOCK];
	int r = 0;

	for (size_t from = 0, done, asked; from < n && r == 0; from += done) {
		uint64_t *distances = ret_distances ? ret_distances + from : block;

		r = make_room(stack, n - from < BLOCK ? n - from : BLOCK, &asked);
		if (r < 0)
			break;
		done = mtl_last_access_renew(
		        &stack->last, data + from, asked, stack->order.end + 1, distances);
		measure(stack, done, distances);
		count(stack, done, distances);
		if (done < asked)
			r = -ENOMEM;
	}
	note_peak(stack);
	return r;
}

void mtl_stack_forget(struct mtl_stack *stack, uint64_t datum)
{
	mtl_recency_remove(&stack->order, *mtl_last_access_time(&stack->last, datum) - 1);
	mtl_last_access_remove(&stack->last, datum);
}

uint64_t mtl_stack_accesses(const struct mtl_stack *stack)
{
	return stack->accesses;
}

uint64_t mtl_stack_distinct(const struct mtl_stack *stack)
{
	return stack->last.used;
}

uint64_t mtl_stack_bytes(const struct mtl_stack *stack)
{
	return stack->peak;
}

uint64_t mtl_stack_count(const struct mtl_stack *stack, uint64_t distance)
{
	return distance >= 1 && distance < stack->n_counts ? stack->counts[distance] : 0;
}

int mtl_stack_miss_ratios(
        const struct mtl_stack *stack, const double *lines, size_t n, double *ret_ratios)
{
	uint64_t distance = 0, hits = 0;

	for (size_t i = 0; i < n; i++)
		if (!(lines[i] >= 0) || (i && lines[i] < lines[i - 1]))
			return -EINVAL;
	if (!stack->accesses)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		while (distance + 1 < stack->n_counts && (double)(distance + 1) <= lines[i])
			hits += stack->counts[++distance];
		ret_ratios[i] = (double)(stack->accesses - hits) / (double)stack->accesses;
	}
	return 0;
}

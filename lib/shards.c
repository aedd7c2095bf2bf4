/* SPDX-License-Identifier: MIT */
/*
 * SHARDS (Waldspurger et al. 2015): a datum is sampled when the hash of it is not above a
 * threshold, and then so are all its accesses. With the rate R, the part of all hashes that is
 * sampled, a distance d among the sampled data stands for d / R, and each sampled access for 1 / R
 * accesses.
 *
 * Fixed size: when more data are kept than wanted, that with the greatest hash goes and the
 * threshold falls below it. What was seen before keeps the weight it had, 1 / (rate of then); the
 * published form scales all counts down by the quotient of the rates instead, which is the same but
 * for a common factor.
 *
 * Correction (SHARDS-adj): the weights should add up to the number of accesses. What is missing, or
 * too much, is due to few data with many accesses and is given to the smallest distance.
 *
 * Distances are kept in log-linear bins (histogram.h), so a size is known to 1/256.
 */

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "histogram.h"
#include "splitmix.h"
#include "stack_distance.h"

#define BLOCK 1024

struct candidate {
	uint64_t hash, datum;
};

struct mtl_shards {
	struct mtl_stack *stack;
	uint64_t threshold; /* greatest hash that is sampled */
	uint64_t accesses, sampled;
	double first;      /* weight of first accesses: how many data there are */
	uint64_t greatest; /* distance */
	size_t most_lines, n_heap;
	struct candidate *heap;         /* of fixed size: the kept data, greatest hash first */
	double weights[HISTOGRAM_BINS]; /* of distances */
};

DEFINE_CLEANUP(struct mtl_shards, mtl_shards_free)

static double rate_of(const struct mtl_shards *s)
{
	return ((double)s->threshold + 1) * 0x1p-64;
}

int mtl_shards_new(
        double rate, size_t most_lines, uint64_t memory_bytes, struct mtl_shards **ret_shards)
{
	_cleanup_(mtl_shards_freep) struct mtl_shards *s = NULL;
	uint64_t own = sizeof(*s) + (most_lines + 1) * sizeof(*s->heap);
	int r;

	if (!(rate > 0 && rate <= 1) || most_lines > SIZE_MAX / 2 / sizeof(*s->heap))
		return -EINVAL;
	if (memory_bytes && memory_bytes <= own)
		return -ENOMEM;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	r = mtl_stack_new(memory_bytes ? memory_bytes - own : 0, &s->stack);
	if (r < 0)
		return r;
	s->heap = most_lines ? malloc((most_lines + 1) * sizeof(*s->heap)) : NULL;
	if (most_lines && !s->heap)
		return -ENOMEM;
	s->most_lines = most_lines;
	s->threshold = rate < 1 ? (uint64_t)fmax(rate * 0x1p64 - 1, 0) : UINT64_MAX;
	*ret_shards = TAKE_PTR(s);
	return 0;
}

struct mtl_shards *mtl_shards_free(struct mtl_shards *shards)
{
	if (!shards)
		return NULL;
	mtl_stack_free(shards->stack);
	free(shards->heap);
	free(shards);
	return NULL;
}

/* The heap: no entry's hash is above that of the one at half its place. */
static void heap_push(struct mtl_shards *s, struct candidate candidate)
{
	size_t i = ++s->n_heap;

	for (; i > 1 && s->heap[i / 2 - 1].hash < candidate.hash; i /= 2)
		s->heap[i - 1] = s->heap[i / 2 - 1];
	s->heap[i - 1] = candidate;
}

static struct candidate heap_pop(struct mtl_shards *s)
{
	struct candidate top = s->heap[0], last = s->heap[--s->n_heap];
	size_t i = 1;

	for (size_t child = 2; child <= s->n_heap; i = child, child *= 2) {
		child += child < s->n_heap && s->heap[child].hash > s->heap[child - 1].hash;
		if (s->heap[child - 1].hash <= last.hash)
			break;
		s->heap[i - 1] = s->heap[child - 1];
	}
	s->heap[i - 1] = last;
	return top;
}

static void count(struct mtl_shards *s, const uint64_t *distances, size_t n)
{
	double weight = 1 / rate_of(s);

	s->sampled += n;
	for (size_t i = 0; i < n; i++) {
		if (distances[i] == MTL_NEVER) {
			s->first += weight;
			continue;
		}
		uint64_t distance = (uint64_t)fmin((double)distances[i] * weight, 0x1p63);

		s->weights[mtl_histogram_bin_of(distance)] += weight;
		if (distance > s->greatest)
			s->greatest = distance;
	}
}

/* Data that are too many go, and all that share the greatest hash with them. */
static void shrink(struct mtl_shards *s)
{
	while (s->n_heap > s->most_lines || (s->n_heap > 0 && s->heap[0].hash > s->threshold)) {
		struct candidate candidate = heap_pop(s);

		mtl_stack_forget(s->stack, candidate.datum);
		if (candidate.hash <= s->threshold)
			s->threshold = candidate.hash - 1;
	}
}

static int access_block(struct mtl_shards *s, const uint64_t *data, size_t n)
{
	uint64_t distances[BLOCK];
	int r = mtl_stack_access(s->stack, data, n, distances);

	if (r < 0)
		return r;
	count(s, distances, n);
	return 0;
}

/* One at a time, because each may lower the threshold for the next. */
static int access_bounded(struct mtl_shards *s, const uint64_t *data, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		uint64_t before = mtl_stack_distinct(s->stack), hash = splitmix_finalise(data[i]);

		if (hash > s->threshold)
			continue;
		r = access_block(s, &data[i], 1);
		if (r == 0 && mtl_stack_distinct(s->stack) > before)
			heap_push(s, (struct candidate){hash, data[i]});
		shrink(s);
	}
	return r;
}

int mtl_shards_access(struct mtl_shards *shards, const uint64_t *data, size_t n)
{
	uint64_t chosen[BLOCK];
	int r = 0;

	for (size_t from = 0; from < n && r == 0; from += BLOCK) {
		size_t block = n - from < BLOCK ? n - from : BLOCK, kept = 0;

		for (size_t i = 0; i < block; i++) {
			chosen[kept] = data[from + i];
			kept += splitmix_finalise(data[from + i]) <= shards->threshold;
		}
		shards->accesses += block;
		if (kept > 0)
			r = shards->most_lines ? access_bounded(shards, chosen, kept)
			                       : access_block(shards, chosen, kept);
	}
	return r;
}

uint64_t mtl_shards_accesses(const struct mtl_shards *shards)
{
	return shards->accesses;
}

uint64_t mtl_shards_sampled(const struct mtl_shards *shards)
{
	return shards->sampled;
}

double mtl_shards_distinct(const struct mtl_shards *shards)
{
	return shards->first;
}

double mtl_shards_rate(const struct mtl_shards *shards)
{
	return rate_of(shards);
}

uint64_t mtl_shards_bytes(const struct mtl_shards *shards)
{
	return sizeof(*shards) + mtl_stack_bytes(shards->stack) +
	       (shards->most_lines ? (shards->most_lines + 1) * sizeof(*shards->heap) : 0);
}

/* Weight of the distances in a bin that fit into `lines`, taken to be spread evenly. */
static double fitting(const struct mtl_shards *s, unsigned bin, double lines)
{
	double lower = (double)mtl_histogram_lower(bin);
	double width = fmin((double)mtl_histogram_width(bin), (double)s->greatest - lower);

	return width > 0 ? s->weights[bin] * fmin((floor(lines) - lower) / width, 1) : 0;
}

int mtl_shards_miss_ratios(
        const struct mtl_shards *shards, const double *lines, size_t n, double *ret_ratios)
{
	double total = (double)shards->accesses, hits = 0, seen = shards->first;
	unsigned bin = 0;

	for (size_t i = 0; i < n; i++)
		if (!(lines[i] >= 0) || (i && lines[i] < lines[i - 1]))
			return -EINVAL;
	if (!shards->sampled)
		return -ENODATA;
	for (unsigned i = 0; i < HISTOGRAM_BINS; i++)
		seen += shards->weights[i];
	for (size_t i = 0; i < n; i++) {
		for (; bin + 1 < HISTOGRAM_BINS && (double)mtl_histogram_lower(bin + 1) <= lines[i];
		        bin++)
			hits += shards->weights[bin];
		double fit =
		        lines[i] < 1 ? 0 : hits + fitting(shards, bin, lines[i]) + total - seen;
		if (lines[i] >= shards->first)
			fit = total - shards->first;
		ret_ratios[i] = fmin(fmax(1 - fit / total, 0), 1);
	}
	return 0;
}

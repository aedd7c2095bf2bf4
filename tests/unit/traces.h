/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_TRACES_H
#define MTL_TEST_TRACES_H

/*
 * Small traces and what is true of them, found in the most obvious way: by simulating an LRU stack
 * and looking at every window. All address-independent traces of 1 ... N accesses are walked with
 *
 *     struct trace t = {0};
 *     while (trace_next(&t, N))
 *             ... look at t ...
 *
 * (26,442 of them for N = 9, which trace_longest() makes 7 and 1,155 under valgrind) and random
 * ones are made by trace_random() from a seed. Arrays count from 0: ai[0] is the access at time 1,
 * first[0] is f_1. Times in them count from 1.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mtl.h"
#include "simulate.h"

#define TRACE_MOST 1000 /* accesses */

struct trace {
	size_t n, m;
	uint64_t ai[TRACE_MOST];
	uint64_t rt[TRACE_MOST], rd[TRACE_MOST]; /* MTL_NEVER at first accesses */
	uint64_t first[TRACE_MOST];              /* of datum k + 1: time of its first access */
	uint64_t last[TRACE_MOST];               /* and of its last, counted from the end */
};

static inline size_t trace_longest(size_t longest)
{
	return RUNNING_ON_VALGRIND && longest > 7 ? 7 : longest;
}

/* Everything else from n and ai, by keeping the LRU stack: O(n m). */
static inline void trace_fill(struct trace *t)
{
	uint64_t stack[TRACE_MOST];

	t->m = 0;
	for (size_t i = 0; i < t->n; i++) {
		size_t e = t->ai[i] - 1, depth = 0;
		bool new = e == t->m;
		assert(e <= t->m && e < TRACE_MOST);
		if (new) {
			depth = t->m++;
			t->first[e] = i + 1;
		} else {
			while (stack[depth] != e)
				depth++;
		}
		memmove(&stack[1], &stack[0], depth * sizeof(*stack));
		stack[0] = e;
		t->rd[i] = new ? MTL_NEVER : depth + 1;
		t->rt[i] = new ? MTL_NEVER : t->last[e] - (t->n - i);
		t->last[e] = t->n - i;
	}
}

/* From any numbers. */
static inline void trace_from_data(struct trace *t, const uint64_t *data, size_t n)
{
	uint64_t m = 0;

	assert(n <= TRACE_MOST);
	t->n = n;
	for (size_t i = 0; i < n; i++) {
		t->ai[i] = 0;
		for (size_t j = 0; j < i && t->ai[i] == 0; j++)
			t->ai[i] = data[j] == data[i] ? t->ai[j] : 0;
		if (t->ai[i] == 0)
			t->ai[i] = ++m;
	}
	trace_fill(t);
}

/* From letters, spaces left out: "abc abc". */
static inline void trace_from_letters(struct trace *t, const char *letters)
{
	uint64_t data[TRACE_MOST];
	size_t n = 0;

	for (; *letters; letters++)
		if (*letters != ' ')
			data[n++] = (unsigned char)*letters;
	trace_from_data(t, data, n);
}

/* The next of all traces of 1 ... longest accesses, by length, then in lexicographic order. */
static inline bool trace_next(struct trace *t, size_t longest)
{
	size_t i = t->n;

	/* the last access that can be to a greater datum: not yet one that is new there */
	while (i > 0 && (t->rd[i - 1] == MTL_NEVER))
		i--;
	if (i > 0)
		t->ai[i - 1]++;
	else if (t->n++ == longest)
		return false;
	for (; i < t->n; i++)
		t->ai[i] = 1;
	trace_fill(t);
	return true;
}

/*
 * 1 ... longest accesses to 1 ... n data: uniform, skewed, in loops, with a phase of its own for
 * each half, or mostly new ones, in turn.
 */
static inline void trace_random(struct trace *t, uint64_t *random, size_t longest)
{
	size_t n = 1 + (size_t)(sim_uniform(random) * (double)longest);
	size_t data = 1 + (size_t)(sim_uniform(random) * (double)n);
	unsigned kind = (unsigned)(sim_uniform(random) * 5);
	uint64_t value[TRACE_MOST];

	assert(longest <= TRACE_MOST);
	for (size_t i = 0; i < n; i++) {
		double u = sim_uniform(random), some = (double)data;
		switch (kind) {
		case 0:
			value[i] = (uint64_t)(u * some);
			break;
		case 1:
			value[i] = (uint64_t)(u * u * u * some);
			break;
		case 2:
			value[i] = u < 0.9 ? i % data : (uint64_t)(u * some);
			break;
		case 3:
			value[i] = (uint64_t)(u * some) + (i < n / 2 ? 0 : data / 2);
			break;
		default:
			value[i] = u < 0.7 ? i : (uint64_t)(u * (double)i);
		}
	}
	trace_from_data(t, value, n);
}

/* A name for datum e of AI, each a different 64-bit number, 0 and the greatest among them. */
static inline uint64_t trace_name(uint64_t e)
{
	uint64_t z = e * 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	return e == 1 ? 0 : e == 2 ? UINT64_MAX : z ^ (z >> 31);
}

static inline void trace_names(const struct trace *t, uint64_t *ret_data)
{
	for (size_t i = 0; i < t->n; i++)
		ret_data[i] = trace_name(t->ai[i]);
}

/*
 * W(x), x = 0 ... n: distinct data in a window of x accesses, added up over all n - x + 1 windows,
 * so that the footprint is W(x) / (n - x + 1). O(n^2). ret_sums has n + 1 elements.
 */
static inline void trace_window_sums(const struct trace *t, uint64_t *ret_sums)
{
	size_t seen[TRACE_MOST] = {0};

	memset(ret_sums, 0, (t->n + 1) * sizeof(*ret_sums));
	for (size_t start = 0; start < t->n; start++) {
		uint64_t distinct = 0;
		for (size_t end = start; end < t->n; end++) {
			distinct += seen[t->ai[end] - 1] != start + 1;
			seen[t->ai[end] - 1] = start + 1;
			ret_sums[end + 1 - start] += distinct;
		}
	}
}

/* Misses of a fully associative LRU cache of so many lines, by keeping these lines. */
static inline uint64_t trace_lru_misses(const struct trace *t, size_t lines)
{
	uint64_t cache[TRACE_MOST], misses = 0;
	size_t held = 0;

	for (size_t i = 0; i < t->n; i++) {
		size_t at = 0;
		while (at < held && cache[at] != t->ai[i])
			at++;
		if (at == held) {
			misses++;
			held += held < lines;
			at = held ? held - 1 : 0;
		}
		memmove(&cache[1], &cache[0], at * sizeof(*cache));
		if (held)
			cache[0] = t->ai[i];
	}
	return misses;
}

/* How many accesses have reuse time above x, first accesses among them. */
static inline uint64_t trace_reuse_times_above(const struct trace *t, uint64_t x)
{
	uint64_t above = 0;

	for (size_t i = 0; i < t->n; i++)
		above += t->rt[i] > x;
	return above;
}

#endif

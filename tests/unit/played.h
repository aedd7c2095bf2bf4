/* SPDX-License-Identifier: MIT */
#ifndef MTL_TEST_PLAYED_H
#define MTL_TEST_PLAYED_H

/*
 * A recorded trace played over and over, as a process whose clock ticks once an access, seen by a
 * PMU and by watchpoints. Nothing is stepped through: an index of every word's accesses says when a
 * watched word is touched next.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "mtl.h"

struct played;

/* words: byte address / 8 of each access, in order. -ENOMEM. */
int played_new(const uint64_t *words, size_t n, struct played **ret_played);
struct played *played_free(struct played *played);

/* Accesses of one round, lines in all. */
double played_accesses(const struct played *played);
double played_lines(const struct played *played);
/* The pages it touches, ascending; returns how many there are, at most `most` are written. */
size_t played_pages(const struct played *played, uint64_t *ret_pages, size_t most);

/* Exact miss ratio of a fully associative LRU cache, from the second round on; mean number of lines
 * in a window. */
double played_miss_ratio(const struct played *played, double lines);
double played_footprint(const struct played *played, double window);

/* From a moment on to the first access of that word; INFINITY: it has none. */
double played_touch(const struct played *played, uint64_t word, double moment);

/* A PMU that samples accesses, and the one line at a time that is watched for it. */
struct played_pmu {
	uint64_t period; /* of the events counted */
	unsigned skid;   /* the sampled event is up to so many later than the one that was due */
	double zero;     /* part of the samples that come without an address */
	double dropped;  /* part of them that is lost */
	double delay;    /* accesses from the sample to the armed watch */
	double lines;    /* events are misses of a cache of so many lines; 0: all accesses */
	unsigned slots;  /* words watched, 1 ... 4; 0: the line */
	double shortest, longest; /* deadlines, log-uniform, from the sample */
};

/* What became of the samples. */
struct played_counts {
	size_t produced, zero, dropped, busy, watched;
	size_t turned; /* left to other watches */
};

typedef void played_sample_fn(void *userdata, uint64_t address);

/*
 * Plays until n observations are made, each begun at a sample and watched as the armer would
 * (daemon/visit.h), in slices of time of its own. seen (or NULL) gets the address of
 * every sample that arrives. Events per access in ret_rate.
 */
void played_at_samples(const struct played *played, const struct played_pmu *pmu, uint64_t seed,
        struct mtl_observation *ret_observations, size_t n, played_sample_fn *seen, void *userdata,
        double *ret_rate, struct played_counts *ret_counts);

#endif

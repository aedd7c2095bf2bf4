/* SPDX-License-Identifier: MIT */
#ifndef MTL_WORKLOAD_H
#define MTL_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_BYTES 64
#define LINE_WORDS 8
#define THREADS_MAX 256

struct kind;

struct options {
	const struct kind *kind;
	uint64_t working_set, resident; /* bytes */
	double seconds;                 /* wall clock; 0: until a signal */
	double report_seconds;          /* 0: never */
	double rate;                    /* fresh: bytes per second of CPU time */
	double switches; /* pingpong: rounds per second; 0: as many as there can be */
	double skew;     /* zipf exponent */
	uint64_t seed;
	unsigned threads;
	bool private; /* threads divide the working set instead of sharing it */
	const char *progress;
	bool expect;       /* print the closed form at these sizes instead */
	const char *sizes; /* a list as it was given */
};

/* What one thread needs in its loop; a cache line or two, its own. */
struct worker {
	volatile uint64_t *base; /* first word of its working set */
	uint64_t lines;
	uint64_t position; /* next line of a cyclic kind */
	uint64_t random, hash;
	uint64_t accesses;
	int to_peer, from_peer; /* pingpong */
	double started;         /* fresh: CPU time at the start */
	double next_round;      /* pingpong, wall clock */
	const struct options *options;
} __attribute__((aligned(2 * LINE_BYTES)));

/*
 * A kind is one row: how to prepare a worker, one step of its loop (some µs of work, returns the
 * accesses made), how many words it touches each time it comes to a line, and its closed form.
 */
struct kind {
	const char *name, *help;
	int (*prepare)(struct worker *worker);
	uint64_t (*step)(struct worker *worker);
	double words_per_visit;
	double (*misses_per_visit)(double lines, double cache_lines, double skew);
};

extern const struct kind kinds[];

extern volatile sig_atomic_t stopping;

const struct kind *kind_find(const char *name);

/* CPU time of this process, time of the clock on the wall; seconds. */
double cpu_now(void);
double wall_now(void);

/* Misses per access of a fully associative LRU cache of that many bytes. */
double expect_misses(const struct options *options, double cache_bytes);

/* Fills in everything, or explains what is wrong and exits with status 2. */
void arguments_parse(int argc, char **argv, struct options *ret_options);

/* The closed form at options->sizes, a line each. */
int expect(const struct options *options);

/* Fork the other end of a ping-pong; -errno on failure. */
int peer_start(int *ret_to, int *ret_from);

uint64_t random_next(uint64_t *state);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The kinds of workload: for each, one step of its loop and its closed form.
 *
 * A step touches the working set and, besides it, only its worker, its stack and (zipf) a table of
 * a few KiB, each once a step. Words are read through volatile pointers and folded into a hash, a
 * chain of about four cycles a word, so that nothing can be left out or vectorised and a scan goes
 * at the pace of a program that does something with its data. No libc in the loops (but memcpy,
 * whose loop it is, and the system calls of pingpong and fresh).
 *
 * Closed forms are misses per visit of a line, for a fully associative LRU cache of c of the n
 * lines: cyclic orders miss always until all fits; uniform random misses 1 - c/n; zipf follows
 * Che: the characteristic time t solves sum(1 - exp(-p t)) = c, then misses = sum(p exp(-p t)),
 * within 1 % at these sizes.
 */

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "workload.h"
#include "zipf.h"

#define STEP_LINES 512
#define FRESH_BYTES (1 << 20)
#define MOVING_FROM (1ULL << 45)

static struct zipf zipf_table; /* read only once the workers run */

uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

static inline uint64_t fold(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * 0x100000001b3;
}

static inline uint64_t fold_line(uint64_t hash, volatile uint64_t *line)
{
	for (unsigned i = 0; i < LINE_WORDS; i++)
		hash = fold(hash, line[i]);
	return hash;
}

/* The lines of this step of a cyclic pass: from *ret_first, as many as returned. */
static uint64_t next_lines(struct worker *worker, uint64_t wanted, uint64_t *ret_first)
{
	uint64_t left = worker->lines - worker->position;
	uint64_t n = wanted < left ? wanted : left;

	*ret_first = worker->position;
	worker->position = n == left ? 0 : worker->position + n;
	return n;
}

static uint64_t step_scan(struct worker *worker)
{
	uint64_t first, n = next_lines(worker, STEP_LINES, &first), hash = worker->hash;
	volatile uint64_t *line = worker->base + first * LINE_WORDS;

	for (uint64_t i = 0; i < n; i++)
		hash = fold_line(hash, line + i * LINE_WORDS);
	worker->hash = hash;
	return n * LINE_WORDS;
}

static uint64_t step_stride(struct worker *worker)
{
	uint64_t first, n = next_lines(worker, 8 * STEP_LINES, &first), hash = worker->hash;
	volatile uint64_t *line = worker->base + first * LINE_WORDS;

	for (uint64_t i = 0; i < n; i++)
		hash = fold(hash, line[i * LINE_WORDS]);
	worker->hash = hash;
	return n;
}

/* Even lines dense, odd lines one word. */
static uint64_t step_mixed(struct worker *worker)
{
	uint64_t first, n = next_lines(worker, STEP_LINES, &first), hash = worker->hash;
	volatile uint64_t *line = worker->base + first * LINE_WORDS;

	for (uint64_t i = 0; i + 1 < n; i += 2) {
		hash = fold_line(hash, line + i * LINE_WORDS);
		hash = fold(hash, line[(i + 1) * LINE_WORDS]);
	}
	worker->hash = hash;
	return n / 2 * (LINE_WORDS + 1);
}

static uint64_t step_random(struct worker *worker)
{
	uint64_t random = worker->random, hash = worker->hash, lines = worker->lines;

	for (unsigned i = 0; i < 4 * STEP_LINES; i++) {
		uint64_t x = random_next(&random);
		uint64_t line = (uint64_t)((unsigned __int128)x * lines >> 64);
		hash = fold(hash, worker->base[line * LINE_WORDS + (x & (LINE_WORDS - 1))]);
	}
	worker->random = random;
	worker->hash = hash;
	return 4 * STEP_LINES;
}

static int prepare_zipf(struct worker *worker)
{
	if (zipf_table.ranks != worker->lines)
		zipf_init(&zipf_table, worker->lines, worker->options->skew);
	return 0;
}

static uint64_t step_zipf(struct worker *worker)
{
	uint64_t random = worker->random, hash = worker->hash;

	for (unsigned i = 0; i < STEP_LINES; i++) {
		uint64_t line = zipf_draw(&zipf_table, &random);
		hash = fold(hash, worker->base[line * LINE_WORDS + (random & (LINE_WORDS - 1))]);
	}
	worker->random = random;
	worker->hash = hash;
	return STEP_LINES;
}

/* Sattolo: one cycle through all lines in random order, kept in the lines themselves. */
static int prepare_chase(struct worker *worker)
{
	volatile uint64_t *base = worker->base;

	for (uint64_t i = 0; i < worker->lines; i++)
		base[i * LINE_WORDS] = i;
	for (uint64_t i = worker->lines - 1; i > 0; i--) {
		uint64_t j = random_next(&worker->random) % i, kept = base[i * LINE_WORDS];
		base[i * LINE_WORDS] = base[j * LINE_WORDS];
		base[j * LINE_WORDS] = kept;
	}
	return 0;
}

static uint64_t step_chase(struct worker *worker)
{
	uint64_t line = worker->position;

	for (unsigned i = 0; i < STEP_LINES; i++)
		line = worker->base[line * LINE_WORDS];
	worker->position = line;
	return STEP_LINES;
}

/* Its lines are those of one half. */
static int prepare_memcpy(struct worker *worker)
{
	worker->lines /= 2;
	worker->position /= 2;
	return 0;
}

static uint64_t step_memcpy(struct worker *worker)
{
	uint64_t first, n = next_lines(worker, STEP_LINES, &first);
	char *from = (char *)worker->base + first * LINE_BYTES;

	memcpy(from + worker->lines * LINE_BYTES, from, n * LINE_BYTES);
	return 2 * n * LINE_WORDS;
}

/* Touch every line of fresh memory once, there if it is free, then idle on the CPU until the rate
 * is kept. */
static uint64_t touch_fresh(struct worker *worker, void *there)
{
	double due = (double)(worker->accesses * LINE_BYTES + FRESH_BYTES) / worker->options->rate;
	volatile uint64_t *fresh =
	        mmap(there, FRESH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t lines = FRESH_BYTES / LINE_BYTES, hash = worker->hash;

	if (fresh == MAP_FAILED)
		return 0;
	for (uint64_t i = 0; i < lines; i++)
		fresh[i * LINE_WORDS] = i;
	munmap((void *)fresh, FRESH_BYTES);
	while (!stopping && cpu_now() - worker->started < due * worker->options->threads)
		for (unsigned i = 0; i < 4096; i++) {
			hash = fold(hash, i);
			__asm__ volatile("" : "+r"(hash));
		}
	worker->hash = hash;
	return lines;
}

static uint64_t step_fresh(struct worker *worker)
{
	return touch_fresh(worker, NULL);
}

static uint64_t step_moving(struct worker *worker)
{
	return touch_fresh(worker, (void *)(MOVING_FROM + worker->accesses * LINE_BYTES));
}

static int prepare_fresh(struct worker *worker)
{
	worker->started = cpu_now();
	return 0;
}

static int prepare_pingpong(struct worker *worker)
{
	return peer_start(&worker->to_peer, &worker->from_peer);
}

/* Whether a round is due, of so many a second; without a number always. */
static bool round_due(struct worker *worker)
{
	double rate = worker->options->switches, now;

	if (rate == 0)
		return true;
	now = wall_now();
	if (now < worker->next_round)
		return false;
	worker->next_round = fmax(worker->next_round + 1 / rate, now);
	return true;
}

/* Eight lines of a scan, then, when it is time, a byte to the other process and back. */
static uint64_t step_pingpong(struct worker *worker)
{
	uint64_t first, n = next_lines(worker, 8, &first), hash = worker->hash;
	char byte = 0;

	for (uint64_t i = first; i < first + n; i++)
		hash = fold_line(hash, worker->base + i * LINE_WORDS);
	worker->hash = hash;
	if (!round_due(worker))
		return n * LINE_WORDS;
	if (write(worker->to_peer, &byte, 1) != 1 || read(worker->from_peer, &byte, 1) != 1)
		if (errno != EINTR)
			stopping = 1;
	return n * LINE_WORDS;
}

/* One word, written all the time. */
static uint64_t step_hot(struct worker *worker)
{
	volatile uint64_t *word = worker->base;

	for (unsigned i = 0; i < STEP_LINES; i++)
		*word = i;
	return STEP_LINES;
}

/* Eight lines of a scan, then a system call that does nothing. */
static uint64_t step_calls(struct worker *worker)
{
	uint64_t first, n = next_lines(worker, 8, &first), hash = worker->hash;

	for (uint64_t i = first; i < first + n; i++)
		hash = fold_line(hash, worker->base + i * LINE_WORDS);
	worker->hash = hash;
	syscall(SYS_getppid);
	return n * LINE_WORDS;
}

static uint64_t step_idle(struct worker *worker)
{
	(void)worker;
	usleep(100000);
	return 0;
}

static double cyclic(double lines, double cache, double skew)
{
	(void)skew;
	return cache < lines ? 1 : 0;
}

static double uniform(double lines, double cache, double skew)
{
	(void)skew;
	return cache < lines ? 1 - cache / lines : 0;
}

static double always(double lines, double cache, double skew)
{
	(void)lines, (void)cache, (void)skew;
	return 1;
}

static double never(double lines, double cache, double skew)
{
	(void)lines, (void)cache, (void)skew;
	return 0;
}

/* Lines present (weighted: misses) after t draws. */
static double che(const struct zipf *zipf, double t, bool misses)
{
	double sum = 0;

	for (unsigned i = 0; i < zipf->n; i++) {
		double p = zipf->bins[i].chance, width = (double)zipf->bins[i].width;
		sum += misses ? width * p * exp(-p * t) : width * -expm1(-p * t);
	}
	return sum;
}

static double zipf_misses(double lines, double cache, double skew)
{
	static struct zipf zipf;
	double low = 0, high = 1;

	if (cache >= lines)
		return 0;
	zipf_init(&zipf, (uint64_t)lines, skew);
	while (che(&zipf, high, false) < cache)
		high *= 2;
	for (unsigned i = 0; i < 100; i++) {
		double middle = (low + high) / 2;
		*(che(&zipf, middle, false) < cache ? &low : &high) = middle;
	}
	return che(&zipf, low, true);
}

const struct kind kinds[] = {
        {"scan", "every word, in order", NULL, step_scan, 8, cyclic},
        {"stride", "one word of every line, in order", NULL, step_stride, 1, cyclic},
        {"mixed", "even lines all words, odd lines one", NULL, step_mixed, 4.5, cyclic},
        {"random", "one word of a uniformly random line", NULL, step_random, 1, uniform},
        {"zipf", "one word of a line drawn by --skew", prepare_zipf, step_zipf, 1, zipf_misses},
        {"chase", "pointers, one random cycle", prepare_chase, step_chase, 1, cyclic},
        {"memcpy", "half of the set copied to the other", prepare_memcpy, step_memcpy, 8, cyclic},
        {"fresh", "map 1M, touch once, unmap, at --rate", prepare_fresh, step_fresh, 1, always},
        {"moving", "as fresh, where it never was", prepare_fresh, step_moving, 1, always},
        {"pingpong", "8 lines of a scan, then a byte to a second process and back",
                prepare_pingpong, step_pingpong, 8, cyclic},
        {"hot", "one word, written all the time", NULL, step_hot, 1, never},
        {"calls", "8 lines of a scan, then a system call", NULL, step_calls, 8, cyclic},
        {"idle", "sleeps", NULL, step_idle, 1, never},
        {NULL, NULL, NULL, NULL, 0, NULL},
};

const struct kind *kind_find(const char *name)
{
	for (const struct kind *kind = kinds; kind->name; kind++)
		if (strcmp(kind->name, name) == 0)
			return kind;
	return NULL;
}

double expect_misses(const struct options *options, double cache_bytes)
{
	double lines = (double)(options->working_set / LINE_BYTES);
	double per_visit =
	        options->kind->misses_per_visit(lines, cache_bytes / LINE_BYTES, options->skew);

	return per_visit / options->kind->words_per_visit;
}

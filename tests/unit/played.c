/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "cleanup.h"
#include "played.h"
#include "simulate.h"
#include "visit.h"

#define WORDS_PER_PAGE 512

struct played {
	size_t n, n_words;
	uint64_t *words;             /* distinct, ascending */
	uint32_t *start, *positions; /* of word w: positions[start[w] ... start[w + 1] - 1] */
	uint64_t *line_of;           /* of each access */
	uint64_t *distances;         /* of each access, once everything was accessed before */
	uint64_t *hits;              /* [d]: how many have a distance <= d */
	size_t n_lines;
	struct mtl_profile *profile;
};

struct played *played_free(struct played *played)
{
	if (!played)
		return NULL;
	free(played->words);
	free(played->start);
	free(played->positions);
	free(played->line_of);
	free(played->distances);
	free(played->hits);
	mtl_profile_free(played->profile);
	free(played);
	return NULL;
}

DEFINE_CLEANUP(struct played, played_free)
DEFINE_CLEANUP(struct mtl_stack, mtl_stack_free)

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Index of the word, or n_words. */
static size_t find_word(const struct played *played, uint64_t word)
{
	const uint64_t *found =
	        bsearch(&word, played->words, played->n_words, sizeof(word), ascending);

	return found ? (size_t)(found - played->words) : played->n_words;
}

static size_t distinct(uint64_t *sorted, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (i == 0 || sorted[i] != sorted[i - 1])
			sorted[kept++] = sorted[i];
	return kept;
}

static int index_words(struct played *played, const uint64_t *words)
{
	size_t n = played->n;

	played->words = malloc(n * sizeof(*played->words));
	played->positions = malloc(n * sizeof(*played->positions));
	if (!played->words || !played->positions)
		return -ENOMEM;
	memcpy(played->words, words, n * sizeof(*words));
	qsort(played->words, n, sizeof(*words), ascending);
	played->n_words = distinct(played->words, n);
	played->start = calloc(played->n_words + 2, sizeof(*played->start));
	if (!played->start)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		played->start[find_word(played, words[i]) + 2]++;
	for (size_t w = 2; w < played->n_words + 2; w++)
		played->start[w] += played->start[w - 1];
	for (size_t i = 0; i < n; i++)
		played->positions[played->start[find_word(played, words[i]) + 1]++] = (uint32_t)i;
	return 0;
}

/* Two rounds; the second one's distances are those of every later one. */
static int measure_distances(struct played *played)
{
	_cleanup_(mtl_stack_freep) struct mtl_stack *stack = NULL;
	int r = mtl_stack_new(0, &stack);

	for (unsigned round = 0; r == 0 && round < 2; round++)
		r = mtl_stack_access(stack, played->line_of, played->n, played->distances);
	if (r < 0)
		return r;
	played->n_lines = mtl_stack_distinct(stack);
	played->hits = calloc(played->n_lines + 2, sizeof(*played->hits));
	if (!played->hits)
		return -ENOMEM;
	for (size_t i = 0; i < played->n; i++)
		played->hits[played->distances[i]]++;
	for (size_t d = 1; d <= played->n_lines; d++)
		played->hits[d] += played->hits[d - 1];
	return 0;
}

int played_new(const uint64_t *words, size_t n, struct played **ret_played)
{
	_cleanup_(played_freep) struct played *played = calloc(1, sizeof(*played));
	int r;

	if (!played)
		return -ENOMEM;
	played->n = n;
	r = index_words(played, words);
	if (r < 0)
		return r;
	played->line_of = malloc(n * sizeof(*played->line_of));
	played->distances = malloc(n * sizeof(*played->distances));
	if (!played->line_of || !played->distances)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		played->line_of[i] = words[i] / MTL_WORDS_PER_LINE;
	r = measure_distances(played);
	r = r < 0 ? r : mtl_profile_new(0, &played->profile);
	r = r < 0 ? r : mtl_profile_access(played->profile, played->line_of, n, NULL);
	if (r < 0)
		return r;
	*ret_played = TAKE_PTR(played);
	return 0;
}

double played_accesses(const struct played *played)
{
	return (double)played->n;
}

double played_lines(const struct played *played)
{
	return (double)played->n_lines;
}

size_t played_pages(const struct played *played, uint64_t *ret_pages, size_t most)
{
	size_t pages = 0;

	for (size_t w = 0; w < played->n_words; w++) {
		uint64_t page = played->words[w] / WORDS_PER_PAGE;

		if (w > 0 && page == played->words[w - 1] / WORDS_PER_PAGE)
			continue;
		if (pages < most)
			ret_pages[pages] = page;
		pages++;
	}
	return pages;
}

double played_miss_ratio(const struct played *played, double lines)
{
	size_t whole = (size_t)fmin(lines, (double)played->n_lines);

	return 1 - (double)played->hits[whole] / (double)played->n;
}

double played_footprint(const struct played *played, double window)
{
	return mtl_profile_footprint(played->profile, MTL_XIANG, fmin(window, (double)played->n));
}

double played_touch(const struct played *played, uint64_t word, double moment)
{
	size_t w = find_word(played, word), low, high;
	double n = (double)played->n, round = floor(moment / n) * n, within = moment - round;

	if (w == played->n_words)
		return INFINITY;
	low = played->start[w];
	high = played->start[w + 1];
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (played->positions[middle] < within)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == played->start[w + 1])
		return round + n + played->positions[played->start[w]] - moment;
	return round + played->positions[low] - moment;
}

/* --- the PMU */

/* Of the word there, or of any of its line. */
static double touch(const struct played *played, uint64_t address, bool whole_line, double moment)
{
	double first = INFINITY;

	for (unsigned k = 0; k < (whole_line ? MTL_WORDS_PER_LINE : 1); k++)
		first = fmin(first, played_touch(played, address / 8 + k, moment));
	return first;
}

/* Positions of the events of one round; returns how many. */
static size_t find_events(const struct played *played, double lines, uint32_t *ret_events)
{
	size_t n = 0;

	for (size_t i = 0; i < played->n; i++)
		if (lines == 0 || (double)played->distances[i] > lines)
			ret_events[n++] = (uint32_t)i;
	return n;
}

/* An access takes a nanosecond. */
#define ACCESS 1e-9
#define SLICE_WATCHES 8 /* slices are so many times as long as the longest watch */

/* As mtld asks for them; half of the time is for other watches. */
static struct visits visits_for(const struct played_pmu *pmu, uint64_t seed)
{
	struct visits visits = {.random = {(unsigned short)seed, 7, 11}};
	const struct visit_terms terms = {
	        .quiet = ACCESS * pmu->delay,
	        .part = 1,
	        .turns = {ACCESS * SLICE_WATCHES * pmu->longest,
	                ACCESS * SLICE_WATCHES * pmu->longest},
	        .deadlines = {ACCESS * pmu->shortest, ACCESS * pmu->longest, ACCESS * pmu->longest},
	};

	visits_ask(&visits, &terms, 0);
	return visits;
}

/* What the armer does once the visit is over. */
static void watch_visit(const struct played *played, const struct played_pmu *pmu,
        struct visits *visits, struct mtl_observation *ret)
{
	struct candidate candidate = visits_candidate(visits, pmu->slots, pmu->slots == 0);
	double sampled = (double)visits->sampled, touched;

	visits->waiting = false;
	*ret = (struct mtl_observation){
	        .moment = sampled,
	        .deadline = (double)candidate.deadline_ns,
	        .weight = candidate.weight,
	        .slots = (uint8_t)candidate.slots,
	        .whole_line = candidate.whole_line,
	};
	for (unsigned k = 0; k < candidate.slots; k++) {
		touched = pmu->delay + touch(played, candidate.address[k], candidate.whole_line,
		                               sampled + pmu->delay);
		ret->touched[k] = (float)(touched <= ret->deadline ? touched : INFINITY);
	}
}

void played_at_samples(const struct played *played, const struct played_pmu *pmu, uint64_t seed,
        struct mtl_observation *ret_observations, size_t n, played_sample_fn *seen, void *userdata,
        double *ret_rate, struct played_counts *ret_counts)
{
	_cleanup_free_ uint32_t *events = malloc(played->n * sizeof(*events));
	size_t n_events = events ? find_events(played, pmu->lines, events) : 0;
	struct visits visits = visits_for(pmu, seed);
	double busy_until = 0;

	*ret_counts = (struct played_counts){0};
	*ret_rate = (double)n_events / (double)played->n;
	for (uint64_t due = pmu->period; n_events && ret_counts->watched < n; due += pmu->period) {
		uint64_t event = due + (uint64_t)(sim_uniform(&seed) * (pmu->skid + 1));
		uint32_t position = events[event % n_events];
		double sampled = (double)(event / n_events) * (double)played->n + position;
		double fate = sim_uniform(&seed);
		struct mtl_hit miss;

		ret_counts->produced++;
		if (fate < pmu->zero + pmu->dropped) {
			++*(fate < pmu->zero ? &ret_counts->zero : &ret_counts->dropped);
			continue;
		}
		if (seen)
			seen(userdata, played->line_of[position] * MTL_LINE_BYTES);
		if (sampled < busy_until) {
			ret_counts->busy++;
			continue;
		}
		miss = (struct mtl_hit){.clock = (uint64_t)sampled,
		        .slot = MTL_SLOT_MISS,
		        .address = played->line_of[position] * MTL_LINE_BYTES,
		        .period = 1};
		if (!visits_begin(&visits, &miss, (uint64_t)sampled, 0)) {
			ret_counts->turned++;
			continue;
		}
		watch_visit(played, pmu, &visits, &ret_observations[ret_counts->watched]);
		busy_until = sampled + ret_observations[ret_counts->watched++].deadline;
	}
}

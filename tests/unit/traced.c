/* SPDX-License-Identifier: MIT */
/*
 * The accesses of a unit are sorted by the word they touch (a counting sort), so that the first
 * touch of a word after any moment is found by bisection, round and round. Pages are put side by
 * side in the order of their addresses.
 */
#include "traced.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "mtl_trace.h"
#include "simulate.h"

#define ADDRESS_MASK ((1ULL << 47) - 1) /* above it: how often memory was renewed */
#define PAGE_BYTES 4096
#define PAGE_WORDS (PAGE_BYTES / 8)
#define PAGE_LINES (PAGE_BYTES / MTL_LINE_BYTES)
#define BATCH 4096

DEFINE_CLEANUP(struct mtl_stack, mtl_stack_free)

static struct {
	struct program program;
	uint64_t *address; /* mapped */
	size_t n;
	uint64_t *page; /* ascending */
	size_t n_pages;
	uint32_t *word;          /* of each access */
	uint32_t *first, *touch; /* touches of word w: touch[first[w]] ... touch[first[w + 1] - 1] */
	struct mtl_stack *once, *twice;
} traced;

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int map_trace(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	traced.n = (size_t)status.st_size / sizeof(*traced.address);
	if (traced.n == 0 || traced.n > UINT32_MAX)
		return -EINVAL;
	traced.address = mmap(NULL, traced.n * sizeof(*traced.address), PROT_READ, MAP_PRIVATE, fd, 0);
	return traced.address == MAP_FAILED ? -errno : 0;
}

static uint64_t page_of(size_t access)
{
	return (traced.address[access] & ADDRESS_MASK) / PAGE_BYTES;
}

static int list_pages(void)
{
	size_t n = 0, kept = 0;

	traced.page = malloc(traced.n * sizeof(*traced.page));
	if (!traced.page)
		return -ENOMEM;
	for (size_t i = 0; i < traced.n; i++)
		if (i == 0 || page_of(i) != page_of(i - 1))
			traced.page[n++] = page_of(i);
	qsort(traced.page, n, sizeof(*traced.page), ascending);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || traced.page[i] != traced.page[kept - 1])
			traced.page[kept++] = traced.page[i];
	traced.n_pages = kept;
	return 0;
}

static uint32_t word_of(size_t access)
{
	uint64_t page = page_of(access);
	uint64_t *found =
	        bsearch(&page, traced.page, traced.n_pages, sizeof(*traced.page), ascending);

	return (uint32_t)((found - traced.page) * PAGE_WORDS +
	                  traced.address[access] % PAGE_BYTES / 8);
}

static int sort_by_word(void)
{
	size_t words = traced.n_pages * PAGE_WORDS;

	traced.word = calloc(traced.n, sizeof(*traced.word));
	traced.touch = calloc(traced.n, sizeof(*traced.touch));
	traced.first = calloc(words + 2, sizeof(*traced.first));
	if (!traced.word || !traced.touch || !traced.first)
		return -ENOMEM;
	for (size_t i = 0; i < traced.n; i++) {
		traced.word[i] = word_of(i);
		traced.first[traced.word[i] + 2]++;
	}
	for (size_t w = 2; w < words + 2; w++)
		traced.first[w] += traced.first[w - 1];
	for (size_t i = 0; i < traced.n; i++) /* and then first[w + 1] has become what first[w] was to be */
		traced.touch[traced.first[traced.word[i] + 1]++] = (uint32_t)i;
	return 0;
}

/* Accesses from a moment to the next touch of the word. */
static double wait_for(size_t word, uint32_t moment)
{
	uint32_t low = traced.first[word], end = traced.first[word + 1], high = end;

	if (low == end)
		return INFINITY;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (traced.touch[middle] < moment)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < end)
		return (double)traced.touch[low] - moment;
	return (double)traced.touch[traced.first[word]] + (double)traced.n - moment;
}

static void touch_traced(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE])
{
	uint32_t moment = (uint32_t)(sim_uniform(random) * (double)traced.n);

	for (unsigned k = 0; k < MTL_WORDS_PER_LINE; k++)
		touched[k] = wait_for(line * MTL_WORDS_PER_LINE + k, moment) /
		             TRACED_ACCESSES_PER_SECOND;
}

static uint64_t told_of_traced(uint64_t *random)
{
	return traced.word[(size_t)(sim_uniform(random) * (double)traced.n)] / MTL_WORDS_PER_LINE;
}

static int do_a_unit(struct mtl_stack *stack)
{
	uint64_t lines[BATCH];
	int r = 0;

	for (size_t from = 0, n; r >= 0 && from < traced.n; from += n) {
		n = traced.n - from < BATCH ? traced.n - from : BATCH;
		for (size_t i = 0; i < n; i++)
			lines[i] = traced.word[from + i] / MTL_WORDS_PER_LINE;
		r = mtl_stack_access(stack, lines, n, NULL);
	}
	return r;
}

static int stack_units(unsigned units, struct mtl_stack **ret_stack)
{
	_cleanup_(mtl_stack_freep) struct mtl_stack *stack = NULL;
	int r = mtl_stack_new(0, &stack);

	for (; r >= 0 && units > 0; units--)
		r = do_a_unit(stack);
	if (r >= 0)
		*ret_stack = TAKE_PTR(stack);
	return r;
}

static double misses_of(const struct mtl_stack *stack, double lines)
{
	double ratio = NAN;

	mtl_stack_miss_ratios(stack, &lines, 1, &ratio);
	return ratio * (double)mtl_stack_accesses(stack);
}

/* A second, in the second unit. */
static double traced_lru(double lines)
{
	return (misses_of(traced.twice, lines) - misses_of(traced.once, lines)) / (double)traced.n *
	       TRACED_ACCESSES_PER_SECOND;
}

int traced_begin(const char *path)
{
	int r = map_trace(path);

	if (r >= 0)
		r = list_pages();
	if (r >= 0)
		r = sort_by_word();
	if (r >= 0)
		r = stack_units(1, &traced.once);
	if (r >= 0)
		r = stack_units(2, &traced.twice);
	if (r < 0)
		return r;
	traced.program = (struct program){
	        .name = path,
	        .lines = (double)traced.n_pages * PAGE_LINES,
	        .resident = ceil((double)traced.n_pages * TRACED_RESIDENT) * PAGE_LINES,
	        .told = told_of_traced,
	        .resolution = 5e-5,
	        .touch = touch_traced,
	        .lru = traced_lru,
	};
	return program_begin(&traced.program);
}

void traced_end(void)
{
	if (traced.address && traced.address != MAP_FAILED)
		munmap(traced.address, traced.n * sizeof(*traced.address));
	free(traced.page);
	free(traced.word);
	free(traced.first);
	free(traced.touch);
	mtl_stack_free(traced.once);
	mtl_stack_free(traced.twice);
	memset(&traced, 0, sizeof(traced));
}

const struct program *traced_program(void)
{
	return &traced.program;
}

double traced_accesses(void)
{
	return (double)traced.n;
}

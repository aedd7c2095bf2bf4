/* SPDX-License-Identifier: MIT */
/*
 * When a word is touched next, and what exact LRU misses, is known of the trace played over and over
 * (played.h). The lines of the program are those of its pages, side by side in the order of their
 * addresses.
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
#include "played.h"
#include "simulate.h"

#define ADDRESS_MASK ((1ULL << 47) - 1) /* above it: how often memory was renewed */
#define PAGE_BYTES 4096
#define PAGE_WORDS (PAGE_BYTES / 8)
#define PAGE_LINES (PAGE_BYTES / MTL_LINE_BYTES)

static struct {
	struct program program;
	struct played *played;
	uint64_t *word; /* of each access */
	size_t n;
	uint64_t *page; /* ascending */
	size_t n_pages;
} traced;

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int read_words(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	uint64_t *address;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	traced.n = (size_t)status.st_size / sizeof(*address);
	if (traced.n == 0 || traced.n > UINT32_MAX)
		return -EINVAL;
	traced.word = calloc(traced.n, sizeof(*traced.word));
	if (!traced.word)
		return -ENOMEM;
	address = mmap(NULL, traced.n * sizeof(*address), PROT_READ, MAP_PRIVATE, fd, 0);
	if (address == MAP_FAILED)
		return -errno;
	for (size_t i = 0; i < traced.n; i++)
		traced.word[i] = (address[i] & ADDRESS_MASK) / 8;
	munmap(address, traced.n * sizeof(*address));
	return 0;
}

static int list_pages(void)
{
	traced.n_pages = played_pages(traced.played, NULL, 0);
	traced.page = calloc(traced.n_pages, sizeof(*traced.page));
	if (!traced.page)
		return -ENOMEM;
	played_pages(traced.played, traced.page, traced.n_pages);
	return 0;
}

static void touch_traced(uint64_t *random, uint64_t line, double touched[MTL_WORDS_PER_LINE])
{
	double moment = floor(sim_uniform(random) * (double)traced.n);
	uint64_t word = traced.page[line / PAGE_LINES] * PAGE_WORDS +
	                line % PAGE_LINES * MTL_WORDS_PER_LINE;

	for (unsigned k = 0; k < MTL_WORDS_PER_LINE; k++)
		touched[k] = played_touch(traced.played, word + k, moment) /
		             TRACED_ACCESSES_PER_SECOND;
}

static uint64_t told_of_traced(uint64_t *random)
{
	uint64_t word = traced.word[(size_t)(sim_uniform(random) * (double)traced.n)];
	uint64_t page = word / PAGE_WORDS;
	const uint64_t *found =
	        bsearch(&page, traced.page, traced.n_pages, sizeof(page), ascending);

	return (uint64_t)(found - traced.page) * PAGE_LINES +
	       word % PAGE_WORDS / MTL_WORDS_PER_LINE;
}

/* A second, from the second unit on. */
static double traced_lru(double lines)
{
	return played_miss_ratio(traced.played, lines) * TRACED_ACCESSES_PER_SECOND;
}

int traced_begin(const char *path)
{
	int r = read_words(path);

	if (r >= 0)
		r = played_new(traced.word, traced.n, &traced.played);
	if (r >= 0)
		r = list_pages();
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
	played_free(traced.played);
	free(traced.word);
	free(traced.page);
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

/* SPDX-License-Identifier: MIT */
/*
 * together: programs that share a cache, simulated exactly.
 *
 *     together pack <NUMBERS >FILE        numbers of data in text, one a line, as 32-bit words
 *     together LINES,LINES... FILE FILE...   of each packed trace, a row: its miss ratio at each
 * size
 *
 * The traces are interleaved as evenly as can be, each as fast as it takes for all to end together:
 * the next access is that of the program furthest behind, (made + 1/2) / accesses. They have no
 * data in common. LRU is by reuse distances (lib/stack_distance.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "mtl.h"

#define PROGRAMS_MAX 8
#define SIZES_MAX 64
#define CHUNK 65536

struct program {
	const uint32_t *data;
	size_t n, made;
	uint64_t misses[SIZES_MAX];
};

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "together: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void pack(void)
{
	unsigned long number;

	while (scanf("%lu", &number) == 1) {
		uint32_t word = (uint32_t)number;

		if (number > UINT32_MAX || fwrite(&word, sizeof(word), 1, stdout) != 1)
			fail("cannot write");
	}
	if (fflush(stdout))
		fail("cannot write");
}

static size_t parse_sizes(char *list, uint64_t *ret_lines)
{
	size_t n = 0;

	for (char *word; (word = strsep(&list, ",")) && n < SIZES_MAX; n++)
		ret_lines[n] = strtoull(word, NULL, 10);
	return n;
}

static void open_program(const char *path, struct program *ret_program)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status) < 0)
		fail(path);
	ret_program->n = (size_t)status.st_size / sizeof(uint32_t);
	ret_program->data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (ret_program->data == MAP_FAILED)
		fail(path);
	close(fd);
}

static size_t furthest_behind(const struct program *programs, size_t n)
{
	size_t behind = n;
	double least = 1;

	for (size_t p = 0; p < n; p++) {
		double done = ((double)programs[p].made + 0.5) / (double)programs[p].n;

		if (done < least) {
			least = done;
			behind = p;
		}
	}
	return behind;
}

/* The next accesses of the interleaving, and whose each is; returns how many. */
static size_t interleave(struct program *programs, size_t n, uint64_t *data, uint8_t *whose)
{
	size_t filled = 0;

	for (; filled < CHUNK; filled++) {
		size_t p = furthest_behind(programs, n);

		if (p == n)
			break;
		data[filled] = (uint64_t)p << 32 | programs[p].data[programs[p].made++];
		whose[filled] = (uint8_t)p;
	}
	return filled;
}

static void count_misses(
        struct program *program, uint64_t distance, const uint64_t *lines, size_t n)
{
	for (size_t s = 0; s < n && distance > lines[s]; s++)
		program->misses[s]++;
}

static void simulate(struct program *programs, size_t n, const uint64_t *lines, size_t n_sizes)
{
	static uint64_t data[CHUNK], distances[CHUNK];
	static uint8_t whose[CHUNK];
	struct mtl_stack *stack;

	if ((errno = -mtl_stack_new(1ULL << 32, &stack)))
		fail("stack");
	for (size_t got; (got = interleave(programs, n, data, whose));) {
		if ((errno = -mtl_stack_access(stack, data, got, distances)))
			fail("stack");
		for (size_t i = 0; i < got; i++)
			count_misses(&programs[whose[i]], distances[i], lines, n_sizes);
	}
	mtl_stack_free(stack);
}

int main(int argc, char **argv)
{
	struct program programs[PROGRAMS_MAX] = {0};
	uint64_t lines[SIZES_MAX];
	size_t n = (size_t)(argc - 2), n_sizes;

	if (argc == 2 && !strcmp(argv[1], "pack"))
		return pack(), 0;
	if (argc < 3 || n > PROGRAMS_MAX) {
		fputs("usage: together pack | LINES,LINES... FILE FILE...\n", stderr);
		return 2;
	}
	n_sizes = parse_sizes(argv[1], lines);
	for (size_t p = 0; p < n; p++)
		open_program(argv[p + 2], &programs[p]);
	simulate(programs, n, lines, n_sizes);
	for (size_t p = 0; p < n; p++)
		for (size_t s = 0; s < n_sizes; s++)
			printf("%.9f%c", (double)programs[p].misses[s] / (double)programs[p].n,
			        s + 1 < n_sizes ? ' ' : '\n');
	return 0;
}

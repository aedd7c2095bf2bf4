/* SPDX-License-Identifier: MIT */
/*
 * zipf: a trace of known popularity for the benchmarks. Each of N accesses goes to the line of rank
 * k out of M, independently, with a probability proportional to 1 / k^S; which line has which rank
 * is a random permutation.
 *
 *     zipf N M S SEED [u64|oracle] >FILE
 *
 * u64: the byte address of each access, little-endian. oracle: the same accesses as oracleGeneral
 * records of libCacheSim (time, object, size 1, next access), all said to be the object's last,
 * which LRU does not look at. The same arguments always make the same accesses.
 *
 * Drawn by the alias method (Walker 1977; Vose 1991): one 64-bit random number times M has a column
 * in its upper word, and in the lower one a height, which is below the column's split or above it.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "splitmix.h"

#define LINE_BYTES 64
#define FIRST_LINE 0x10000 /* no line at address 0 */

struct column {
	uint64_t split; /* below this height (of 2^64) the column is its own, above it is the alias
	                 */
	uint32_t line, alias;
};

struct zipf {
	struct column *columns;
	uint64_t m, state;
};

struct __attribute__((packed)) oracle_record {
	uint32_t time;
	uint64_t object;
	uint32_t size;
	int64_t next;
};

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "zipf: %s\n", what);
	exit(2);
}

static void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory)
		fail(strerror(errno));
	return memory;
}

/* Uniform in 0 ... n - 1. */
static uint64_t draw_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)((unsigned __int128)splitmix_next(state) * n >> 64);
}

static void shuffle_lines(struct zipf *zipf)
{
	struct column *columns = zipf->columns;

	for (uint64_t i = 0; i < zipf->m; i++)
		columns[i].line = i;
	for (uint64_t i = zipf->m - 1; i > 0; i--) {
		uint64_t j = draw_below(&zipf->state, i + 1);
		uint32_t line = columns[i].line;

		columns[i].line = columns[j].line;
		columns[j].line = line;
	}
}

static double sum_of(const double *values, uint64_t n)
{
	double sum = 0;

	for (uint64_t i = n; i-- > 0;)
		sum += values[i];
	return sum;
}

/* The weight of each rank, scaled to a mean of 1. */
static double *popularity(uint64_t m, double s)
{
	double *weight = allocate(m, sizeof(*weight)), mean;

	for (uint64_t i = 0; i < m; i++)
		weight[i] = pow(i + 1, -s);
	mean = sum_of(weight, m) / m;
	for (uint64_t i = 0; i < m; i++)
		weight[i] /= mean;
	return weight;
}

/* Each column of less than 1 is filled up from one of more, until there is none of either. */
static void fill_columns(struct zipf *zipf, double *weight)
{
	struct column *columns = zipf->columns;
	uint64_t less = 0,
	         more = zipf->m; /* those in list[0 ... less - 1], in list[more ... m - 1] */
	uint32_t *list = allocate(zipf->m, sizeof(*list));

	for (uint64_t i = 0; i < zipf->m; i++) {
		columns[i].split = UINT64_MAX;
		columns[i].alias = columns[i].line;
		list[weight[i] < 1 ? less++ : --more] = i;
	}
	while (less > 0 && more < zipf->m) {
		uint32_t low = list[--less], high = list[more];

		columns[low].split = ldexp(weight[low], 64);
		columns[low].alias = columns[high].line;
		weight[high] -= 1 - weight[low];
		if (weight[high] < 1) {
			list[less++] = high;
			more++;
		}
	}
	free(list);
}

static struct zipf new_zipf(uint64_t m, double s, uint64_t seed)
{
	struct zipf zipf = {.m = m, .state = seed};
	double *weight = popularity(m, s);

	zipf.columns = allocate(m, sizeof(*zipf.columns));
	shuffle_lines(&zipf);
	fill_columns(&zipf, weight);
	free(weight);
	return zipf;
}

static uint64_t draw_address(struct zipf *zipf)
{
	unsigned __int128 product = (unsigned __int128)splitmix_next(&zipf->state) * zipf->m;
	const struct column *column = &zipf->columns[(uint64_t)(product >> 64)];
	uint64_t line = (uint64_t)product < column->split ? column->line : column->alias;

	return (FIRST_LINE + line) * LINE_BYTES;
}

static void write_u64(uint64_t address, uint64_t i)
{
	(void)i;
	fwrite_unlocked(&address, sizeof(address), 1, stdout);
}

static void write_oracle(uint64_t address, uint64_t i)
{
	struct oracle_record record = {i / 1000000, address, 1, -1};

	fwrite_unlocked(&record, sizeof(record), 1, stdout);
}

static uint64_t parse_count(const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < least || value > most)
		fail("usage: zipf N M S SEED [u64|oracle]");
	return value;
}

int main(int argc, char **argv)
{
	void (*write_access)(uint64_t, uint64_t) = write_u64;
	struct zipf zipf;
	uint64_t n;

	if (argc < 5)
		fail("usage: zipf N M S SEED [u64|oracle]");
	if (argc > 5 && strcmp(argv[5], "oracle") == 0)
		write_access = write_oracle;
	n = parse_count(argv[1], 1, UINT64_MAX);
	zipf = new_zipf(parse_count(argv[2], 1, UINT32_MAX), atof(argv[3]),
	        parse_count(argv[4], 0, UINT64_MAX));
	for (uint64_t i = 0; i < n; i++)
		write_access(draw_address(&zipf), i);
	free(zipf.columns);
	if (fflush(stdout) || ferror(stdout))
		fail(strerror(errno));
	return 0;
}

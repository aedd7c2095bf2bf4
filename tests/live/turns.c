/* SPDX-License-Identifier: MIT */
/*
 * turns SECONDS MIB...: goes round in the first MIB of its memory, a word of each line, for so many
 * seconds of its CPU time, then in the next MIB, and after the last one in the first again. All of it
 * is touched before. A line on standard output whenever it turns: CPU seconds and MIB.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE 64
#define LOOK 4096 /* lines between two looks at the clock */

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void go_round(volatile uint64_t *memory, size_t lines, double until)
{
	size_t line = 0;

	do
		for (int i = 0; i < LOOK; i++) {
			memory[line * (LINE / sizeof(*memory))]++;
			line = line + 1 < lines ? line + 1 : 0;
		}
	while (cpu_seconds() < until);
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[1]) : 0, most = 0;
	void *memory;

	for (int i = 2; i < argc; i++)
		most = atof(argv[i]) > most ? atof(argv[i]) : most;
	memory = most > 0 ? malloc((size_t)(most * 1048576)) : NULL;
	if (!(seconds > 0) || !memory) {
		fputs("usage: turns SECONDS MIB...\n", stderr);
		return 2;
	}
	memset(memory, 1, (size_t)(most * 1048576));
	for (unsigned turn = 0;; turn++) {
		const char *mib = argv[2 + turn % (unsigned)(argc - 2)];

		printf("%.3f %s\n", cpu_seconds(), mib);
		fflush(stdout);
		go_round(memory, (size_t)(atof(mib) * 1048576) / LINE, cpu_seconds() + seconds);
	}
}

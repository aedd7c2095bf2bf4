/* SPDX-License-Identifier: MIT */
/*
 * ticker [FILE]: scans 2 MiB for ever and, ten times a second of its CPU time, adds one to `ticks`,
 * a variable for a debugger to watch; FILE holds the count so far, as text. Signals find their
 * default.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define WORDS (2 << 20 >> 3)

volatile uint64_t ticks;
static volatile uint64_t memory[WORDS];

static uint64_t cpu_milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void show(int fd)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)ticks);

	if (fd >= 0 && pwrite(fd, text, (size_t)n, 0) != n)
		perror("ticker");
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

	for (;;) {
		for (unsigned i = 0; i < WORDS; i++)
			memory[i]++;
		if (cpu_milliseconds() / 100 > ticks) {
			ticks++;
			show(fd);
		}
	}
}

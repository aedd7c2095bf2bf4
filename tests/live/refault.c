/* SPDX-License-Identifier: MIT */
/*
 * refault BYTES ROUNDS FILE: goes round BYTES of memory, word by word, for ever. After every ROUNDS
 * rounds it gives its pages back, and the next round faults them in anew: so one round in ROUNDS is
 * full of page faults, and the lines that they bear are touched again after exactly one round. FILE
 * holds the mean CPU time of a round, seconds, as text.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double cpu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void go_round(volatile uint64_t *memory, size_t bytes)
{
	for (size_t word = 0; word < bytes / 8; word++)
		memory[word] = word;
}

static void show(int fd, double seconds)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%.9f\n", seconds);

	if (pwrite(fd, text, (size_t)n, 0) != n)
		perror("refault");
}

int main(int argc, char **argv)
{
	size_t bytes = argc == 4 ? strtoull(argv[1], NULL, 10) : 0;
	unsigned rounds = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	int fd = argc == 4 ? open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
	volatile uint64_t *memory;
	double begin = cpu_now();

	if (bytes < 4096 || rounds == 0 || fd < 0) {
		fprintf(stderr, "usage: refault BYTES ROUNDS FILE\n");
		return 2;
	}
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise((void *)memory, bytes, MADV_NOHUGEPAGE) < 0)
		return 1;
	for (uint64_t done = 1;; done++) {
		go_round(memory, bytes);
		if (done % rounds != 0)
			continue;
		show(fd, (cpu_now() - begin) / (double)done);
		madvise((void *)memory, bytes, MADV_DONTNEED);
	}
}

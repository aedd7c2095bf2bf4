/* SPDX-License-Identifier: MIT */
/* spawner: scans 1 MiB for ever and after every 64 KiB starts a thread that ends at once. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define WORDS (1 << 20 >> 3)
#define PART (WORDS / 16)

static volatile uint64_t memory[WORDS];

static void *nothing(void *argument)
{
	return argument;
}

int main(void)
{
	pthread_t thread;

	for (unsigned start = 0;; start = (start + PART) % WORDS) {
		for (unsigned i = start; i < start + PART; i++)
			memory[i]++;
		if (pthread_create(&thread, NULL, nothing, NULL) != 0) {
			perror("spawner");
			return 1;
		}
		pthread_join(thread, NULL);
	}
}

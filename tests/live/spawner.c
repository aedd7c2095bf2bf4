/* SPDX-License-Identifier: MIT */
/* spawner: scans 1 MiB and starts a thread that ends at once, again and again, for ever. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define WORDS (1 << 20 >> 3)

static volatile uint64_t memory[WORDS];

static void *nothing(void *argument)
{
	return argument;
}

int main(void)
{
	pthread_t thread;

	for (;;) {
		for (unsigned i = 0; i < WORDS; i++)
			memory[i]++;
		if (pthread_create(&thread, NULL, nothing, NULL) != 0) {
			perror("spawner");
			return 1;
		}
		pthread_join(thread, NULL);
	}
}

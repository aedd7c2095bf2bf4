// SPDX-License-Identifier: MIT
/*
 * The child reads the time-stamp counter between its touches; a step between two readings longer
 * than GAP_NS is time taken from it, and is logged in memory that it shares with mtld.
 */
#include "spinner.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "source.h"

#define GAP_NS 400

static void __attribute__((noreturn)) child_spin(struct spin *spin)
{
	uint64_t last = __rdtsc();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != spin->parent) /* it has ended before it could be asked for */
		_exit(1);
	spin->ready = 1;
	for (;;) {
		uint64_t now = __rdtsc();

		if (now - last > spin->gap_ticks) {
			spin->gap[spin->gaps % SPINNER_GAPS] = now - last;
			spin->gaps++;
		}
		last = now;
		for (int word = 0; word < SPINNER_WORDS; word++)
			spin->hot[word] = now;
	}
}

static double measure_ticks(void)
{
	struct timespec pause = {.tv_nsec = 10000000};
	uint64_t ticks = __rdtsc(), ns = source_now();

	nanosleep(&pause, NULL);
	return (double)(__rdtsc() - ticks) / (double)(source_now() - ns);
}

static int last_cpu(void)
{
	cpu_set_t set;
	int cpu = CPU_SETSIZE - 1;

	sched_getaffinity(0, sizeof(set), &set);
	while (cpu > 0 && !CPU_ISSET(cpu, &set))
		cpu--;
	return cpu;
}

int spinner_start(struct spinner *spinner)
{
	cpu_set_t set;

	spinner->cpu = last_cpu();
	spinner->shared = mmap(NULL, sizeof(struct spin), PROT_READ | PROT_WRITE,
	        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (spinner->shared == MAP_FAILED) {
		spinner->shared = NULL;
		return -errno;
	}
	memset((void *)spinner->shared, 0, sizeof(struct spin));
	spinner->ticks_per_ns = measure_ticks();
	spinner->shared->gap_ticks = GAP_NS * spinner->ticks_per_ns;
	spinner->shared->parent = getpid();
	spinner->pid = fork();
	if (spinner->pid < 0)
		return -errno;
	if (spinner->pid == 0)
		child_spin(spinner->shared);
	CPU_ZERO(&set);
	CPU_SET(spinner->cpu, &set);
	sched_setaffinity(spinner->pid, sizeof(set), &set);
	while (!spinner->shared->ready) {
		if (waitpid(spinner->pid, NULL, WNOHANG) != 0) {
			spinner->pid = 0;
			return -ECHILD;
		}
		sched_yield();
	}
	return 0;
}

void spinner_stop(struct spinner *spinner)
{
	if (spinner->pid > 0) {
		kill(spinner->pid, SIGKILL);
		waitpid(spinner->pid, NULL, 0);
	}
	if (spinner->shared)
		munmap(spinner->shared, sizeof(struct spin));
}

uint64_t spinner_gaps(const struct spinner *spinner)
{
	return spinner->shared->gaps;
}

/* Gaps that are still in the ring. */
static uint64_t oldest(const struct spinner *spinner, uint64_t from)
{
	uint64_t gaps = spinner_gaps(spinner);

	return gaps > from + SPINNER_GAPS ? gaps - SPINNER_GAPS : from;
}

double spinner_taken(const struct spinner *spinner, uint64_t from)
{
	double ticks = 0;

	for (uint64_t i = oldest(spinner, from); i < spinner_gaps(spinner); i++)
		ticks += spinner->shared->gap[i % SPINNER_GAPS];
	return ticks / spinner->ticks_per_ns;
}

static int by_length(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

double spinner_median_gap(const struct spinner *spinner, uint64_t from)
{
	uint64_t ticks[SPINNER_GAPS];
	size_t n = 0;

	for (uint64_t i = oldest(spinner, from); i < spinner_gaps(spinner) && n < SPINNER_GAPS; i++)
		ticks[n++] = spinner->shared->gap[i % SPINNER_GAPS];
	qsort(ticks, n, sizeof(ticks[0]), by_length);
	return n ? ticks[(n - 1) / 2] / spinner->ticks_per_ns : 0;
}

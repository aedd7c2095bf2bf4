/* SPDX-License-Identifier: MIT */
/*
 * The chase: load an address, load what it points at, and so on. No access can begin before the one
 * before has ended, so that the time of many divided by their number is the latency of one. The
 * order is random, so that no prefetcher knows the next line, and one cycle: lines are shuffled,
 * then linked to a ring, so that each is visited once a round.
 */

#include "probe_chase.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "monotonic.h"

#define UNROLL 8

int probe_chase_pin(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

static void shuffle(struct probe_chain *chain, uint32_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t other = (size_t)nrand48(chain->seed) % (i + 1);
		uint32_t kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}

void probe_chase_link(struct probe_chain *chain, char **lines, uint32_t *order, size_t n)
{
	shuffle(chain, order, n);
	for (size_t i = 0; i < n; i++)
		*(void **)lines[order[i]] = lines[order[(i + 1) % n]];
	chain->at = lines[order[0]];
}

static void *line_of(const struct probe_spacing *spacing, size_t i)
{
	return spacing->start + i * spacing->stride + i % spacing->turns * spacing->shift;
}

void probe_chase_link_spaced(
        struct probe_chain *chain, const struct probe_spacing *spacing, uint32_t *order, size_t n)
{
	shuffle(chain, order, n);
	for (size_t i = 0; i < n; i++)
		*(void **)line_of(spacing, order[i]) = line_of(spacing, order[(i + 1) % n]);
	chain->at = line_of(spacing, order[0]);
}

double probe_chase_run(struct probe_chain *chain, size_t accesses)
{
	void *volatile *at = chain->at;
	size_t rounds = (accesses + UNROLL - 1) / UNROLL;
	double start = monotonic_seconds(), end;

	for (size_t i = 0; i < rounds; i++) {
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
		at = *at;
	}
	end = monotonic_seconds();
	chain->at = (void *)at;
	return (end - start) * 1e9 / (double)(rounds * UNROLL);
}

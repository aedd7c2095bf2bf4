/* SPDX-License-Identifier: MIT */
/*
 * Latency by footprint: a random permutation of all lines of a piece of memory.
 *
 * It falls into all sets alike, so it shows how much fits and nothing of ways. Every sweep maps its
 * memory anew, for other pages come with other physical addresses, and goes once over all sizes:
 * what disturbs a while disturbs one sweep, which the median does not see. Sizes beyond SMALL_MOST
 * take long and are in one sweep of LARGE_EVERY.
 *
 * Linking writes the lines in the order in which they are then read, so that a round has been made
 * when it begins.
 */

#include "probe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "option_values.h"
#include "probe_chase.h"
#include "probe_memory.h"
#include "trace_memory.h"

#define LINE 64 /* where it is really 128, every second access is to the line of the one before */
#define SMALLEST 4096.0
#define SMALL_MOST (4.0 * 1024 * 1024)
#define SWEEPS 25
#define LARGE_EVERY 5
#define ACCESSES_LEAST 16384
#define ACCESSES_MOST 131072
#define MEMORY_SHARE 4 /* of the half of what is available */

static void choose_sizes(struct probe_curve *curve, double bytes_most)
{
	curve->n = 0;
	for (double bytes = SMALLEST; bytes <= bytes_most * 1.001 && curve->n < PROBE_SIZES_MAX;
	        bytes *= bytes < SMALL_MOST * 0.999 ? exp2(0.25) : exp2(0.5))
		curve->bytes[curve->n++] = LINE * round(bytes / LINE);
}

static double measure(struct probe_chain *chain, char *start, uint32_t *order, double bytes)
{
	struct probe_spacing spacing = {.start = start, .stride = LINE, .turns = 1};
	size_t lines = (size_t)bytes / LINE, accesses = lines;

	accesses = accesses < ACCESSES_LEAST  ? ACCESSES_LEAST
	           : accesses > ACCESSES_MOST ? ACCESSES_MOST
	                                      : accesses;
	probe_chase_link_spaced(chain, &spacing, order, lines);
	if (lines <= ACCESSES_MOST)
		probe_chase_run(chain, lines);
	return probe_chase_run(chain, accesses);
}

static int sweep(struct probe_chain *chain, const struct probe_curve *curve, uint32_t *order,
        bool large, double (*times)[SWEEPS], size_t *counts)
{
	double bytes = curve->bytes[curve->n - 1];
	_cleanup_(probe_memory_freep) struct probe_memory *memory = NULL;
	int r = probe_memory_new((size_t)(large ? bytes : fmin(bytes, SMALL_MOST)), true, &memory);

	if (r < 0)
		return r;
	for (size_t i = 0; i < curve->n && (large || curve->bytes[i] <= SMALL_MOST); i++)
		times[i][counts[i]++] = measure(chain, memory->start, order, curve->bytes[i]);
	return 0;
}

int probe_capacity(struct probe *probe, double bytes_most)
{
	struct probe_curve *curve = &probe->curve;
	double available = (double)trace_memory_default(NULL);
	double times[PROBE_SIZES_MAX][SWEEPS];
	size_t counts[PROBE_SIZES_MAX] = {0};
	struct probe_chain chain = {0};
	_cleanup_free_ uint32_t *order = NULL;
	int r = 0;

	if (available > 0)
		bytes_most = fmin(bytes_most, fmax(available / MEMORY_SHARE, SMALLEST));
	choose_sizes(curve, bytes_most);
	order = calloc((size_t)curve->bytes[curve->n - 1] / LINE, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (unsigned k = 0; r == 0 && k < SWEEPS; k++)
		r = sweep(&chain, curve, order, k % LARGE_EVERY == 0, times, counts);
	for (size_t i = 0; r == 0 && i < curve->n; i++) {
		curve->quiet[i] = numbers_quantile(times[i], counts[i], 0.1);
		curve->low[i] = numbers_quantile(times[i], counts[i], 0.25);
		curve->nanoseconds[i] = numbers_quantile(times[i], counts[i], 0.5);
		curve->high[i] = numbers_quantile(times[i], counts[i], 0.75);
	}
	return r;
}

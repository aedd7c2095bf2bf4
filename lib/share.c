/* SPDX-License-Identifier: MIT */
/*
 * What programs do to each other in a cache they share.
 *
 * mtl_demands_share() predicts who occupies what and misses how often (docs/THEORY.md section 16).
 * Who hurts whom is the same question asked again without each of them: the misses of i fall by so
 * much when j is not there. Such amounts need not add up, since the others take what j leaves.
 */

#include "share.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* All but one; which: n leaves out nobody. -ENOMEM. */
static int share_but(const struct share *share, size_t which, double *ret_time,
        double *ret_occupancy, double *ret_misses)
{
	size_t n = share->list->n, kept = 0;
	_cleanup_free_ const struct mtl_demand **demands = calloc(n, sizeof(struct mtl_demand *));
	_cleanup_free_ double *numbers = calloc(2 * n, sizeof(double));
	int r;

	if (!demands || !numbers)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (i != which)
			demands[kept++] = share->list->demands[i];
	r = mtl_demands_share(demands, kept, share->size_bytes, ret_time, numbers, numbers + n);
	for (size_t i = 0, at = 0; r == 0 && i < n; i++) {
		if (i == which)
			continue;
		ret_occupancy[i] = numbers[at];
		ret_misses[i] = numbers[n + at++];
	}
	return r;
}

static int compute_without(struct share *share)
{
	size_t n = share->list->n;
	_cleanup_free_ double *numbers = calloc(2 * n, sizeof(double));
	double time;
	int r = numbers ? 0 : -ENOMEM;

	for (size_t j = 0; r == 0 && j < n; j++) {
		r = share_but(share, j, &time, numbers, numbers + n);
		for (size_t i = 0; r == 0 && i < n; i++)
			share->without[i * n + j] = i == j ? share->together[i] : numbers[n + i];
	}
	return r;
}

int mtl_share_new(const struct demand_list *list, double size_bytes, struct share *ret_share)
{
	size_t n = list->n;
	_cleanup_(mtl_share_done) struct share share = {.list = list, .size_bytes = size_bytes};
	int r;

	share.occupancy = calloc(n * (3 + n), sizeof(double));
	if (!share.occupancy)
		return -ENOMEM;
	share.alone = share.occupancy + n;
	share.together = share.alone + n;
	share.without = share.together + n;
	for (size_t i = 0; i < n; i++)
		share.alone[i] = mtl_demand_misses(list->demands[i], size_bytes, NULL, NULL);
	r = share_but(&share, n, &share.time, share.occupancy, share.together);
	r = r ?: compute_without(&share);
	if (r < 0)
		return r;
	*ret_share = share;
	share.occupancy = NULL;
	return 0;
}

void mtl_share_done(struct share *share)
{
	free(share->occupancy);
	share->occupancy = NULL;
}

size_t mtl_share_worst(const struct share *share, size_t i)
{
	size_t n = share->list->n, worst = n;
	double least = share->together[i];

	for (size_t j = 0; j < n; j++) {
		if (share->without[i * n + j] < least) {
			least = share->without[i * n + j];
			worst = j;
		}
	}
	return worst;
}

bool mtl_share_note(const struct share *share, size_t i, char *ret_text, size_t size)
{
	const struct demand_operand *operand = &share->list->operands[i];
	bool alone = share->size_bytes < operand->demand->smallest_known_bytes;

	if (!mtl_demand_note(operand, share->occupancy[i], ret_text, size))
		return false;
	if (alone)
		snprintf(ret_text + strlen(ret_text), size - strlen(ret_text), ", alone too");
	return true;
}

/* SPDX-License-Identifier: MIT */
/*
 * Bits of a cache for several groups.
 *
 * What is free falls into runs of consecutive bits, usually one. A mask without holes lies in one
 * run, so groups have to be assigned to runs without overfilling any: bin packing, with at most 32
 * bits of all bins together, decided exactly by trying largest groups first. Within a run the
 * groups follow each other in the order given, beginning at the end with fewer shareable bits, so
 * these are left over or go to the last. First it is tried without the shareable bits at all. Where
 * masks may have holes, groups that find no run take free bits from anywhere.
 */

#include "resctrl_masks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

struct run {
	unsigned start, length, left;
};

struct packing {
	struct run runs[RESCTRL_BITS];
	size_t n_runs;
	size_t order[RESCTRL_BITS]; /* of wants, largest first */
	size_t n_order;
	size_t run_of[RESCTRL_BITS]; /* by place in order */
};

static uint32_t bits_from(unsigned start, unsigned length)
{
	return (uint32_t)(((1ULL << length) - 1) << start);
}

static unsigned count(uint32_t mask)
{
	return (unsigned)__builtin_popcount(mask);
}

/* Length of the lowest run of ones: what the kernel counts as bits of a mask. */
static unsigned first_run(uint32_t mask)
{
	return mask == 0 ? 0 : (unsigned)__builtin_ctzll(~((uint64_t)mask >> __builtin_ctz(mask)));
}

int resctrl_mask_check(const struct resctrl_cache *cache, uint32_t taken, uint32_t mask,
        char *ret_error, size_t error_size)
{
	if ((mask == 0 && cache->min_cbm_bits > 0) || mask & ~cache->cbm_mask)
		snprintf(ret_error, error_size, "the mask %x is outside of %x", mask,
		        cache->cbm_mask);
	else if (!cache->sparse && first_run(mask) != count(mask))
		snprintf(ret_error, error_size,
		        "the mask %x has holes, which this processor does not take", mask);
	else if (first_run(mask) < cache->min_cbm_bits)
		snprintf(ret_error, error_size,
		        "the mask %x has fewer than %u consecutive bits, the least this processor "
		        "takes",
		        mask, cache->min_cbm_bits);
	else if (mask & taken)
		snprintf(ret_error, error_size,
		        "the mask %x overlaps %x, which groups in exclusive mode have", mask,
		        mask & taken);
	else
		return 0;
	return -EINVAL;
}

static void find_runs(struct packing *packing, uint32_t free_bits)
{
	packing->n_runs = 0;
	while (free_bits) {
		unsigned start = (unsigned)__builtin_ctz(free_bits), length = first_run(free_bits);

		packing->runs[packing->n_runs++] = (struct run){start, length, length};
		free_bits &= ~bits_from(start, length);
	}
}

static void find_order(struct packing *packing, const struct resctrl_want *wants, size_t n)
{
	packing->n_order = 0;
	for (size_t i = 0; i < n; i++) {
		size_t j = packing->n_order;

		if (wants[i].mask || wants[i].ways == 0)
			continue;
		for (; j > 0 && wants[packing->order[j - 1]].ways < wants[i].ways; j--)
			packing->order[j] = packing->order[j - 1];
		packing->order[j] = i;
		packing->n_order++;
	}
}

/* Runs with equally much left are one to the search. */
static bool seen_before(const struct packing *packing, size_t run)
{
	for (size_t i = 0; i < run; i++)
		if (packing->runs[i].left == packing->runs[run].left)
			return true;
	return false;
}

static bool assign(struct packing *packing, const struct resctrl_want *wants, size_t at)
{
	unsigned ways;

	if (at == packing->n_order)
		return true;
	ways = wants[packing->order[at]].ways;
	for (size_t i = 0; i < packing->n_runs; i++) {
		if (packing->runs[i].left < ways || seen_before(packing, i))
			continue;
		packing->runs[i].left -= ways;
		packing->run_of[at] = i;
		if (assign(packing, wants, at + 1))
			return true;
		packing->runs[i].left += ways;
	}
	return false;
}

static bool in_run(const struct packing *packing, size_t want, size_t run)
{
	for (size_t i = 0; i < packing->n_order; i++)
		if (packing->order[i] == want)
			return packing->run_of[i] == run;
	return false;
}

static void lay_out(const struct packing *packing, size_t r, uint32_t avoid,
        struct resctrl_want *wants, size_t n)
{
	const struct run *run = &packing->runs[r];
	unsigned used = run->length - run->left, at = run->start;
	bool down = count(avoid & bits_from(run->start, used)) >
	            count(avoid & bits_from(run->start + run->left, used));

	for (size_t i = 0; i < n; i++) {
		if (!in_run(packing, i, r))
			continue;
		wants[i].mask =
		        bits_from(down ? 2 * run->start + run->length - at - wants[i].ways : at,
		                wants[i].ways);
		at += wants[i].ways;
	}
}

static bool contiguous(uint32_t free_bits, uint32_t avoid, struct resctrl_want *wants, size_t n)
{
	struct packing packing;

	find_runs(&packing, free_bits);
	find_order(&packing, wants, n);
	if (!assign(&packing, wants, 0))
		return false;
	for (size_t r = 0; r < packing.n_runs; r++)
		lay_out(&packing, r, avoid, wants, n);
	return true;
}

/* Lowest free bits one by one, those to avoid when no other is left. */
static void scattered(uint32_t free_bits, uint32_t avoid, struct resctrl_want *wants, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (wants[i].mask)
			continue;
		for (unsigned way = 0; way < wants[i].ways; way++) {
			uint32_t better = free_bits & ~avoid ?: free_bits;
			uint32_t bit = better & -better;

			wants[i].mask |= bit;
			free_bits &= ~bit;
		}
	}
}

static int no_room(const struct resctrl_cache *cache, uint32_t free_bits, unsigned wanted,
        char *ret_error, size_t error_size)
{
	struct packing packing;
	int at;

	if (wanted > count(free_bits)) {
		snprintf(ret_error, error_size,
		        "the groups want %u ways together, and %u of the %u can be given", wanted,
		        count(free_bits), cache->bits);
		return -ENOSPC;
	}
	find_runs(&packing, free_bits);
	at = snprintf(ret_error, error_size,
	        "masks cannot have holes here, the free ways are in pieces of");
	for (size_t i = 0; i < packing.n_runs && (size_t)at < error_size; i++)
		at += snprintf(ret_error + at, error_size - (size_t)at, "%s %u", i ? "," : "",
		        packing.runs[i].length);
	if ((size_t)at < error_size)
		snprintf(ret_error + at, error_size - (size_t)at,
		        ", and the groups do not fit into these whole");
	return -ENOSPC;
}

int resctrl_masks(const struct resctrl_cache *cache, uint32_t taken,
        enum resctrl_shareable shareable, struct resctrl_want *wants, size_t n, char *ret_error,
        size_t error_size)
{
	uint32_t free_bits = cache->cbm_mask & ~taken, avoid = cache->shareable_bits;
	unsigned wanted = 0;

	for (size_t i = 0; i < n; i++) {
		wanted += wants[i].mask ? 0 : wants[i].ways;
		free_bits &= ~wants[i].mask;
	}
	if (shareable == RESCTRL_SHAREABLE_NEVER)
		free_bits &= ~avoid;
	if (shareable == RESCTRL_SHAREABLE_ANY)
		avoid = 0;
	/* More than 32 groups of at least a way do not get as far as find_order(). */
	if (wanted > count(free_bits))
		return no_room(cache, free_bits, wanted, ret_error, error_size);
	if (contiguous(free_bits & ~avoid, 0, wants, n))
		return 0;
	if (cache->sparse && cache->min_cbm_bits <= 1 && wanted <= count(free_bits & ~avoid)) {
		scattered(free_bits & ~avoid, 0, wants, n);
		return 0;
	}
	if (contiguous(free_bits, avoid, wants, n))
		return 0;
	if (!cache->sparse || cache->min_cbm_bits > 1)
		return no_room(cache, free_bits, wanted, ret_error, error_size);
	scattered(free_bits, avoid, wants, n);
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "zipf.h"
#include <math.h>
#include "workload.h"

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static void make_bins(struct zipf *zipf, double skew)
{
	uint64_t first = 0;
	double total = 0;

	zipf->n = 0;
	while (first < zipf->ranks && zipf->n < ZIPF_BINS_MAX) {
		struct zipf_bin *bin = &zipf->bins[zipf->n++];
		uint64_t octave = (first + 1) >> 3, width = 1;

		while (width * 2 <= octave)
			width *= 2;
		bin->first = first;
		bin->width = width < zipf->ranks - first ? width : zipf->ranks - first;
		bin->chance = pow((double)bin->first + ((double)bin->width + 1) / 2, -skew);
		total += bin->chance * (double)bin->width;
		first += bin->width;
	}
	for (unsigned i = 0; i < zipf->n; i++)
		zipf->bins[i].chance /= total;
}

/* Vose's alias method over the bins' masses, scaled so that the mean is 1. */
static void make_alias(struct zipf *zipf)
{
	double mass[ZIPF_BINS_MAX];
	unsigned small[ZIPF_BINS_MAX], large[ZIPF_BINS_MAX], n_small = 0, n_large = 0;

	for (unsigned i = 0; i < zipf->n; i++) {
		struct zipf_bin *bin = &zipf->bins[i];
		mass[i] = bin->chance * (double)bin->width * zipf->n;
		bin->cut = UINT32_MAX;
		bin->other = i;
		if (mass[i] < 1)
			small[n_small++] = i;
		else
			large[n_large++] = i;
	}
	while (n_small > 0 && n_large > 0) {
		unsigned poor = small[--n_small], rich = large[n_large - 1];
		zipf->bins[poor].cut = (uint32_t)(mass[poor] * UINT32_MAX);
		zipf->bins[poor].other = rich;
		mass[rich] -= 1 - mass[poor];
		if (mass[rich] < 1) {
			n_large--;
			small[n_small++] = rich;
		}
	}
}

void zipf_init(struct zipf *ret_zipf, uint64_t ranks, double skew)
{
	ret_zipf->ranks = ranks;
	ret_zipf->scatter = (uint64_t)(0.6180339887498949 * (double)ranks) | 1;
	while (gcd(ret_zipf->scatter, ranks) != 1)
		ret_zipf->scatter += 2;
	make_bins(ret_zipf, skew);
	make_alias(ret_zipf);
}

uint64_t zipf_draw(const struct zipf *zipf, uint64_t *random)
{
	uint64_t x = random_next(random);
	const struct zipf_bin *bin = &zipf->bins[((x >> 32) * zipf->n) >> 32];

	if ((uint32_t)x > bin->cut)
		bin = &zipf->bins[bin->other];
	x = random_next(random);
	x = bin->first + (uint64_t)((unsigned __int128)x * bin->width >> 64);
	return x * zipf->scatter % zipf->ranks;
}

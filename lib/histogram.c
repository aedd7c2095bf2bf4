/* SPDX-License-Identifier: MIT */
/*
 * Log-linear histogram (Xiang et al. 2011): octaves 2^k + 1 ... 2^(k+1), each in 256 bins of equal
 * width, so that a bin is a single value up to 512 and no wider than 1/256 of its values above.
 *
 * A bin keeps the count and the sum of its values. At a bin's upper end the sums over all values
 * above and below are therefore exact; they are summed up once (`settled`), and a question in
 * between adds what the linear density of its bin says (linear_density.h).
 */

#include "histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linear_density.h"

int mtl_histogram_new(struct mtl_histogram **ret_histogram)
{
	struct mtl_histogram *histogram = calloc(1, sizeof(*histogram));

	if (!histogram)
		return -ENOMEM;
	*ret_histogram = histogram;
	return 0;
}

struct mtl_histogram *mtl_histogram_free(struct mtl_histogram *histogram)
{
	free(histogram);
	return NULL;
}

void mtl_histogram_clear(struct mtl_histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
}

void mtl_histogram_add(struct mtl_histogram *histogram, uint64_t value, uint64_t count)
{
	if (value == MTL_NEVER) {
		histogram->infinite += count;
		return;
	}
	unsigned i = mtl_histogram_bin_of(value);

	if (value > histogram->greatest)
		histogram->greatest = value;
	histogram->bins[i].count += count;
	histogram->bins[i].offset += count * (value - mtl_histogram_lower(i));
	histogram->settled = false;
}

uint64_t mtl_histogram_finite(const struct mtl_histogram *histogram)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < HISTOGRAM_BINS; i++)
		sum += histogram->bins[i].count;
	return sum;
}

uint64_t mtl_histogram_infinite(const struct mtl_histogram *histogram)
{
	return histogram->infinite;
}

/* Of a bin that holds anything: to where its values may lie. */
static double width_of(const struct mtl_histogram *h, unsigned bin)
{
	uint64_t rest = h->greatest - mtl_histogram_lower(bin);
	uint64_t width = mtl_histogram_width(bin);

	return (double)(rest < width ? rest : width);
}

static void settle(struct mtl_histogram *h)
{
	double above = 0, excess = 0, below = 0, shortfall = 0;

	h->n_used = HISTOGRAM_BINS;
	while (h->n_used > 0 && !h->bins[h->n_used - 1].count)
		h->n_used--;
	for (unsigned i = h->n_used; i-- > 0;) {
		h->above[i] = above;
		h->excess[i] = excess;
		excess += above * width_of(h, i) + (double)h->bins[i].offset;
		above += (double)h->bins[i].count;
	}
	for (unsigned i = 0; i < h->n_used; i++) {
		double width = width_of(h, i), count = (double)h->bins[i].count;

		shortfall += below * width + count * width - (double)h->bins[i].offset;
		below += count;
		h->shortfall[i] = shortfall;
	}
	h->settled = true;
}

/* Where x > 0 is: in a bin, `inside` above its lower end, 0 < inside <= width. */
struct place {
	unsigned bin;
	double width, inside, count, mean;
};

static struct place find(struct mtl_histogram *h, double x)
{
	struct place place;

	if (!h->settled)
		settle(h);
	place.bin = mtl_histogram_bin_of(x < 0x1p63 ? (uint64_t)ceil(x) : UINT64_C(1) << 63);
	const struct mtl_histogram_bin *bin = &h->bins[place.bin];
	place.width = place.bin < h->n_used ? width_of(h, place.bin) : 1;
	place.inside = fmin(x - (double)mtl_histogram_lower(place.bin), place.width);
	place.count = (double)bin->count;
	place.mean = bin->count ? (double)bin->offset / place.count : 1;
	return place;
}

static double all(struct mtl_histogram *h)
{
	if (!h->settled)
		settle(h);
	return h->above[0] + (double)h->bins[0].count;
}

double mtl_histogram_above(struct mtl_histogram *h, double x)
{
	if (!(x > 0))
		return all(h);
	struct place p = find(h, x);
	return h->above[p.bin] + p.count * mtl_density_above(p.width, p.mean, p.inside);
}

double mtl_histogram_excess(struct mtl_histogram *h, double x)
{
	if (!(x > 0)) /* all values are at least 1 */
		return all(h) * (1 - x) + h->excess[0];
	struct place p = find(h, x);
	return h->excess[p.bin] + h->above[p.bin] * (p.width - p.inside) +
	       p.count * mtl_density_excess(p.width, p.mean, p.inside);
}

double mtl_histogram_shortfall(struct mtl_histogram *h, double x)
{
	if (!(x > 0) || all(h) == 0)
		return 0;
	if (x >= (double)h->greatest)
		return h->shortfall[h->n_used - 1] + all(h) * (x - (double)h->greatest);
	struct place p = find(h, x);
	double before = 0;
	if (p.bin > 0)
		before = h->shortfall[p.bin - 1] + (all(h) - h->above[p.bin - 1]) * p.inside;
	return before +
	       p.count * (p.inside - p.mean + mtl_density_excess(p.width, p.mean, p.inside));
}

double mtl_histogram_above_error(struct mtl_histogram *h, double x)
{
	if (!(x > 0))
		return 0;
	struct place p = find(h, x);
	return p.count * mtl_density_above_error(p.width, p.mean, p.inside);
}

double mtl_histogram_excess_error(struct mtl_histogram *h, double x)
{
	if (!(x > 0))
		return 0;
	struct place p = find(h, x);
	return p.count * mtl_density_excess_error(p.width, p.mean, p.inside);
}

size_t mtl_histogram_bins(
        const struct mtl_histogram *histogram, struct mtl_bin *ret_bins, size_t most)
{
	size_t n = 0;

	for (unsigned i = 0; i < HISTOGRAM_BINS; i++) {
		const struct mtl_histogram_bin *bin = &histogram->bins[i];
		uint64_t lower = mtl_histogram_lower(i);

		if (!bin->count)
			continue;
		if (n < most)
			ret_bins[n] = (struct mtl_bin){
			        .low = lower + 1,
			        .high = lower + (mtl_histogram_width(i) - 1) +
			                (i + 1 < HISTOGRAM_BINS),
			        .count = bin->count,
			        .mean = (double)lower + (double)bin->offset / (double)bin->count,
			};
		n++;
	}
	return n;
}

/* SPDX-License-Identifier: MIT */
#ifndef MTL_BAND_H
#define MTL_BAND_H

/* Majorant -> miss rates, its slope smoothed over as many sizes as bear it. */

#include "footprint.h"

#define BANDS_MAX 64

/* Misses a second, never rising, at sizes a constant factor apart from the first to the last. */
struct mtl_bands {
	size_t n;           /* 0: no more is known than the majorant says */
	double first, last; /* lines */
	double misses[BANDS_MAX];
};

/*
 * touches[g]: how many touches (effective) a line of the footprint is worth at window g of the
 * grid, that is how many watched so long, by the lines there are.
 */
void mtl_bands_from_majorant(const struct mtl_footprint *majorant, double resolution,
        const struct mtl_grid *grid, const double touches[GRID_MAX], struct mtl_bands *ret_bands);

/* In a cache of this many lines; what mtl_misses_from_fill_time() says where there are no bands. */
double mtl_misses_from_bands(const struct mtl_bands *bands, const struct mtl_footprint *majorant,
        double resolution, double lines);

#endif

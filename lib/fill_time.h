/* SPDX-License-Identifier: MIT */
#ifndef MTL_FILL_TIME_H
#define MTL_FILL_TIME_H

#include "footprint.h"

/* Footprint -> fill time: the window that touches this many lines; INFINITY: none trusted does. */
double mtl_fill_time_from_footprint(const struct mtl_footprint *footprint, double lines);

/* Fill times differ by this much between two sizes, both within the footprint. */
double mtl_refill_time(const struct mtl_footprint *footprint, double from, double to);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTL_FILL_TIME_H
#define MTL_FILL_TIME_H

#include "footprint.h"

/* Footprint -> fill time: the window that touches this many lines; INFINITY: none trusted does. */
double mtl_fill_time_from_footprint(const struct mtl_footprint *footprint, double lines);

#endif

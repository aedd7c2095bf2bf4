/* SPDX-License-Identifier: MIT */
#ifndef MTL_AGREEMENT_H
#define MTL_AGREEMENT_H

#include "mtl.h"

/*
 * How a curve agrees with what the processor counted: its misses at the size of the last-level
 * cache and those of that cache. The whole cache is taken to be the process's: with neighbours in
 * it the prediction is too low.
 */
struct mtl_agreement {
	double cache_bytes;                 /* NAN: unknown */
	double predicted_misses_per_second; /* NAN: unknown, here and below */
	double measured_misses_per_second;
	double ratio;    /* predicted / measured */
	char reason[96]; /* why there is no ratio; "" */
};

void mtl_agreement(const struct mtl_curve *curve, const struct mtl_curve_origin *origin,
        struct mtl_agreement *ret_agreement);

#endif

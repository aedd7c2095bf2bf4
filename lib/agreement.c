/* SPDX-License-Identifier: MIT */
/*
 * Predicted against counted misses of the last-level cache: a score of the whole way from watched
 * lines to a miss rate, by an instrument that has nothing in common with it.
 */

#include <math.h>
#include <stdio.h>
#include "agreement.h"

void mtl_agreement(const struct mtl_curve *curve, const struct mtl_curve_origin *origin,
        struct mtl_agreement *ret_agreement)
{
	struct mtl_agreement a = {
	        .cache_bytes = curve->cache_bytes > 0 ? curve->cache_bytes : NAN,
	        .predicted_misses_per_second =
	                curve->cache_bytes > 0 ? curve->cache_misses_per_second : NAN,
	        .measured_misses_per_second = origin->llc_misses_per_second,
	        .ratio = NAN,
	};

	if (isnan(a.measured_misses_per_second))
		snprintf(a.reason, sizeof(a.reason),
		        "no counter of last-level cache misses is in use (rung %s)", origin->rung);
	else if (isnan(a.predicted_misses_per_second))
		snprintf(a.reason, sizeof(a.reason),
		        "the size of the last-level cache is not known");
	else if (!(a.measured_misses_per_second > 0))
		snprintf(a.reason, sizeof(a.reason), "no miss was counted");
	else
		a.ratio = a.predicted_misses_per_second / a.measured_misses_per_second;
	*ret_agreement = a;
}

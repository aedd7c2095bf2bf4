/* SPDX-License-Identifier: MIT */
#ifndef MTL_INTERVAL_H
#define MTL_INTERVAL_H

/* Replicates of an estimate -> the 90 % interval around it. */

#include <stddef.h>

struct mtl_interval {
	double low, high;
};

/*
 * What an interval is made of. deviation, bias: standard deviation of the replicates, and their
 * mean less the value. unseen: by how much one more touch, of the heaviest line there is, would
 * have raised the value.
 */
struct mtl_evidence {
	double value, deviation, bias, unseen;
};

/* value: what the n replicates are replicates of. */
struct mtl_evidence mtl_evidence_from_replicates(
        const double *replicates, size_t n, double value, double unseen);

/* Of a part of a whole, seen by so many (effective) watchers at most. Within 0 ... whole. */
struct mtl_interval mtl_part_interval(
        const struct mtl_evidence *evidence, double whole, double watchers);

/* Of a rate. Within 0 ... INFINITY. */
struct mtl_interval mtl_rate_interval(const struct mtl_evidence *evidence);

#endif

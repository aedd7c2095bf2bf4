/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_TRUTH_H
#define MTL_CLI_STUB_TRUTH_H

#include <json-c/json.h>

#include "cleanup.h"
#include "stub_file.h"

/* What is known of the accesses of a file, run `repeat` times over, without making them. */
struct stub_truth;

/* -ENODATA: there is no phase. -ERANGE: more accesses than 2^53. -EDOM: a random phase of few
 * passes is to be repeated beside others, which has no closed form (30 passes always have).
 * -ENOMEM. */
int stub_truth_new(const struct stub_file *file, uint64_t repeat, struct stub_truth **ret_truth);
struct stub_truth *stub_truth_free(struct stub_truth *truth);
DEFINE_CLEANUP(struct stub_truth, stub_truth_free)

double stub_truth_accesses(const struct stub_truth *truth);
/* Lines accessed; expected where phases are random. */
double stub_truth_distinct(const struct stub_truth *truth);
/* Misses of a fully associative LRU cache of so many lines, 1 or more, empty before: exact, or what
 * is expected where phases are random. */
double stub_truth_misses(const struct stub_truth *truth, double lines);
/* How far the miss ratio of a run is from that: a standard deviation; 0: not at all. */
double stub_truth_deviation(const struct stub_truth *truth);

/* The curve as an object like that of `mtl trace` (docs/PROTOCOL.md). -ENOMEM. */
int stub_truth_to_json(const struct stub_truth *truth, struct json_object **ret_object);

#endif

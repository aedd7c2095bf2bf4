/* SPDX-License-Identifier: MIT */
#ifndef MTL_STACK_DISTANCE_H
#define MTL_STACK_DISTANCE_H

#include "last_access.h"
#include "mtl.h"
#include "recency.h"

struct mtl_stack {
	struct mtl_last_access last; /* position + 1 of each datum's mark */
	struct mtl_recency order;
	uint64_t accesses;
	uint64_t *counts; /* [d]: accesses of distance d; [0] is not used */
	uint64_t n_counts;
	uint64_t most_bytes, peak;
};

/* Takes a datum out of the stack, without a trace (SHARDS of fixed size). */
void mtl_stack_forget(struct mtl_stack *stack, uint64_t datum);

#endif

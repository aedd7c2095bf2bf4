/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_TRACE_PROGRESS_H
#define MTL_CLI_TRACE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include "trace_reader.h"

/* How far the reading of a trace is, on standard error, when that is a terminal and it takes longer
 * than a second. See trace_progress.c. */
struct trace_progress {
	struct trace_reader *reader;
	bool wanted, shown;
	uint64_t accesses;
	double started, drawn; /* seconds */
};

void trace_progress_begin(struct trace_progress *progress);
/* n more accesses: a batch, as the clock is asked each time. */
void trace_progress_count(struct trace_progress *progress, uint64_t n);
/* Takes the bar away. */
void trace_progress_end(struct trace_progress *progress);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_HISTORY_RING_H
#define MTLD_HISTORY_RING_H

/*
 * How the curve of one process went over the last hour, in 136 bytes an entry, 48 KiB at most:
 * plain structs, no clock. It lives as long as mtld knows the process.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "history.h"

enum {
	HISTORY_ENTRIES = 360,
	HISTORY_SIZES = 20, /* powers of two from 32 KiB on, and those of the caches */
	HISTORY_USUAL = 3,
	HISTORY_RESAMPLES = 40,
	HISTORY_ASKED = 16 /* sizes that one question may ask for */
};
#define HISTORY_SECONDS 3600.0 /* of them are told */

enum history_reason { HISTORY_KNOWN, HISTORY_TOO_FEW, HISTORY_PAUSED, HISTORY_IDLE };

/* Values are codes (history_code()). */
struct history_entry {
	uint32_t end_ds; /* tenths of seconds since it began */
	float cpu_seconds;
	uint16_t wall_ds;
	uint8_t reason, changed;
	uint16_t footprint[3], misses[HISTORY_SIZES][3];
};

struct history_ring {
	double sizes[HISTORY_SIZES]; /* ascending */
	unsigned n_sizes;
	double usual[HISTORY_USUAL];   /* L2, half of the last-level cache, all of it; 0: unknown */
	struct history_entry *entries; /* a ring of `room` */
	unsigned room, n, next;
	double begin, end; /* of everything, and of the latest entry: wall-clock seconds */
	double cpu;        /* CPU seconds at that end */
	uint64_t seen;     /* observations at that end */
	unsigned changes;  /* of phase, by then */
};

/* A number in 16 bits: right to 0.04 % from 2^-16 to 2^48; 0 and NAN are themselves. */
uint16_t history_code(double value);
double history_value(uint16_t code);

/* What is so now. */
struct history_now {
	double wall, cpu;
	uint64_t seen;
	unsigned changes;
	bool paused;
};

/* Cache sizes: 0 where unknown. offset: its first entry is due so many seconds early, so that not
 * all processes are due at once. */
void history_begin(struct history_ring *history, double l2_bytes, double last_cache_bytes,
        double wall, double offset);
void history_done(struct history_ring *history);

/* Is an entry due? And if so: has it something to tell, or why not? */
bool history_due(const struct history_ring *history, const struct history_now *now);
enum history_reason history_reason_now(
        const struct history_ring *history, const struct history_now *now);

/* What to ask the curve for. */
void history_question(const struct history_ring *history, struct mtl_estimate_options *options);

/* The entry that is due, of the curve that was the answer (NULL: reason says why there is none).
 * -ENOMEM. */
int history_add(struct history_ring *history, const struct history_now *now,
        enum history_reason reason, const struct mtl_curve *curve);

/* At these sizes, at most HISTORY_ASKED; none: those of the caches, L2, half of the last level, the
 * last level. The origin's members are left to the caller. -ENOMEM. */
int history_tell(const struct history_ring *history, double wall, const double *sizes, size_t n,
        struct mtl_history **ret_history);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_BACKOFF_H
#define MTLD_BACKOFF_H

/*
 * Why a process is sampled less than its budget allows, since when, and by how much: one account
 * for all reasons, so that each can be told and is logged once. Decisions on a plain struct.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "self_check.h"

enum backoff_reason {
	BACKOFF_CPU_PRESSURE, /* it waits for a CPU */
	BACKOFF_SELF_CHECK,   /* it loses more than it may */
	BACKOFF_DAEMON_CPU,   /* mtld itself takes more than it may */
	BACKOFF_SWITCHES,     /* its switches are dear: the clocks rest */
	N_BACKOFF_REASONS
};

struct backoff {
	double factor[N_BACKOFF_REASONS];   /* of the pace; 1: none */
	uint64_t since[N_BACKOFF_REASONS];  /* CLOCK_MONOTONIC; 0: not now */
	uint64_t logged[N_BACKOFF_REASONS]; /* likewise */
	double waiting; /* share of the time it wants a CPU in which it has none, smoothed; NAN:
	                   unknown */
};

void backoff_begin(struct backoff *backoff);

/* What the pace is to be multiplied by; true: it has just begun, and is to be logged. */
bool backoff_set(struct backoff *backoff, enum backoff_reason reason, double factor, uint64_t now);

/* It ran, and waited to run, for so many seconds since the call before: the factor of CPU pressure.
 */
double backoff_of_waiting(struct backoff *backoff, double ran, double waited);

/* The factor that was, after the self-check said this: less while it surely loses more than its
 * budget. */
double backoff_of_check(double factor, const struct check_result *checked, double max_overhead);

/* Of the reasons that lie with the process itself. */
double backoff_factor(const struct backoff *backoff);

/* "cpu-pressure" ...; and a sentence. */
const char *backoff_name(enum backoff_reason reason);
void backoff_explain(
        const struct backoff *backoff, enum backoff_reason reason, char *ret_text, size_t size);

#endif

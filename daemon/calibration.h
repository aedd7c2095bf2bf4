/* SPDX-License-Identifier: MIT */
#ifndef MTLD_CALIBRATION_H
#define MTLD_CALIBRATION_H

/*
 * The instrument measured on itself at start: does arming work (exactly one trap for each slot
 * armed), and what does each act cost a target.
 */

#include <stddef.h>
#include "sampler.h"
#include "source.h"

struct calibration {
	enum watch_method method;
	unsigned length;          /* bytes a slot covers: 8, or 64 with range breakpoints */
	unsigned slots;           /* words watched at once */
	double trap_seconds;      /* lost by the target for one trap and its aftermath */
	double arm_seconds;       /* lost by the target for arming and disarming one quad, no trap */
	double moment_seconds;    /* lost by the target when an armer wakes and does nothing */
	double switch_seconds;    /* one context switch more, with slots enabled against none open */
	double clock_seconds;     /* lost by the target at a switch in and out to the programs there */
	double count_seconds;     /* likewise to reading counters; 0: there are none */
	double open_seconds;      /* opening and closing the events of one thread */
	double sample_seconds;    /* lost by the target for one address sample; 0: there are none */
	double code_sample_seconds; /* what one of the clock would take */
	double string_loss;       /* part of their time that strings lose while watched (string_cost.h) */
	double shift_seconds;     /* constant part of each measured time, subtracted from all */
	double resolution_seconds; /* shortest window trusted */
	unsigned arms, traps, stray; /* of the self-test */
};

/* Runs on a child process of its own for about half a second (up to ten, where nothing else lets it run),
 * tries the methods in order and sets the sampler and the source up with what it found. Negative errno and
 * a reason in ret_error when no method works: -EIO no watchpoint ever fires, -EAGAIN some do. */
int calibration_run(struct source *source, struct sampler *sampler, struct calibration *ret_calibration,
	char *ret_error, size_t error_size);

#endif

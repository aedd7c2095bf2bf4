/* SPDX-License-Identifier: MIT */
#ifndef MTLD_SELF_CHECK_H
#define MTLD_SELF_CHECK_H

/*
 * Now and then: does a target really get on as well with sampling as without? Decisions and
 * statistics on a plain struct; who calls reads the target's progress and pauses its sampling.
 */

#include <stdbool.h>
#include <stdint.h>

/* What may serve as a unit of progress; all count up since some beginning. */
enum check_unit {
	CHECK_ACCESSES, /* memory accesses, where they are counted */
	CHECK_CALLS,    /* reads and writes it asked the kernel for */
	CHECK_BYTES,    /* that they moved */
	CHECK_FAULTS,   /* minor page faults */
	CHECK_SLEEPS,   /* context switches of its own will */
	N_CHECK_UNITS
};

struct check_reading {
	double value[N_CHECK_UNITS]; /* NAN: not to be had */
	double cpu_seconds;          /* of the kernel's clock, which counts what traps take */
};

/* CPUs: of a process that runs less a window holds too little to compare. */
#define CHECK_CPUS_LEAST 0.1

enum { CHECK_PAIRS = 64, CHECK_PAIRS_LEAST = 12 };

struct self_check {
	unsigned phase;
	bool paused_first;
	uint64_t due; /* CLOCK_MONOTONIC */
	uint64_t random;
	struct check_reading begin;
	double rate[2][N_CHECK_UNITS]; /* a CPU second; with sampling, without */
	double loss[N_CHECK_UNITS][CHECK_PAIRS];
	unsigned n[N_CHECK_UNITS]; /* pairs of each unit ever */
	unsigned pairs;            /* since the beginning, whether of use or not */
};

struct check_result {
	double loss, low, high; /* part of its progress, 90 % interval; NAN: not known */
	unsigned pairs;
	const char *unit; /* "": none */
	char reason[96];  /* why it is not known; "" */
};

void self_check_begin(struct self_check *check, uint64_t now, uint64_t seed);

/* Whether self_check_step() has to be called now. */
bool self_check_due(const struct self_check *check, uint64_t now);

/* With a reading of this moment. True: sampling is to be paused from now on, until a call says
 * false. */
bool self_check_step(struct self_check *check, uint64_t now, const struct check_reading *reading);

void self_check_tell(const struct self_check *check, struct check_result *ret_result);

#endif

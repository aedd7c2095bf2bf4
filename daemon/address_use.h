/* SPDX-License-Identifier: MIT */
#ifndef MTLD_ADDRESS_USE_H
#define MTLD_ADDRESS_USE_H

/*
 * What address samples are used here: which events, at what period, at what cost; and why none,
 * where there are none. They run only while something is tracked.
 */

#include "address_source.h"
#include "config.h"
#include "instrument.h"
#include "manager.h"
#include "rates.h"

struct address_use;

/* Takes those sampled events of this machine that the configuration wants and the kernel grants.
 * Having none is no error; address_use_problem() says why. -ENOMEM. */
int address_use_new(const struct instrument *instrument, const struct config *config,
        address_fn callback, code_fn code, void *userdata, struct address_use **ret_use);
struct address_use *address_use_free(struct address_use *use);

/* Something is tracked; nothing is any more. */
void address_use_begin(struct address_use *use);
/* Somebody new is tracked: for a second samples of the clock come more often, for what it is doing
 * and what watching costs it (string_cost.h) to be known soon. */
void address_use_hurry(struct address_use *use);
void address_use_rest(struct address_use *use);

/* Readable when samples wait; -EAGAIN: there never are any. */
int address_use_fd(const struct address_use *use);

/* Calls back for samples that wait. Some ten times a second, and when the descriptor is readable.
 */
void address_use_consume(struct address_use *use);

/*
 * About once a second: follows CPUs, sets periods. per_cpu_second: samples that the process most
 * sampled gets in a second of its CPU time; share: governor_share().
 */
void address_use_settle(struct address_use *use, double per_cpu_second, double share);

/* Whether samples stand for accesses, and how many of those due never came. */
void address_use_sampling(const struct address_use *use, struct rates_sampling *ret_sampling);

/* By which events single misses are told: those of the PMU, or page faults alone. REUSE_NONE: by
 * none. */
enum reuse_means address_use_misses(const struct address_use *use);

/* Seconds one sample takes from the process it is taken of. */
double address_use_sample_seconds(const struct address_use *use);

unsigned address_use_events(const struct address_use *use);
void address_use_describe(
        const struct address_use *use, unsigned event, struct manager_event *ret_event);

/* Why an event that was wanted is not there, or stopped: reason and fix; "" when all is well. */
const char *address_use_problem(const struct address_use *use);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef MTLD_ADDRESS_SOURCE_H
#define MTLD_ADDRESS_SOURCE_H

/*
 * Address samples: data addresses that tracked processes touched, as PEBS, IBS or the page-fault
 * event give them. Which processes are tracked, and as which index, the source decides.
 */

#include "pmu.h"
#include "source.h"

struct address_source;

typedef void (*address_fn)(void *userdata, const struct mtl_address *sample);

/* What a sample of the clock came to, once the code there was decoded. */
enum code_outcome {
	CODE_USED,
	CODE_WITHOUT_ADDRESS,
	CODE_UNREADABLE,
	CODE_LEFT_OUT,
	CODE_OUTCOMES
};
typedef enum code_outcome (*code_fn)(void *userdata, const struct mtl_instruction *sample);

/* What became of one event's samples since address_source_new(). `seen` is the sum of the seven
 * below it; `due` what the kernel should have given by the events it counted. */
struct address_counts {
	const struct pmu_event *event;
	unsigned cpus, precise; /* CPUs it is open on now; precise_ip granted */
	uint64_t period;
	bool misses_only;       /* loads that hit are left out in the kernel */
	enum mtl_misses misses; /* which are known to be misses */
	uint64_t seen, foreign, zero, kernel, filtered, unreadable, delivered, lost;
	double rate; /* samples a second on the busiest CPU, between the two latest looks */
	double due;
	uint64_t unseen;    /* due, and not given: skipped or thrown away by the kernel; 0 of the
	                     * clock,    which is not sampled in the kernel and when idle */
	uint64_t throttles; /* times the kernel stopped it until the next tick */
	double starved;     /* share of the last second or so in which others had the counter */
	int error;          /* of opening it, the latest; negative errno, 0: none */
};

/*
 * Takes the first MTL_EVENTS of the sampled events given (copied), opens none. ring_bytes: a CPU's
 * ring, shared by all events. -EINVAL: there is no sampled event.
 */
int address_source_new(struct source *source, const struct pmu_event *events, unsigned n,
        unsigned ring_bytes, address_fn callback, void *userdata,
        struct address_source **ret_addresses);
/* Who decodes samples of the clock (PMU_TASK_CLOCK). Without, they have no address. */
void address_source_on_code(struct address_source *addresses, code_fn callback);
struct address_source *address_source_free(struct address_source *addresses);

/* Which samples of an event stand for accesses: all of loads and stores, whether they have an
 * address or not; those micro-operations of IBS that have one of the process; no page faults, no
 * samples of the clock, nor misses alone. */
enum mtl_accesses address_source_accesses(enum pmu_event_kind kind);

/* Which samples of an event are misses of the L1 cache, if levels can be read. Page faults stand in
 * for all of them. */
enum mtl_misses address_source_misses(const struct pmu_event *event, bool sees_levels);

/* Opens all events on all their CPUs and turns them on. On error nothing is open, and the event
 * that was refused has its `error`. */
int address_source_start(struct address_source *addresses);
void address_source_stop(struct address_source *addresses);
bool address_source_runs(const struct address_source *addresses);

/* Reads counters and follows CPUs that come and go. About once a second while it runs. */
void address_source_follow(struct address_source *addresses);

/* Readable when a ring is half full; samples wait there until then, or until they are fetched. */
int address_source_fd(const struct address_source *addresses);
/* Calls back for what is there, some thousand at a time. */
void address_source_consume(struct address_source *addresses);

unsigned address_source_events(const struct address_source *addresses);
void address_source_counts(
        const struct address_source *addresses, unsigned event, struct address_counts *ret_counts);

/* -EINVAL: the kernel does not accept this period; the old one stays. */
int address_source_set_period(struct address_source *addresses, unsigned event, uint64_t period);

#endif

// SPDX-License-Identifier: MIT
/*
 * Counters on every CPU. A hybrid machine has an event of each kind for either sort of core, on
 * CPUs of its own; both count as that kind. Reading a counter from afar interrupts its CPU, so CPUs
 * are followed only every few seconds: between a CPU's return and that, it counts nothing, and what
 * is not counted is known to be so.
 */
#include "counters.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cleanup.h"
#include "cpu_events.h"
#include "program_cost.h"

#define EVENTS_MAX 16
#define FOLLOW_EVERY 5 /* calls of counters_follow() */

struct counters {
	struct source *source;
	struct cpu_events *events[EVENTS_MAX];
	enum counter_kind kinds[EVENTS_MAX];
	unsigned n_events, calls;
	struct program_cost cost; /* while it is measured */
	double switch_seconds;
	bool runs;
};

DEFINE_CLEANUP(struct counters, counters_free)

static int kind_of(const struct pmu_event *event, bool accesses)
{
	if (pmu_event_is_sampled(event->kind) || (!accesses && event->kind < PMU_COUNT_L1_MISSES))
		return -1;
	return event->kind - PMU_COUNT_LOADS + COUNTER_LOADS;
}

static int add_event(struct counters *counters, const struct pmu_event *event, int kind)
{
	unsigned number = counters->n_events;
	int r;

	if (number == EVENTS_MAX)
		return 0;
	r = cpu_events_new_counted(event, source_counters(counters->source), kind * MTL_CPUS_MAX,
	        &counters->events[number]);
	if (r < 0)
		return r;
	counters->kinds[number] = kind;
	counters->n_events++;
	return 0;
}

static void drop_events(struct counters *counters)
{
	while (counters->n_events > 0)
		cpu_events_free(counters->events[--counters->n_events]);
}

int counters_new(struct source *source, const struct pmu_event *events, unsigned n, bool accesses,
        struct counters **ret_counters)
{
	_cleanup_(counters_freep) struct counters *counters = calloc(1, sizeof(*counters));
	unsigned kinds = 0;
	int r = 0;

	if (!counters)
		return -ENOMEM;
	counters->source = source;
	counters->cost.fd = -1;
	for (unsigned i = 0; i < n && r >= 0; i++) {
		int kind = kind_of(&events[i], accesses);

		if (kind < 0)
			continue;
		r = add_event(counters, &events[i], kind);
		kinds |= 1U << kind;
	}
	if (r >= 0 && kinds)
		r = source_count(source, kinds);
	if (r == -ENOMEM)
		return r;
	if (r < 0) /* the curve needs no counts */
		drop_events(counters);
	*ret_counters = TAKE_PTR(counters);
	return 0;
}

struct counters *counters_free(struct counters *counters)
{
	if (!counters)
		return NULL;
	program_cost_end(&counters->cost);
	drop_events(counters);
	free(counters);
	return NULL;
}

static void follow(struct counters *counters)
{
	cpu_set_t online;

	cpu_events_online(&online);
	for (unsigned i = 0; i < counters->n_events; i++)
		cpu_events_follow(counters->events[i], &online);
}

/* For the first second only: the kernel then times every BPF program of the machine. */
static void measure(struct counters *counters)
{
	int programs[2];

	if (counters->switch_seconds == 0 && source_switch_programs(counters->source, programs) > 1)
		program_cost_begin(programs[1], &counters->cost);
}

static void measured(struct counters *counters)
{
	double run = counters->cost.fd >= 0 ? program_cost_lap(&counters->cost) : NAN;

	if (isfinite(run))
		counters->switch_seconds = 2 * run;
	program_cost_end(&counters->cost);
}

double counters_switch_seconds(const struct counters *counters)
{
	return counters->switch_seconds;
}

void counters_begin(struct counters *counters)
{
	if (counters->n_events == 0 || counters->runs)
		return;
	follow(counters);
	counters->runs = source_count_attach(counters->source) == 0;
	if (!counters->runs)
		counters_rest(counters);
	else
		measure(counters);
}

void counters_resume(struct counters *counters)
{
	if (counters->runs)
		source_count_attach(counters->source);
}

void counters_rest(struct counters *counters)
{
	for (unsigned i = 0; i < counters->n_events; i++)
		cpu_events_close(counters->events[i]);
	counters->runs = false;
}

void counters_follow(struct counters *counters)
{
	measured(counters);
	if (counters->runs && ++counters->calls % FOLLOW_EVERY == 0)
		follow(counters);
}

unsigned counters_kinds(const struct counters *counters)
{
	struct cpu_events_counts counts;
	unsigned kinds = 0;

	for (unsigned i = 0; i < counters->n_events; i++) {
		cpu_events_counts(counters->events[i], &counts);
		kinds |= counts.cpus > 0 ? 1U << counters->kinds[i] : 0;
	}
	return kinds;
}

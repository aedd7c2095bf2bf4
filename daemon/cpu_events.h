/* SPDX-License-Identifier: MIT */
#ifndef MTLD_CPU_EVENTS_H
#define MTLD_CPU_EVENTS_H

/* One event on every CPU, with a BPF program or for one to read: opened, followed through hotplug,
 * read, closed. */

#include <sched.h>
#include <stdint.h>
#include "pmu.h"

struct cpu_events;

/* Sums over all CPUs since cpu_events_new(). */
struct cpu_events_counts {
	unsigned cpus;    /* open now */
	unsigned precise; /* precise_ip that was granted */
	uint64_t period;  /* now */
	double due;       /* samples that the events counted should have given */
	double slack;     /* of these, so many may be missing: at each beginning of a period */
	double starved;   /* of the time between the two latest looks, the share in which others had
	                     the counter */
	uint64_t throttles; /* times the kernel stopped it until the next tick, for coming too often
	                     */
};

/* Opens nothing yet. `program` runs at every sample, with cookie first_cookie + CPU. */
int cpu_events_new(const struct pmu_event *event, int program, uint64_t first_cookie,
        struct cpu_events **ret_events);
/* Of an event that is only counted: it stands in a BPF array of perf events, at first_key + CPU. */
int cpu_events_new_counted(const struct pmu_event *event, int array, uint32_t first_key,
        struct cpu_events **ret_events);
struct cpu_events *cpu_events_free(struct cpu_events *events);

/*
 * Opens and turns on the event where a CPU of `online` has none (or one that died while the CPU was
 * offline), closes it on others, and reads what was counted. CPUs that event->cpus does not name
 * are tried (they were offline when it was made), and left alone when they refuse. The first error
 * of a CPU that should have it; the others stay open.
 */
int cpu_events_follow(struct cpu_events *events, const cpu_set_t *online);
void cpu_events_close(struct cpu_events *events);

/* -EINVAL: the kernel does not accept it; the old one stays. */
int cpu_events_set_period(struct cpu_events *events, uint64_t period);

/* CPUs that are online now; without sysfs, those that may be. */
void cpu_events_online(cpu_set_t *ret_cpus);

/* As of the latest cpu_events_follow(). */
void cpu_events_counts(const struct cpu_events *events, struct cpu_events_counts *ret_counts);

#endif

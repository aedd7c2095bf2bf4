/* SPDX-License-Identifier: MIT */
#ifndef MTLD_SOURCE_H
#define MTLD_SOURCE_H

/*
 * The source of all events: the BPF objects, their maps and rings. Nothing else in the daemon
 * includes a skeleton.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "event.h"

struct source;

typedef void (*source_life_fn)(void *userdata, const struct mtl_life *life);
typedef void (*source_hit_fn)(void *userdata, const struct mtl_hit *hit);

/* Loads all programs but those of source_count() and source_address_program(), and creates the maps; ring_bytes is the size of one
 * CPU's hit ring. On error a negative errno and the reason in ret_error. */
int source_new(unsigned ring_bytes, struct source **ret_source, char *ret_error, size_t error_size);
struct source *source_free(struct source *source);

/* Attaches the tracepoints and the per-CPU page-fault events that count births; detach undoes it.
 * Attached only while something is tracked: an idle daemon costs nobody anything. Attaching twice is
 * harmless. */
int source_attach(struct source *source);
void source_detach(struct source *source);

/*
 * Stops and starts the programs at context switches, in between attach and detach; the other events go
 * on. While stopped no process clock runs: the caller sets each to what it knows (modulo 2^52 ns), which
 * also puts right what a switch that was under way left. Who runs at the start is on the clock from its
 * next switch on. Counting (source_count_attach()) is stopped too, and has to be started by itself.
 */
void source_clock_stop(struct source *source);
int source_clock_start(struct source *source);
void source_clock_set(struct source *source, uint32_t index, uint64_t ns);

/* The programs that every context switch runs, one or two of them; returns how many. */
int source_switch_programs(const struct source *source, int ret_fds[2]);

/* Gives CPUs that have come online since their page-fault event. About once a second. */
void source_follow_cpus(struct source *source);

/* The kernel's id of process pid (as this process's pid namespace knows it). -ESRCH. */
int source_resolve(struct source *source, pid_t pid, uint32_t *ret_tgid);

/* CPU time of every thread of user space there is; the caller frees. */
int source_task_times(struct source *source, struct mtl_task_time **ret_times, size_t *ret_n);

/* From here on the process with that kernel id is counted in slot `index`, whose state is zeroed. */
int source_track(struct source *source, uint32_t tgid, uint32_t index);
int source_untrack(struct source *source, uint32_t tgid);

/* Shared memory with the programs. */
struct mtl_process *source_process(struct source *source, uint32_t index);
struct mtl_cpu *source_cpu(struct source *source, unsigned cpu);
struct mtl_costs *source_costs(struct source *source);

/* The program to attach to every watch event (PERF_EVENT_IOC_SET_BPF). */
int source_watch_program(const struct source *source);

/* The program to attach to every event of address samples, loaded when first asked for (or the errno of
 * that), and what it shares: the slots (MTL_EVENTS * MTL_CPUS_MAX of them) and the map that holds the
 * ring of each CPU. */
int source_address_program(struct source *source);
struct mtl_event_slot *source_event_slots(struct source *source);
/* The same for the clock's samples of where a process is in its code. */
int source_instruction_program(struct source *source);
int source_address_rings(const struct source *source);

/* Whether that program, once loaded, can read what level served a load (not under lockdown=confidentiality); where
 * it cannot, nothing is filtered. */
bool source_sees_levels(const struct source *source);

/*
 * Counting by process. source_count() loads the program, once, for the kinds in the mask; attached until
 * source_detach(), it reads the events in that array (kind * MTL_CPUS_MAX + CPU, an event of no CPU
 * counts nothing). What was counted of process `index` since source_track().
 */
int source_count(struct source *source, unsigned kinds);
int source_count_attach(struct source *source);
int source_counters(const struct source *source);
const struct mtl_counts *source_counts(const struct source *source, uint32_t index);

/* See mtl_counts.visit_part. */
void source_set_visit_part(struct source *source, uint32_t index, uint32_t part);

/* CPU time of process `index` in ns now, since source_track(): all 64 bits of it. source_now() is the
 * clock it is based on. */
uint64_t source_clock(struct source *source, uint32_t index);
uint64_t source_now(void);

/* The ring of births and deaths: an fd that becomes readable for what is urgent (to be polled by its
 * edges), and a call that delivers what is there. Threads that come and go are not: it is to be called
 * now and then. */
int source_life_open(struct source *source, source_life_fn callback, void *userdata);
int source_life_fd(const struct source *source);
int source_life_consume(struct source *source);

/* A ring of watch hits for one CPU (hit_ring.c). The map that holds them, and the size of one. */
int source_hit_rings(const struct source *source, unsigned *ret_bytes);
struct hit_ring;
int source_hit_ring_new(struct source *source, unsigned cpu, source_hit_fn callback, void *userdata,
	struct hit_ring **ret_ring);
/* Hits on CPUs that have none, also those that come later, go to this one. */
int source_hit_ring_elsewhere(struct source *source, const struct hit_ring *ring);
struct hit_ring *hit_ring_free(struct hit_ring *ring);
int hit_ring_fd(const struct hit_ring *ring);
int hit_ring_consume(struct hit_ring *ring);

#endif
